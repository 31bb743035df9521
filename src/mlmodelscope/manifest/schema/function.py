"""Python that a manifest carries: `fun(ctx, data)`. Here it is text; a worker executes it, and only when trusted."""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, model_validator

from mlmodelscope.manifest.python_source import parse_python
from mlmodelscope.manifest.schema.part import Part


class EmbeddedFunction(Part):
    """One stage as Python code."""

    code: Annotated[str, Field(min_length=1, description="Python source that defines the function.")]
    function: Annotated[
        str | None, Field(description="Name of the function; may be left out where the code defines only one.")
    ] = None
    gets: Annotated[
        Literal["files", "sample"],
        Field(
            description="What the first stage is called with: `files`, a mapping of source names to the paths of a "
            "batch, as in DLSpec; or `sample`, one sample at a time."
        ),
    ] = "files"
    line: Annotated[int, Field(exclude=True, description="Line of the manifest where the code starts.")] = 0

    def __eq__(self, other: object) -> bool:
        """The same code is the same function, whichever line it starts in."""
        return isinstance(other, EmbeddedFunction) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[str, str | None, str]:
        return self.code, self.function, self.gets

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, value: Any) -> Any:
        return {"code": value} if isinstance(value, str) else value


def _named(*conventional: str) -> Any:
    """Settle which function is meant, so that a manifest without one is refused when it is read."""

    def settle(function: EmbeddedFunction) -> EmbeddedFunction:
        defined = _functions_in(function)
        if function.function is not None:
            if function.function not in defined:
                raise ValueError(f"the code defines no function `{function.function}`")
            return function
        wanted = [name for name in conventional if name in defined]
        if not wanted and len(defined) != 1:
            found = f"it defines {', '.join(sorted(defined))}" if defined else "it defines none"
            raise ValueError(f"the code must define `{conventional[0]}`; {found}")
        return function.model_copy(update={"function": wanted[0] if wanted else next(iter(defined))})

    return settle


def _functions_in(function: EmbeddedFunction) -> set[str]:
    try:
        tree = parse_python(function.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {function.line + line - 1 if function.line else line}" if line else ""
        raise ValueError(f"the code is not valid Python{where}: {_reason(error)}") from None
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _reason(error: BaseException) -> str:
    return getattr(error, "msg", None) or str(error) or "it is nested too deeply"


_FORM = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "description": "Python source that defines `fun(ctx, data)`."},
            {
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "function": {"type": "string"},
                    "gets": {"enum": ["files", "sample"], "default": "files"},
                },
                "required": ["code"],
                "additionalProperties": False,
            },
        ]
    }
)


def _stage(*conventional: str) -> Any:
    from pydantic import AfterValidator

    return Annotated[EmbeddedFunction, AfterValidator(_named(*conventional)), _FORM]


Preprocess = _stage("preprocess", "pre_processing", "pre_process")
Run = _stage("run")
Postprocess = _stage("postprocess", "post_processing", "post_process")
Init = _stage("init")
Load = _stage("load")
Unload = _stage("unload")
