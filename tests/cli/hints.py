"""Every hint of the sources, and what each names: commands, options, variables, keys, files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"
COMMAND = re.compile(r"(?<!upgrade )mlmodelscope (?P<words>[a-z]+(?: [a-z]+)?)(?P<rest>[^;,`]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
KEY = re.compile(r"`(?P<key>[a-z_0-9]+)(?::[^`]*)?`")
PAGE = re.compile(r"\bdocs/[\w./-]+")
OUTSIDE = re.compile(
    r"\b(pip|apt-get|uv|pyenv|ray|pip config) (install|uninstall|update|python|start|get-auth-token)\b"
)


@dataclass(frozen=True)
class Hint:
    """A text that tells what to do; `{}` stands for what is filled in."""

    file: str
    line: int
    text: str

    @property
    def names_something(self) -> bool:
        return any(each.search(self.text) for each in (COMMAND, OPTION, VARIABLE, KEY, PAGE, OUTSIDE))


def all_hints() -> list[Hint]:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for value in _values(node):
                found += [Hint(str(path.relative_to(SOURCES)), value.lineno, text) for text in _texts(value)]
    return found


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """What is given as a hint: an argument, a variable, or what a function of that name returns."""
    if isinstance(node, ast.keyword | ast.Assign) and "hint" in _given(node):
        yield node.value
    elif isinstance(node, ast.FunctionDef) and node.name == "_hint":
        yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None)


def _given(node: ast.keyword | ast.Assign) -> list[str | None]:
    if isinstance(node, ast.keyword):
        return [node.arg]
    return [getattr(each, "id", getattr(each, "attr", None)) for each in node.targets]


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in parts)
        case ast.BinOp(left=left, op=ast.Mod()):
            yield from _texts(left)
        case ast.BinOp(left=left, right=right):
            yield "".join([*_texts(left), *_texts(right)])
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_texts(body), *_texts(orelse))
        case ast.BoolOp(values=values):
            for each in values:
                yield from _texts(each)
