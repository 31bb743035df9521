"""A TorchScript method as a graph of operators: its statements are followed, into the modules that it calls too.

Only what is certain is followed. Statements under a condition or in a loop, and anything not understood, make
values of unknown origin, so that the answer becomes "unknown" and never a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlmodelscope.model_file.graph import Node
from mlmodelscope.model_file.limit import Budget
from mlmodelscope.model_file.torchscript_code import Class, Code, Method, split_outside_brackets

_MAX_DEPTH = 80
_MAX_STEPS = 1 << 19
_MAX_STATEMENT = 1 << 16

_TOKEN = re.compile(r"""\s*([A-Za-z_][\w.]*|-?\d[\w.+-]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s])""")
_FUNCTIONS = "__torch__.torch.nn.functional."
_CHANNELS_SECOND = ("conv2d", "_convolution", "max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "batch_norm")


@dataclass(frozen=True)
class Module:
    type: Class


@dataclass(frozen=True)
class Tensor:
    name: str


@dataclass(frozen=True)
class Function:
    name: str


@dataclass(frozen=True)
class Many:
    items: tuple[Value, ...]


Value = Module | Tensor | Function | Many | int | str | None


class _NotUnderstood(Exception):
    pass


class Follower:
    """Turns a method into nodes; `outputs` are the tensors that it returns, with the names the source has for them."""

    def __init__(self, code: Code) -> None:
        self.nodes: list[Node] = []
        self._code = code
        self._budget = Budget(_MAX_STEPS)
        self._count = 0

    def follow(self, module: Class, method: Method, arguments: list[Value], depth: int = 0) -> tuple[Value, str]:
        """What the method returns, and the expression that it returns."""
        names: dict[str, Value] = {method.me: Module(module)}
        names.update(zip((one.name for one in method.arguments), arguments, strict=False))
        for statement in method.statements:
            self._budget.spend()
            certain = not statement.startswith(" ")
            text = statement.strip()
            if text.startswith("return "):
                if not certain:
                    return None, ""
                return self._value(text.removeprefix("return "), names, depth), text.removeprefix("return ")
            left, equals, right = text.partition(" = ")
            if equals and re.fullmatch(r"[\w, ]+", left):
                value = self._value(right, names, depth) if certain else None
                self._assign([one for one in split_outside_brackets(left) if one], value, names)
        return None, ""

    def _assign(self, targets: list[str], value: Value, names: dict[str, Value]) -> None:
        if len(targets) == 1:
            names[targets[0]] = value
            return
        items = value.items if isinstance(value, Many) else ()
        for index, target in enumerate(targets):
            names[target] = items[index] if index < len(items) else None

    def _value(self, text: str, names: dict[str, Value], depth: int) -> Value:
        if len(text) > _MAX_STATEMENT or depth > _MAX_DEPTH:
            return None
        tokens = _TOKEN.findall(text)
        self._budget.spend(len(tokens))
        try:
            value, position = self._expression(tokens, 0, names, depth)
        except (_NotUnderstood, IndexError):
            return None
        return value if position == len(tokens) else None

    def _expression(self, tokens: list[str], position: int, names: dict[str, Value], depth: int) -> tuple[Value, int]:
        if depth > _MAX_DEPTH:
            raise _NotUnderstood
        token = tokens[position]
        position += 1
        value: Value
        target = ""
        if token in ("(", "["):
            items, position = self._items(tokens, position, ")" if token == "(" else "]", names, depth)
            # `(x)` is x, and only `(x,)` would be a tuple; a list of one stays a list.
            value = items[0] if token == "(" and len(items) == 1 else Many(tuple(items))
        elif token[0] in "\"'":
            value = token[1:-1]
        elif re.fullmatch(r"-?\d{1,18}", token):
            value = int(token)
        elif token[0].isalpha() or token[0] == "_":
            target = token
            value = self._named(token, names)
        elif token[0] == "-" or token[0].isdigit():
            value = None
        else:
            raise _NotUnderstood
        while position < len(tokens) and tokens[position] in ("(", "."):
            if tokens[position] == ".":
                target, position = tokens[position + 1], position + 2
                continue
            arguments, position = self._items(tokens, position + 1, ")", names, depth)
            value = self._call(value, target, arguments, depth)
            target = ""
        return value, position

    def _items(
        self, tokens: list[str], position: int, end: str, names: dict[str, Value], depth: int
    ) -> tuple[list[Value], int]:
        items = []
        while tokens[position] != end:
            if tokens[position + 1] == "=":  # a keyword: its value counts like any other
                position += 2
            item, position = self._expression(tokens, position, names, depth + 1)
            items.append(item)
            if tokens[position] == ",":
                position += 1
            elif tokens[position] != end:
                raise _NotUnderstood
        return items, position + 1

    def _named(self, token: str, names: dict[str, Value]) -> Value:
        if token.startswith(_FUNCTIONS):
            return Function(token)  # a long name is given a short one first: `_1 = __torch__.torch.nn.functional.relu`
        name, _, rest = token.partition(".")
        value = names.get(name)
        for attribute in rest.split(".") if rest else ():
            value = self._attribute(value, attribute)
        return value

    def _attribute(self, value: Value, attribute: str) -> Value:
        kind = value.type.attributes.get(attribute, "") if isinstance(value, Module) else ""
        found = self._code.find(kind) if kind.startswith("__torch__.") else None
        return Module(found) if found else None

    def _call(self, value: Value, target: str, arguments: list[Value], depth: int) -> Value:
        target = value.name if isinstance(value, Function) else target
        name = target.rpartition(".")[2]
        if isinstance(value, Module):
            method = value.type.methods.get(name or "forward")
            return self.follow(value.type, method, arguments, depth + 1)[0] if method else None
        if target == "getattr" and len(arguments) == 2 and isinstance(arguments[1], str):
            return self._attribute(arguments[0], arguments[1])
        if target in ("annotate", "unchecked_cast", "torch.jit.annotate"):
            return arguments[-1] if arguments else None
        if not target.startswith(("torch.", "ops.", _FUNCTIONS)):
            return None
        inputs = [one.name for one in arguments if isinstance(one, Tensor)]
        lists = [one.items for one in arguments if isinstance(one, Many)]
        inputs += [item.name for one in lists for item in one if isinstance(item, Tensor)]
        order = tuple(axis for axis in lists[0] if isinstance(axis, int)) if name == "permute" and lists else None
        self._count += 1
        made = f"%{self._count}"
        layout = "NCHW" if name in _CHANNELS_SECOND and arguments and isinstance(arguments[0], Tensor) else None
        self.nodes.append(Node(name.rstrip("_") or name, tuple(inputs), (made,), order, layout))
        return Tensor(made)
