"""Semantic versions and version constraints, kept as the text that was written."""

from __future__ import annotations

import itertools
import re
from functools import total_ordering

from semantic_version import NpmSpec
from semantic_version import Version as SemanticVersion

from mlmodelscope.errors import VersionError

_VERSION = re.compile(
    r"v?(?P<numbers>\d+(\.\d+)*)"
    r"([-._]?(?P<pre>(a|b|c|rc|alpha|beta|pre|preview|dev)[-._]?\d*([-._][0-9a-z]+)*))?"
    r"([-._]?post[-._]?\d*)?"
    r"(\+[0-9a-z.\-_]+)?",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"(>=|<=|==|=|>|<|\^|~)\s+")


@total_ordering
class Version:
    """A version as written (`1.10`, `1.13.0-rc2`, `2.13.0+cpu`), comparable by the rules of semantic versions."""

    def __init__(self, text: str) -> None:
        match = _VERSION.fullmatch(text.strip())
        if match is None or len(text) > 100:
            raise VersionError(
                f"`{text[:60]}` is not a version",
                hint="versions look like 1.2.0, 1.13.0-rc2 or 1.12",
            )
        self.text = text.strip()
        numbers = [int(number) for number in match["numbers"].split(".")]
        major, minor, patch = (numbers + [0, 0])[:3]
        pre = re.sub(r"[._]", "-", match["pre"].lower()) if match["pre"] else None
        self.semantic = SemanticVersion(f"{major}.{minor}.{patch}" + (f"-{pre}" if pre else ""))
        self._rest = tuple(numbers[3:])  # 5.0.0.93: the fourth number orders, though constraints do not see it

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Version({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key == other._key

    def __lt__(self, other: Version) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[SemanticVersion, tuple[int, ...]]:
        return self.semantic, self._rest


class Constraint:
    """Which versions will do: `^1.x`, `~1.2`, `>=1.10.x <=1.13.0`, `>=1.10.x and <=1.13.0`, `1.12`, `*`.

    As in npm, a pre-release such as 1.13.0-rc2 only satisfies a constraint that names one of the same release; the
    papers used exactly such builds, so `allow_prerelease` lets it count by its place in the order.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        try:
            if len(text) > 200:
                raise ValueError
            self._specification = NpmSpec(_to_npm(self.text))
        except ValueError:
            raise VersionError(
                f"`{text[:60]}` is not a version constraint",
                hint="examples: ^1.x, ~1.2, >=1.10.x <=1.13.0, 1.12, *",
            ) from None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Constraint({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def matches(self, version: Version, *, allow_prerelease: bool = False) -> bool:
        if allow_prerelease and version.semantic.prerelease:
            # In order, a pre-release lies just below its release; for a range it is that release.
            return bool(self._specification.match(version.semantic.truncate()))
        return bool(self._specification.match(version.semantic))

    def best(self, versions: list[Version]) -> Version | None:
        return max((version for version in versions if self.matches(version)), default=None)


def both(one: str, other: str) -> str:
    """The constraint that a version meets which meets both; VersionError where they cannot be joined in words."""
    sides = [[each.strip() for each in re.split(r"\|\||\s+or\s+", text, flags=re.IGNORECASE)] for text in (one, other)]
    pairs = [[each for each in pair if each not in ("", "*")] for pair in itertools.product(*sides)]
    joined = " || ".join(" ".join(dict.fromkeys(pair)) or "*" for pair in pairs)
    if any(" - " in text for text in (one, other)) and "*" not in (one.strip(), other.strip()):
        raise VersionError(f"`{one}` and `{other}` cannot be joined", hint="write a range as `>=1.10 <=1.13`")
    return Constraint(joined).text


def _without_leading_zeros(found: re.Match[str]) -> str:
    numbers = [str(int(part)) if part.isdecimal() else part for part in found[2].split(".")]
    return found[1] + ".".join(numbers[:3])  # a fourth number orders versions, but constraints do not see it


def _to_npm(text: str) -> str:
    text = text.replace("≥", ">=").replace("≤", "<=").replace("==", "=")
    text = re.sub(r"\s+and\s+|\s*&&\s*|\s*,\s*", " ", text, flags=re.IGNORECASE)
    text = re.sub(r"\s+or\s+", " || ", text, flags=re.IGNORECASE)
    text = _OPERATOR.sub(r"\1", text)
    text = re.sub(r"(?<![\w.-])((?:[<>=^~]*)v?)(\d+(?:\.(?:\d+|[xX*]))*)", _without_leading_zeros, text)  # 440.33.01
    # Python writes 1.13.0rc2 where npm wants 1.13.0-rc2; npm takes `<=1.13.x` for whole releases only.
    text = re.sub(r"(\d)(rc|a|b|dev)(\d+)\b", r"\1-\2\3", text)
    return text or "*"
