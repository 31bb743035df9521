"""A stranger's mapping, read field by field: types are checked, and what nobody asked for is named afterwards."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.source import place_of
from mlmodelscope.model_file.limit import clean

MAX_SIDE = 65535
MAX_NUMBER = 1e12


class Fields:
    """`where` is shown in errors; a missing field and `null` are the same."""

    def __init__(self, data: Mapping[str, Any], file: str, where: str = "") -> None:
        self.data = data
        self.file = file
        self.where = where
        self._read: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def any(self, key: str) -> Any:
        self._read.add(key)
        return self.data.get(key)

    def text(self, key: str) -> str | None:
        value = self.any(key)
        if value is None or value == "":
            return None
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            self.refuse(key, "text")
        return clean(str(getattr(value, "text", value))).strip() or None

    def word(self, key: str) -> str | None:
        """A text of which the case does not matter."""
        text = self.text(key)
        return None if text is None else text.lower()

    def flag(self, key: str) -> bool | None:
        value = self.any(key)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("yes", "no", "on", "off", "true", "false"):
            return value.lower() in ("yes", "on", "true")  # YAML 1.1's words, which YAML 1.2 leaves alone
        if value in (0, 1):
            return bool(value)
        return bool(self.refuse(key, "true or false"))

    def number(self, key: str) -> float | None:
        value = self.any(key)
        return None if value is None else self._number(key, value)

    def whole(self, key: str, most: int = MAX_SIDE) -> int | None:
        """A count or a number of pixels."""
        number = self.number(key)
        if number is None:
            return None
        if number != int(number) or not 0 <= number <= most:
            self.refuse(key, f"a whole number up to {most}")
        return int(number)

    def side(self, key: str) -> int | None:
        whole = self.whole(key)
        if whole == 0:
            self.refuse(key, "a number of pixels")
        return whole

    def numbers(self, key: str) -> list[float] | None:
        """One number or several; also as the text `(0.485, 0.456, 0.406)`."""
        value = self.any(key)
        if value is None:
            return None
        if isinstance(value, str):
            value = numbers_of(value)
            if value is None:
                self.refuse(key, "numbers")
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if not values or len(values) > 4:
            self.refuse(key, "one number, or one for each of up to four channels")
        return [self._number(key, item) for item in values]

    def divisors(self, key: str) -> list[float] | None:
        values = self.numbers(key)
        if values is not None and 0 in values:
            self.refuse(key, "numbers other than 0, because they are divided by")
        return values

    def fields(self, key: str) -> Fields | None:
        value = self.any(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self.refuse(key, "a mapping")
        return Fields(value, self.file, self._path(key))

    def items(self, key: str) -> list[Any]:
        value = self.any(key)
        if value is None:
            return []
        if not isinstance(value, (list, tuple)):
            self.refuse(key, "a list")
        return list(value)

    def each(self, key: str) -> list[Fields]:
        """The mappings of a list."""
        found = []
        for index, item in enumerate(self.items(key)):
            if not isinstance(item, Mapping):
                self.refuse(key, "a list of mappings")
            found.append(Fields(item, self.file, f"{self._path(key)}[{index}]"))
        return found

    def ignore(self, *keys: str) -> None:
        """Fields that have nothing to do with an answer."""
        self._read.update(keys)

    def rest(self) -> dict[str, Any]:
        """What nobody asked for."""
        return {key: value for key, value in self.data.items() if key not in self._read and value is not None}

    def refuse(self, key: str, expected: str) -> Any:
        line, column = place_of(self.data, (key,))
        shown = clean(repr(self.data.get(key)))[:60]
        raise ManifestError(
            Problem(f"expected {expected}, saw {shown}", self._path(key), self.file, line=line, column=column)
        )

    def _path(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def _number(self, key: str, value: Any) -> float:
        if isinstance(value, str):
            found = numbers_of(value)
            value = found[0] if found is not None and len(found) == 1 else value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(key, "a number")
        if not -MAX_NUMBER <= value <= MAX_NUMBER or math.isnan(value):
            self.refuse(key, "a number of a usual size")
        return tidy(float(value))


def numbers_of(text: str) -> list[float] | None:
    """`104, 117, 123`, `(0.485,0.456,0.406)` or `[58.8]`; None where it is something else."""
    parts = [part for part in re.split(r"[\s,;]+", text.strip().strip("()[]{}").strip()) if part]
    try:
        return [float(part) for part in parts] if parts else None
    except ValueError:
        return None


def tidy(value: float) -> float:
    """A whole number is shown as one."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
