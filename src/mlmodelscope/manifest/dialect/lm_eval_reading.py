"""A task file of lm-evaluation-harness while it is read: what is left of it, and why it cannot be converted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.words import take
from mlmodelscope.manifest.source import Place, SourceFunction, SourceList, SourceMap

_MAY_NAME_FUNCTIONS = ("doc_to_decontamination_query", "metric_list")
"""Keys without which the numbers are the same, and one whose reader judges each entry."""


class Reading:
    """Keys are taken out as they are read; what is left in the end is kept as it is."""

    def __init__(self, data: SourceMap, notes: Notes) -> None:
        self.data = data
        self.notes = notes
        self._places = dict(data.places)
        self._refused: list[Problem] = []
        separator = data.get("fewshot_delimiter")
        self.separator = separator if isinstance(separator, str) else "\n\n"
        """What stands between examples, and ends an answer where nothing else does."""

    def place(self, key: str) -> Place:
        return self._places.get(key, self.data.place)

    def take(self, key: str) -> Any:
        return take(self.data, key)

    def text(self, key: str) -> str | None:
        """A text, or nothing; what is neither is refused."""
        value = self.take(key)
        if value is None or isinstance(value, str):
            return value
        self.refuse(key, f"expected a text, saw {_spelled(value)}")
        return None

    def mapping(self, key: str) -> SourceMap:
        value = self.take(key)
        if isinstance(value, SourceMap):
            return value
        if value is not None and value != "":
            self.refuse(key, f"expected a mapping, saw {_spelled(value)}")
        made = SourceMap()
        made.place = self.place(key)
        return made

    def number(self, key: str) -> int | None:
        value = self.take(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1000):
            return value
        self.refuse(key, f"expected a whole number up to 1000, saw {_spelled(value)}")
        return None

    def refuse(self, key: str, reason: str) -> None:
        place = self.place(key.partition(".")[0])
        problem = Problem(reason, key, line=place[0], column=place[1])
        if problem not in self._refused:
            self._refused.append(problem)

    def refuse_functions(self) -> None:
        """Name every place where Python would have to run."""
        for key, value in list(self.data.items()):
            if key in _MAY_NAME_FUNCTIONS:
                continue
            for path, name in _functions(value, key):
                self.refuse(path, f"`!function {name[:80]}` is Python code, which is never run")
            if isinstance(value, SourceFunction):
                self.take(key)

    def raise_refused(self) -> None:
        if self._refused:
            raise ManifestError(*self._refused)


def _functions(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, SourceFunction):
        yield path, str(value)
    elif isinstance(value, SourceMap):
        for key, each in value.items():
            yield from _functions(each, f"{path}.{key}")
    elif isinstance(value, SourceList):
        for number, each in enumerate(value):
            yield from _functions(each, f"{path}[{number}]")


def _spelled(value: Any) -> str:
    text = repr(value) if isinstance(value, (int, float, str)) else type(value).__name__.removeprefix("Source").lower()
    return text if len(text) <= 60 else text[:57] + "..."
