"""Small words that every stage shares."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LENGTHS = {32: "md5", 40: "sha1", 64: "sha256", 96: "sha384"}


@dataclass(frozen=True, slots=True)
class Checksum:
    """A digest and how it was computed."""

    algorithm: str
    hex: str

    @classmethod
    def parse(cls, text: str) -> Checksum:
        """`sha256:1f…`, or the digits alone: their number tells which algorithm it was."""
        algorithm, _, digits = text.strip().rpartition(":")
        digits = digits.lower()
        expected = _LENGTHS.get(len(digits))
        if not re.fullmatch("[0-9a-f]+", digits) or expected is None or algorithm.lower() not in ("", expected):
            raise ValueError(f"`{text[:80]}` is not an md5, sha1, sha256 or sha384 checksum")
        return cls(expected, digits)

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.hex}"


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its uncertainty."""

    value: float
    low: float
    high: float
    confidence: float = 0.95
