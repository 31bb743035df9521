"""What the pickle inside a torch file may say: dictionaries, tensors, and where their numbers lie."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote
from mlmodelscope.tensor_file.inert_pickle import Maker, Pairs, Thing
from mlmodelscope.tensor_file.tensor import ELEMENT_BYTES, Tensor, copy_row_major, is_row_major

_MAX_NAME = 1 << 12


@dataclass(frozen=True, slots=True)
class StorageType:
    element_type: str


@dataclass(frozen=True, slots=True)
class Storage:
    """A run of numbers in the file; several tensors may look at one."""

    element_type: str
    key: str
    count: int

    @property
    def size_bytes(self) -> int:
        return self.count * ELEMENT_BYTES[self.element_type]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A tensor as pickled: where in a storage it starts, and how far each axis steps, in elements."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Budget:
    """What a file may make us allocate, in proportion to its size: a small one cannot ask for much."""

    def __init__(self, file_bytes: int) -> None:
        self._left_bytes = (64 << 20) + 4 * file_bytes

    def spend(self, size_bytes: int) -> None:
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise ArtifactError("it would unpack to far more than its own size, as a zip bomb does")


def tensors_from_state_dict(
    content: object, key: str | None, open_storage: Callable[[Storage], memoryview], budget: Budget
) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for name, value in _choose(content, key).pairs:
        if not isinstance(value, View):
            continue
        if not isinstance(name, str):
            raise ArtifactError(f"a tensor's name must be text, and one is of type {type(name).__name__}")
        tensors[name] = _tensor(name, value, open_storage, budget)
    return tensors


def tensors_from_module(
    content: object, open_storage: Callable[[Storage], memoryview], budget: Budget
) -> dict[str, Tensor]:
    """Of a module and the modules in it, each of which is there once; names have a dot between."""
    tensors: dict[str, Tensor] = {}
    waiting: list[tuple[str, object]] = [("", content)]
    seen: set[int] = set()
    while waiting:
        prefix, thing = waiting.pop()
        if not isinstance(thing, Thing) or id(thing) in seen or not isinstance(thing.state, Pairs):
            continue
        seen.add(id(thing))
        if len(prefix) > _MAX_NAME:
            raise damaged("its modules are nested too deeply")
        inner: list[tuple[str, object]] = []
        for name, value in thing.state.pairs:
            if isinstance(name, str) and isinstance(value, View):
                tensors[prefix + name] = _tensor(prefix + name, value, open_storage, budget)
            elif isinstance(name, str) and isinstance(value, Thing):
                inner.append((f"{prefix}{name}.", value))
        waiting += reversed(inner)
    return tensors


def _choose(content: object, key: str | None) -> Pairs:
    """The dictionary of tensors: the whole content, or what lies under `key`."""
    hint = _hint(content) if isinstance(content, Pairs) else None
    chosen = content
    if isinstance(content, Pairs) and key is not None:
        found = [value for name, value in content.pairs if isinstance(name, str) and name == key]
        if not found:
            raise ArtifactError(f"it has nothing under the key {quote(key)}", hint=hint)
        chosen = found[-1]
    if isinstance(chosen, Pairs) and _is_state_dict(chosen):
        return chosen
    what = "it" if key is None else f"what lies under the key {quote(key)}"
    raise ArtifactError(f"{what} is not a dictionary of tensors", hint=hint)


def _is_state_dict(pairs: Pairs) -> bool:
    # With a container among the tensors it is more likely a checkpoint around a state dict than one itself.
    kinds = {type(value) for _, value in pairs.pairs}
    return View in kinds and kinds.isdisjoint({Pairs, list, tuple})


def _hint(content: Pairs) -> str | None:
    names = [
        quote(name)
        for name, value in content.pairs
        if isinstance(name, str) and isinstance(value, Pairs) and _is_state_dict(value)
    ]
    return f"keys that do hold tensors: {', '.join(names[:10])}" if names else None


def _tensor(name: str, view: View, open_storage: Callable[[Storage], memoryview], budget: Budget) -> Tensor:
    storage, shape = view.storage, view.shape
    count, size = math.prod(shape), ELEMENT_BYTES[storage.element_type]
    if count == 0:
        return Tensor(name, storage.element_type, shape, b"")
    steps = [(length, stride) for length, stride in zip(shape, view.strides, strict=True) if length > 1]
    last = view.offset + sum((length - 1) * stride for length, stride in steps)
    # A step of zero would repeat one number as often as the file likes: no state dict needs that.
    if last >= storage.count or count > storage.count or any(stride == 0 for _, stride in steps):
        raise damaged(f"tensor {quote(name)} reaches beyond the numbers stored for it")
    content = open_storage(storage)[view.offset * size : (last + 1) * size]
    if is_row_major(shape, view.strides):
        return Tensor(name, storage.element_type, shape, content)
    budget.spend(count * size)
    return Tensor(name, storage.element_type, shape, copy_row_major(content, size, shape, view.strides))


def storage_from_identifier(identifier: object) -> Storage:
    """torch keeps numbers outside the pickle; inside stands ("storage", type, key, device, count)."""
    match identifier:
        case ("storage", StorageType() as kind, str() as key, str(), count):
            return Storage(kind.element_type, key, _natural(count))
        case ("storage", StorageType() as kind, str() as key, str(), count, None):  # before torch 1.6
            return Storage(kind.element_type, key, _natural(count))
    raise damaged("its pickle refers to a storage in an unknown way")


def _make_dictionary(arguments: tuple[object, ...]) -> Pairs:
    match arguments:
        case ():
            return Pairs()
        case (list() as items,):  # as Python 2 wrote it
            pairs = [(item[0], item[1]) for item in items if isinstance(item, list | tuple) and len(item) == 2]
            if len(pairs) == len(items):
                return Pairs(pairs)
    raise damaged("its pickle makes a dictionary out of something else")


def _hand_on(arguments: tuple[object, ...]) -> object:
    """What TorchScript wraps lists in, to say what they are of."""
    return arguments[0] if arguments else None


def _make_size(arguments: tuple[object, ...]) -> tuple[object, ...]:
    match arguments:
        case (tuple() as lengths,):
            return lengths
    raise damaged("its pickle has a malformed torch.Size")


def _make_view(arguments: tuple[object, ...]) -> View:
    match arguments:
        case (Storage() as storage, offset, tuple() as shape, tuple() as strides, *_):
            if len(shape) == len(strides) <= 64:
                lengths, steps = tuple(map(_natural, shape)), tuple(map(_natural, strides))
                return View(storage, _natural(offset), lengths, steps)
    raise damaged("its pickle has a malformed tensor")


def _make_parameter(arguments: tuple[object, ...]) -> View:
    match arguments:
        case (View() as view, *_):
            return view
    raise damaged("its pickle has a malformed parameter")


def _natural(value: object) -> int:
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    raise damaged("its pickle has a length, offset or stride that is not a possible number")


_STORAGE_TYPES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
}

# Every global a state dict may name, and the inert thing it becomes. Whatever is not here is refused.
KNOWN_GLOBALS: dict[str, object] = {
    "collections.OrderedDict": Maker(_make_dictionary),
    "torch.Size": Maker(_make_size),
    "torch._utils._rebuild_tensor": Maker(_make_view),  # before torch 0.4
    "torch._utils._rebuild_tensor_v2": Maker(_make_view),
    "torch._utils._rebuild_parameter": Maker(_make_parameter),
    **{
        f"torch.jit._pickle.{name}": Maker(_hand_on)
        for name in ("build_intlist", "build_boollist", "build_doublelist", "build_tensorlist", "restore_type_tag")
    },
    **{f"torch.{name}Storage": StorageType(element_type) for name, element_type in _STORAGE_TYPES.items()},
}
