"""Protocol buffers in their text form, as Caffe's networks are written: names, values and braces, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlmodelscope.model_file.limit import Budget, damaged, quote

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\s*)*([A-Za-z_][\w.]*|[-+]?[\d.][\w.+-]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\S)"""
)
_ESCAPE = re.compile(r"\\(.)")
_MOST_DEPTH = 32
_MOST_BYTES = 1 << 24
"""The largest published network has some hundred kilobytes."""


@dataclass
class Tree:
    """A message: each field's values in order, texts and numbers as they are written."""

    fields: dict[str, list[str | Tree]] = field(default_factory=dict)

    def add(self, name: str, value: str | Tree) -> None:
        self.fields.setdefault(name, []).append(value)

    def text(self, name: str, default: str = "") -> str:
        found = [value for value in self.fields.get(name, ()) if isinstance(value, str)]
        return found[-1] if found else default

    def texts(self, name: str) -> list[str]:
        return [value for value in self.fields.get(name, ()) if isinstance(value, str)]

    def trees(self, name: str) -> list[Tree]:
        return [value for value in self.fields.get(name, ()) if isinstance(value, Tree)]

    def tree(self, name: str) -> Tree:
        """The last of that name; an empty one where there is none."""
        found = self.trees(name)
        return found[-1] if found else Tree()

    def integers(self, name: str) -> list[int]:
        numbers = []
        for value in self.texts(name):
            if re.fullmatch(r"[-+]?\d{1,18}", value) is None:
                raise damaged(f"{quote(name)} is {quote(value)} and should be a whole number")
            numbers.append(int(value))
        return numbers

    def integer(self, name: str, default: int) -> int:
        found = self.integers(name)
        return found[-1] if found else default

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name)
        return default if not value else value in ("true", "1", "True", "t")


def parse_text(data: memoryview | bytes) -> Tree:
    if len(data) > _MOST_BYTES:
        raise damaged(f"a text of {len(data):,} bytes stands where a network belongs")
    text, budget = bytes(data).decode("utf-8", "replace"), Budget()
    root = Tree()
    open_trees = [root]
    position, name = 0, ""
    is_list = False
    while (found := _TOKEN.match(text, position)) is not None:
        budget.spend()
        position, token = found.end(), found[1]
        if token in "{<" and name:
            inner = Tree()
            open_trees[-1].add(name, inner)
            open_trees.append(inner)
            name = ""
            if len(open_trees) > _MOST_DEPTH:
                raise damaged("its messages are nested too deeply")
        elif token in "}>" and not name and len(open_trees) > 1:
            open_trees.pop()
        elif token in ",;" or (token == ":" and name):
            continue
        elif token == "[" and name:
            is_list = True
        elif token == "]" and is_list:
            is_list, name = False, ""
        elif name and token[0] not in "{}<>[]:":
            open_trees[-1].add(name, _value(token))
            name = name if is_list else ""
        elif not name and (token[0].isalpha() or token[0] == "_"):
            name = token
        else:
            line = text.count("\n", 0, position) + 1
            raise damaged(f"line {line} of the text does not go on with {quote(token)}")
    if name or len(open_trees) > 1:
        raise damaged("the text breaks off inside of a message")
    return root


def _value(token: str) -> str:
    return _ESCAPE.sub(r"\1", token[1:-1]) if token[0] in "\"'" else token
