"""TorchScript: a zip archive of source text and pickles. The text tells what `forward` takes; pickles stay closed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlmodelscope.model_file.archive import Archive
from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_NAME_BYTES, MAX_TENSORS, clean, damaged, quote
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo
from mlmodelscope.model_file.torchscript_code import Class, Code, Method, split_outside_brackets
from mlmodelscope.model_file.torchscript_graph import Follower, Many, Tensor, Value
from mlmodelscope.model_file.torchscript_pickle import Example, read_examples

_MAX_PICKLE_BYTES = 1 << 28
_MAX_EXAMPLES_BYTES = 1 << 20
# The first instruction of the module's pickle names its class.
_MAIN_CLASS = re.compile(rb"\x80[\x02-\x05]c(__torch__[\w.]{0,1000})\n(\w{1,200})\n")
_TYPES = {"int": "int64", "float": "float64", "bool": "bool", "str": "string"}
_INVENTED = re.compile(r"_\d+|")


def is_torchscript(archive: Archive) -> bool:
    folder = _folder(archive)
    return folder is not None and any(name.startswith(f"{folder}code/") for name in archive.names)


@dataclass(frozen=True)
class Followed:
    """A module's `forward`, and what its source text says that it does."""

    folder: str
    name: str
    module: Class
    method: Method
    nodes: list[Node]
    returned: Value
    expression: str


def follow_torchscript(archive: Archive) -> Followed:
    folder = _folder(archive)
    if folder is None or not is_torchscript(archive):
        raise ModelFileError("it is a zip archive, but no TorchScript: it has no source text of a module")
    name = _main_class(archive, folder)
    code = Code(archive, folder)
    module = code.find(name)
    method = module.methods.get("forward") if module else None
    if module is None or method is None:
        raise ModelFileError(f"its module {quote(name)} has no method `forward` in its source text")
    if len(method.arguments) > MAX_TENSORS:
        raise damaged("it has too many inputs")
    follower = Follower(code)
    given: list[Value] = [Tensor(one.name) if one.type == "Tensor" else None for one in method.arguments]
    returned, expression = follower.follow(module, method, given)
    return Followed(folder, name, module, method, follower.nodes, returned, expression)


def describe_torchscript(archive: Archive) -> ModelFile:
    followed = follow_torchscript(archive)
    folder, name, module, method = followed.folder, followed.name, followed.module, followed.method
    returned, expression = followed.returned, followed.expression
    examples = _examples(archive, folder)
    notes = ["its weights are pickled and were not read"]
    if any(examples):
        notes.append("shapes are those of the example that it was traced with; torch does not enforce them")
    else:
        notes.append("the format does not say which shapes and element types its inputs have")
    graph = Graph(followed.nodes)
    first = returned.items[0] if isinstance(returned, Many) and returned.items else returned
    return ModelFile(
        format="torchscript",
        framework="pytorch",
        inputs=_inputs(method, examples, graph),
        outputs=_outputs(method.returns, expression),
        producer=None,
        version=_version(archive, folder),
        ends_in_softmax=graph.ends_in_softmax(first.name) if isinstance(first, Tensor) else None,
        labels=(),
        metadata={"class": clean(name), **_constants(module)},
        notes=tuple(notes),
    )


def _folder(archive: Archive) -> str | None:
    """torch puts everything into one folder; its name is the file's, or `archive`."""
    for name in archive.names:
        folder, slash, rest = name.partition("/")
        if slash and rest == "data.pkl":
            return f"{folder}/"
    return None


def _main_class(archive: Archive, folder: str) -> str:
    start = archive.read(f"{folder}data.pkl", _MAX_PICKLE_BYTES)[:2048]
    found = _MAIN_CLASS.match(start)
    if found is None:
        raise damaged("its pickle does not begin with the class of a module")
    return f"{found[1].decode(errors='replace')}.{found[2].decode(errors='replace')}"


def _version(archive: Archive, folder: str) -> str | None:
    if f"{folder}version" not in archive:
        return None
    return clean(archive.read(f"{folder}version", 64).decode(errors="replace").strip()) or None


def _examples(archive: Archive, folder: str) -> list[Example | None]:
    name = f"{folder}traced_inputs.pkl"
    return read_examples(archive.read(name, _MAX_EXAMPLES_BYTES)) if name in archive else []


def _inputs(method: Method, examples: list[Example | None], graph: Graph) -> tuple[TensorInfo, ...]:
    tensors = []
    for index, argument in enumerate(method.arguments):
        if argument.has_default and argument.type != "Tensor":
            continue  # nobody has to give it
        example = examples[index] if index < len(examples) else None
        kind = example.element_type if example else _TYPES.get(argument.type)
        shape: tuple[int | None, ...] | None = example.shape if example else () if kind else None
        # A convolution in two dimensions takes four axes, whatever the example; it proves the rank too.
        layout = graph.input_layout(argument.name, len(shape) if shape else 4)
        tensors.append(TensorInfo(argument.name[:MAX_NAME_BYTES], kind, shape, layout))
    return tuple(tensors)


def _outputs(returns: str, expression: str) -> tuple[TensorInfo, ...]:
    """TorchScript has no names for outputs; the variables that are returned do, where a person named them."""
    if returns.startswith("Dict["):
        keys = re.findall(r'"([^"\\]{1,200})"\s*:', expression[: 1 << 16])
        return tuple(TensorInfo(key, None, None) for key in keys[:MAX_TENSORS]) or (TensorInfo("output", None, None),)
    count, variables = 1, [expression]
    if returns.startswith("Tuple[") and returns.endswith("]"):
        count = len(split_outside_brackets(returns[6:-1]))
        variables = [one for one in split_outside_brackets(expression.strip()[1:-1]) if one]
    if count > MAX_TENSORS:
        raise damaged("it has too many outputs")
    tensors = []
    for index in range(count):
        variable = variables[index] if index < len(variables) else ""
        own = variable if variable.isidentifier() and not _INVENTED.fullmatch(variable) else ""
        tensors.append(TensorInfo(own or (f"output{index}" if count > 1 else "output"), None, None))
    return tuple(tensors)


def _constants(module: Class) -> dict[str, str]:
    """Which modules it is made of: often all that tells one network from another."""
    parts = {name: kind.rpartition(".")[2] for name, kind in module.attributes.items() if kind.startswith("__torch__.")}
    return {"modules": clean(", ".join(f"{name}: {kind}" for name, kind in list(parts.items())[:64]))} if parts else {}
