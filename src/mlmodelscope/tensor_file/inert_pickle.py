"""Read a pickle as plain data: an interpreter for the few opcodes a state dict needs. Nothing in it can run.

Python's own Unpickler is not safe enough, even with a strict `find_class`: nine bytes make it reserve
gigabytes (a huge memo index), and a deeply nested dictionary key ends the process (its hash recurses in C).
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote

# A state dict spends some 40 opcodes and 300 bytes on a tensor; both limits leave room for 100,000 of them.
MAX_OPCODES = 1 << 22
MAX_BYTES = 1 << 26

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = frozenset(
    ["INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"]
    + ["STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"]
    + ["SHORT_BINBYTES", "BINBYTES", "BINBYTES8"]
)


@dataclass(slots=True, eq=False)
class Pairs:
    """A dictionary that never hashes its keys, so no key, however odd, can hurt."""

    pairs: list[tuple[object, object]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Maker:
    """What a global in a pickle becomes when it is called; `make` sees the arguments and judges them."""

    make: Callable[[tuple[object, ...]], object]


@dataclass(frozen=True, slots=True)
class Class:
    """A global that stands for a kind of object, of which nothing is known but the name."""

    name: str


@dataclass(slots=True, eq=False)
class Thing:
    """An object of such a kind, with what it was filled with."""

    kind: Class
    state: object = None


def _refuse(_: object) -> object:
    raise damaged("its pickle refers to a storage where there can be none")


def load_pickle(
    data: memoryview,
    start: int,
    known: Mapping[str, object] | None = None,
    open_persistent: Callable[[object], object] = _refuse,
    things: str | None = None,
) -> tuple[object, int]:
    """The value of the pickle at `start`, and the position just behind it.

    Globals become what `known` says; those that begin with `things` are kinds of objects; any other is refused by name.
    """
    stream = _Stream(data[: start + MAX_BYTES], start)
    machine = _Machine(known or {}, open_persistent, things)
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(stream)):  # type: ignore[arg-type]
            if count >= MAX_OPCODES:
                raise damaged(f"its pickle has more than {MAX_OPCODES:,} opcodes")
            machine.step(opcode.name, argument)
        return machine.stack[-1], stream.tell()
    except (IndexError, KeyError, ValueError, DeprecationWarning) as error:  # the last of a text's odd escapes
        raise damaged(f"its pickle breaks off or makes no sense near byte {stream.tell():,}") from error


class _Stream:
    """Just enough of a file for `pickletools`; asking for gigabytes that are not there costs nothing."""

    def __init__(self, data: memoryview, position: int) -> None:
        self._data = data
        self._position = position

    def read(self, size: int) -> bytes:
        piece = bytes(self._data[self._position : self._position + size])
        self._position += len(piece)
        return piece

    def readline(self) -> bytes:
        ahead = bytes(self._data[self._position : self._position + 4096])
        return self.read(ahead.find(b"\n") + 1)

    def tell(self) -> int:
        return self._position


class _Machine:
    def __init__(
        self, known: Mapping[str, object], open_persistent: Callable[[object], object], things: str | None
    ) -> None:
        self.stack: list[object] = []
        self._below: list[list[object]] = []
        self._memo: dict[int, object] = {}
        self._known = known
        self._open_persistent = open_persistent
        self._things = things

    def step(self, name: str, argument: object) -> None:
        stack = self.stack
        if name in _LITERALS:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        else:
            self._act(name, argument)

    def _act(self, name: str, argument: object) -> None:
        stack = self.stack
        match name:
            case "BINPUT" | "LONG_BINPUT" | "PUT":
                self._memo[_memo_index(argument)] = stack[-1]
            case "MEMOIZE":
                self._memo[len(self._memo)] = stack[-1]
            case "BINGET" | "LONG_BINGET" | "GET":
                stack.append(self._memo[_memo_index(argument)])
            case "MARK":
                self._below.append(stack)
                self.stack = []
            case "TUPLE":
                self._since_mark(tuple)
            case "EMPTY_TUPLE":
                stack.append(())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                self._close_tuple(int(name[-1]))
            case "EMPTY_LIST":
                stack.append([])
            case "LIST":
                self._since_mark(list)
            case "APPEND":
                self._extend([stack.pop()])
            case "APPENDS":
                self._extend(self._pop_mark())
            case "EMPTY_DICT":
                stack.append(Pairs())
            case "DICT":
                self._since_mark(_pairs_from_flat)
            case "SETITEM":
                value, key = stack.pop(), stack.pop()
                self._update([key, value])
            case "SETITEMS":
                self._update(self._pop_mark())
            case "GLOBAL":
                stack.append(self._find(str(argument).replace(" ", ".", 1)))
            case "STACK_GLOBAL":
                attribute, module = stack.pop(), stack.pop()
                stack.append(self._find(f"{_text(module)}.{_text(attribute)}"))
            case "REDUCE":
                arguments, maker = stack.pop(), stack.pop()
                if not isinstance(maker, Maker) or not isinstance(arguments, tuple):
                    raise damaged("its pickle calls something that cannot be called")
                stack.append(maker.make(arguments))
            case "BINPERSID":
                stack.append(self._open_persistent(stack.pop()))
            case "BUILD":
                state = stack.pop()  # attributes, such as a state dict's `_metadata`
                if isinstance(stack[-1], Thing):
                    stack[-1].state = state
            case "NEWOBJ":
                arguments, kind = stack.pop(), stack.pop()
                if not isinstance(kind, Class) or arguments != ():
                    raise damaged("its pickle makes an object of something that is not a class")
                stack.append(Thing(kind))
            case "PROTO" | "FRAME" | "STOP":
                pass
            case _:
                raise ArtifactError(f"its pickle uses the opcode {name}, which no state dict needs")

    def _find(self, name: str) -> object:
        if self._things is not None and name.startswith(self._things):
            return Class(name)
        if name not in self._known:
            raise ArtifactError(
                f"its pickle asks for {quote(name)}, which is not allowed; nothing was run",
                hint="only dictionaries of tensors are read: torch.save(model.state_dict(), …)",
            )
        return self._known[name]

    def _pop_mark(self) -> list[object]:
        items, self.stack = self.stack, self._below.pop()
        return items

    def _since_mark(self, build: Callable[[list[object]], object]) -> None:
        value = build(self._pop_mark())
        self.stack.append(value)

    def _close_tuple(self, size: int) -> None:
        items = [self.stack.pop() for _ in range(size)]
        self.stack.append(tuple(reversed(items)))

    def _extend(self, items: list[object]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise damaged("its pickle appends to something that is not a list")
        target.extend(items)

    def _update(self, flat: list[object]) -> None:
        target = self.stack[-1]
        if not isinstance(target, Pairs):
            raise damaged("its pickle sets an item of something that is not a dictionary")
        target.pairs.extend(_pairs_from_flat(flat).pairs)


def _pairs_from_flat(flat: list[object]) -> Pairs:
    return Pairs(list(zip(flat[::2], flat[1::2], strict=True)))


def _memo_index(argument: object) -> int:
    # Bounded, because integers chosen to collide would make the memo quadratic.
    if not isinstance(argument, int) or not 0 <= argument < MAX_OPCODES:
        raise damaged("its pickle refers to an impossible memo entry")
    return argument


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise damaged("its pickle names a global by something that is not text")
    return value
