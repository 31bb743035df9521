"""Tables that are written in Python, read from the syntax tree: nothing is imported or executed.

A small part of the language is understood: literals, names of the same module and of a table of constants, `dict`,
`**` in mappings, and functions whose body is one `return`. Whatever else stands there becomes an `Opaque` with its
source text, so that a reader can count it. Numbers remember their digits: `76.130` is not `76.13`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.source import SourceFloat, SourceInt

MAX_BYTES = 4 << 20
MAX_DEPTH = 24
MAX_STEPS = 2_000_000
_LONGEST = 10_000
"""Items of a list or mapping, and letters of a text, that may come of an expression."""
_MOST_VALUES = 200_000
"""Of one expression, lists inside of lists counted as often as they stand there: `[[0] * 9999] * 9999` is short."""


@dataclass(frozen=True)
class Opaque:
    """An expression that is not understood, as it is written."""

    text: str


@dataclass(frozen=True)
class Called:
    """A call of something that is not defined here: its name, its arguments."""

    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]


class TooMuch(Exception):
    """The file wants more than such a table needs."""


def parse_python(raw: bytes, file: str) -> ast.Module:
    """The syntax tree; ManifestError where it is not Python or exceeds the limits."""
    if len(raw) > MAX_BYTES:
        raise ManifestError(Problem(f"larger than {MAX_BYTES >> 20} MiB, so not a table of models", file=file))
    try:
        return ast.parse(raw.decode("utf-8-sig"))
    except SyntaxError as error:
        raise ManifestError(Problem(f"not Python: {error.msg}", file=file, line=error.lineno or 0)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ManifestError(Problem(f"not Python: {type(error).__name__}", file=file)) from None


@dataclass
class Module:
    """One file: its functions and its assignments at the top, evaluated when they are asked for."""

    tree: ast.Module
    text: str
    constants: Mapping[str, Any]
    steps: int = 0
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    assigned: dict[str, ast.expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lines = self.text.split("\n")
        self._busy: set[str] = set()
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.assigned.setdefault(node.targets[0].id, node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self.assigned.setdefault(node.target.id, node.value)

    def value(self, node: ast.expr, names: Mapping[str, Any] | None = None) -> Any:
        found = self._value(node, names, 0)
        if sum(1 for _ in itertools.islice(_all_of(found), _MOST_VALUES)) == _MOST_VALUES:
            raise TooMuch
        return found

    def _value(self, node: ast.expr, names: Mapping[str, Any] | None, depth: int) -> Any:
        self.steps += 1
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            raise TooMuch
        known = names or {}
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._items(node.elts, known, depth)
        if isinstance(node, ast.Dict):
            return self._mapping(node, known, depth)
        if isinstance(node, ast.Name):
            return self._name(node, known, depth)
        if isinstance(node, ast.Call):
            return self._call(node, known, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self._value(node.operand, known, depth + 1)
            return -number if isinstance(number, (int, float)) else Opaque(self.source(node))
        if isinstance(node, ast.Attribute):
            return Opaque(_dotted(node) or self.source(node))
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, known, depth)
        return Opaque(self.source(node))

    def source(self, node: ast.expr) -> str:
        """The text of an expression, cut to a line."""
        line = self._lines[node.lineno - 1] if node.lineno <= len(self._lines) else ""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line.encode()[node.col_offset : end].decode(errors="replace")[:200]

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and abs(value) < 1 << 63:
            whole = SourceInt(value)
            whole.text = self.source(node)
            return whole
        if isinstance(value, float):
            number = SourceFloat(value)
            number.text = self.source(node)
            return number
        return Opaque(self.source(node))

    def _items(self, nodes: list[ast.expr], names: Mapping[str, Any], depth: int) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                more = self._value(node.value, names, depth + 1)
                found += more if isinstance(more, list) else [Opaque(self.source(node))]
            else:
                found.append(self._value(node, names, depth + 1))
            if len(found) > _LONGEST:
                raise TooMuch
        return found

    def _mapping(self, node: ast.Dict, names: Mapping[str, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            made = self._value(value, names, depth + 1)
            if key is None:
                found.update(made if isinstance(made, dict) else {})
            else:
                found[_word(self._value(key, names, depth + 1))] = made
            if len(found) > _LONGEST:
                raise TooMuch
        return found

    def _name(self, node: ast.Name, names: Mapping[str, Any], depth: int) -> Any:
        if node.id in names:
            return names[node.id]
        if node.id in self.assigned and node.id not in self._busy:
            self._busy.add(node.id)
            try:
                return self._value(self.assigned[node.id], {}, depth + 1)
            finally:
                self._busy.discard(node.id)
        return self.constants.get(node.id, Opaque(node.id))

    def _call(self, node: ast.Call, names: Mapping[str, Any], depth: int) -> Any:
        arguments = self._items(node.args, names, depth)
        keywords: dict[str, Any] = {}
        for each in node.keywords:
            made = self._value(each.value, names, depth + 1)
            if each.arg is None:
                keywords.update(made if isinstance(made, dict) else {})
            else:
                keywords[each.arg] = made
        name = _dotted(node.func)
        if name == "dict":
            first = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
            return {**first, **keywords}
        if name in ("tuple", "list") and len(arguments) == 1 and isinstance(arguments[0], list):
            return arguments[0]
        if name in self.functions and name not in self._busy:
            self._busy.add(name)
            try:
                returned = self._returned(self.functions[name], arguments, keywords, depth)
            finally:
                self._busy.discard(name)
            if returned is not None:
                return returned
        return Called(name, tuple(arguments), keywords)

    def _returned(
        self, function: ast.FunctionDef, arguments: list[Any], keywords: dict[str, Any], depth: int
    ) -> Any | None:
        """What a function of one `return` gives; None for any other."""
        body = [node for node in function.body if not (isinstance(node, ast.Expr) and _is_text(node.value))]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            return None
        taken = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        names: dict[str, Any] = {}
        defaults = function.args.defaults
        for name, default in zip(taken[len(taken) - len(defaults) :], defaults, strict=True):
            names[name] = self._value(default, {}, depth + 1)
        for only, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
            names[only.arg] = self._value(value, {}, depth + 1) if value is not None else None
            taken.append(only.arg)
        names.update(zip(taken, arguments, strict=False))
        names.update({key: value for key, value in keywords.items() if key in taken})
        if function.args.kwarg is not None:
            names[function.args.kwarg.arg] = {key: value for key, value in keywords.items() if key not in taken}
        return self._value(body[0].value, names, depth + 1)

    def _arithmetic(self, node: ast.BinOp, names: Mapping[str, Any], depth: int) -> Any:
        left, right = self._value(node.left, names, depth + 1), self._value(node.right, names, depth + 1)
        both_numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (left, right))
        if both_numbers and max(abs(left), abs(right)) < 1e12:
            if isinstance(node.op, ast.Div) and right:
                return float(left) / float(right)
            if isinstance(node.op, ast.Mult):
                return left * right
        if isinstance(node.op, ast.Mult) and isinstance(left, list) and isinstance(right, int):
            if not 0 <= right * len(left) <= _LONGEST:
                raise TooMuch
            return left * right
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            if len(left) + len(right) > _LONGEST:
                raise TooMuch
            return left + right
        return Opaque(self.source(node))


def open_module(raw: bytes, file: str, constants: Mapping[str, Any] | None = None) -> Module:
    return Module(parse_python(raw, file), raw.decode("utf-8-sig"), constants or {})


def _word(key: Any) -> str:
    if isinstance(key, Opaque):
        return key.text
    if any(isinstance(each, (list, dict, Called)) for each in (key if isinstance(key, list) else (key,))):
        raise TooMuch  # no table has such keys, and what they stand for may be without end
    return str(key)[:500]


def _all_of(value: Any) -> Iterator[Any]:
    """A value and all that is in it."""
    left: list[Iterator[Any]] = [iter((value,))]
    while left:
        try:
            each = next(left[-1])
        except StopIteration:
            left.pop()
            continue
        yield each
        if isinstance(each, list):
            left.append(iter(each))
        elif isinstance(each, dict):
            left.append(iter(each.values()))
        elif isinstance(each, Called):
            left.append(iter((*each.arguments, *each.keywords.values())))


def _dotted(node: ast.expr) -> str:
    """`functools.partial` as one word; nothing where it is no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 8:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)])[:200] if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
