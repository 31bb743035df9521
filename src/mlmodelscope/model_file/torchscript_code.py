"""The source text inside a TorchScript archive: classes with their attributes and methods. It is read, never run.

torch prints it in one fixed manner (two spaces for a class's members, four for a method's statements), so lines and
their indentation are enough. Python's own parser is not used: a hostile text can crash the interpreter with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlmodelscope.model_file.archive import Archive
from mlmodelscope.model_file.limit import Budget

_MAX_TEXT_BYTES = 1 << 23
_MAX_LINES = 1 << 19

_CLASS = re.compile(r"class (\w{1,200})\(\w+\):")
_ATTRIBUTE = re.compile(r"  (\w{1,200}) : ([\w.]{1,1000})$")
_NUMBERED = re.compile(r'  __annotations__\["([^"]{1,200})"\] = ([\w.]{1,1000})$')
_METHOD = re.compile(r"  def (\w{1,200})\(")


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    has_default: bool


@dataclass(frozen=True)
class Method:
    me: str
    """What it calls its module: `self`, mostly."""
    arguments: tuple[Argument, ...]
    """Without that."""
    returns: str
    statements: tuple[str, ...]
    """With their indentation beyond the method's own."""


@dataclass
class Class:
    attributes: dict[str, str] = field(default_factory=dict)
    """The type of each."""
    methods: dict[str, Method] = field(default_factory=dict)


class Code:
    """Classes by their qualified names; a file is parsed when one of its classes is first asked for."""

    def __init__(self, archive: Archive, folder: str) -> None:
        self._archive = archive
        self._folder = folder
        self._files: dict[str, dict[str, Class]] = {}
        self._budget = Budget(_MAX_LINES)

    def find(self, qualified: str) -> Class | None:
        module, _, name = qualified.rpartition(".")
        member = f"{self._folder}code/{module.replace('.', '/')}.py"
        if member not in self._files:
            text = ""
            if member in self._archive:
                text = self._archive.read(member, _MAX_TEXT_BYTES).decode(errors="replace")
            self._files[member] = self._parse(text)
        return self._files[member].get(name)

    def _parse(self, text: str) -> dict[str, Class]:
        classes: dict[str, Class] = {}
        current: Class | None = None
        lines = text.split("\n")
        self._budget.spend(len(lines))
        position = 0
        while position < len(lines):
            line = lines[position]
            position += 1
            if found := _CLASS.match(line):
                current = classes.setdefault(found[1], Class())
            elif line[:1] not in ("", " "):
                current = None  # a function of its own: nobody asks for those
            elif current is None:
                continue
            elif found := _ATTRIBUTE.match(line) or _NUMBERED.match(line):
                current.attributes[found[1]] = found[2]
            elif found := _METHOD.match(line):
                start = position - 1
                while position < len(lines) and not lines[position - 1].rstrip().endswith(":"):
                    position += 1
                head = " ".join(part.strip() for part in lines[start:position])
                start = position
                while position < len(lines) and lines[position].startswith("    "):
                    position += 1
                statements = tuple(one[4:] for one in lines[start:position])
                current.methods[found[1]] = _method(head, statements)
        return classes


def _method(head: str, statements: tuple[str, ...]) -> Method:
    inside, _, rest = head.partition("(")[2].rpartition(")")
    parts = split_outside_brackets(inside)
    # `-> Tuple[Tensor, Tensor]:` has no parenthesis, so the last one closes the list of arguments.
    returns = rest.strip().removeprefix("->").removesuffix(":").strip()
    return Method(_argument(parts[0]).name, tuple(_argument(part) for part in parts[1:] if part), returns, statements)


def _argument(text: str) -> Argument:
    name, _, rest = text.partition(":")
    kind, default, _ = rest.partition("=")
    return Argument(name.strip(), kind.strip(), bool(default))


def split_outside_brackets(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]
