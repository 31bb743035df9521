"""The example inputs of a traced module: their shapes and element types, out of a pickle that is never run.

A pickle is a program. Here its instructions are looked at one by one; where a real reader would call something,
a tensor's description is noted or nothing happens at all.
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass
from typing import Any

from mlmodelscope.model_file.limit import MAX_RANK

_STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
_MAX_INSTRUCTIONS = 100_000


@dataclass(frozen=True)
class Example:
    element_type: str | None
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Name:
    """Something that a real reader would import."""

    text: str


def read_examples(pickled: bytes) -> list[Example | None]:
    """The example inputs of `forward`, None for what is no tensor; empty where they cannot be told."""
    try:
        content = _look_through(pickled)
    except (ValueError, IndexError, KeyError, TypeError, UnicodeError):
        # All that a damaged pickle makes of the instructions below; the shapes are a help, not a need.
        return []
    examples = content.get("forward") if isinstance(content, dict) else None
    if not isinstance(examples, list | tuple):
        return []
    return [one if isinstance(one, Example) else None for one in examples]


def _look_through(pickled: bytes) -> Any:
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        place = marks.pop()
        items = stack[place:]
        del stack[place:]
        return items

    for count, (instruction, argument, _) in enumerate(pickletools.genops(pickled)):
        name = instruction.name
        if count > _MAX_INSTRUCTIONS:
            raise ValueError("too long")
        if name == "STOP":
            return stack[-1]
        if name in ("PROTO", "FRAME"):
            continue
        if name == "MARK":
            marks.append(len(stack))
        elif name in ("BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"):
            stack.append(argument)
        elif name in ("NONE", "NEWTRUE", "NEWFALSE"):
            stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[name])
        elif name == "GLOBAL":
            stack.append(_Name(str(argument)))
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[int(argument)] = stack[-1]  # type: ignore[arg-type]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[int(argument)])  # type: ignore[arg-type]
        elif name in ("EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT"):
            stack.append({"EMPTY_TUPLE": (), "EMPTY_LIST": [], "EMPTY_DICT": {}}[name])
        elif name == "TUPLE":
            stack.append(tuple(since_mark()))
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            size = int(name[-1])
            items = tuple(stack[-size:])
            del stack[-size:]
            stack.append(items)
        elif name == "APPENDS":
            more = since_mark()
            _top(stack, list).extend(more)
        elif name == "APPEND":
            item = stack.pop()
            _top(stack, list).append(item)
        elif name == "SETITEMS":
            pairs = since_mark()
            # Other keys are not torch's, and to hash a tuple that is nested without end would crash Python.
            named = {key: value for key, value in zip(pairs[::2], pairs[1::2], strict=True) if isinstance(key, str)}
            _top(stack, dict).update(named)
        elif name == "BINPERSID":
            stack.append(_storage(stack.pop()))
        elif name == "REDUCE":
            arguments = stack.pop()
            stack.append(_stand_in(stack.pop(), arguments))
        else:
            raise ValueError(f"an instruction that torch does not write here: {name}")
    raise ValueError("cut off")


def _top(stack: list[Any], kind: type) -> Any:
    if not isinstance(stack[-1], kind):
        raise TypeError("an instruction meets another thing than it is for")
    return stack[-1]


def _storage(identifier: Any) -> _Name | None:
    """("storage", torch.FloatStorage, "0", "cpu", 384): of which type the numbers are."""
    kind = identifier[1] if isinstance(identifier, tuple) and len(identifier) > 1 else None
    return kind if isinstance(kind, _Name) else None


def _stand_in(called: Any, arguments: Any) -> Any:
    name = called.text if isinstance(called, _Name) else ""
    if name == "torch.jit._pickle restore_type_tag":
        return arguments[0]
    if name == "torch._utils _rebuild_tensor_v2":
        storage, _, shape = arguments[:3]
        if isinstance(shape, tuple) and len(shape) <= MAX_RANK and all(_is_size(size) for size in shape):
            kind = storage.text.rpartition(" ")[2] if isinstance(storage, _Name) else ""
            return Example(_STORAGES.get(kind), shape)
    return None


def _is_size(size: Any) -> bool:
    return type(size) is int and 0 <= size < 1 << 63
