"""A manifest as YAML text, the way a person would lay it out: in the schema's order, short lists on one line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

import yaml

from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.manifest.source import plain_kind

Path = tuple[str | int, ...]

_WIDTH = 110
_FIRST = {
    "model": ("id", "name", "version", "task", "job_type", "description", "author", "licence", "license", "references"),
}
_SAFE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def write_manifest(
    data: Mapping[str, Any],
    kind: str = "model",
    above: Mapping[Path, str] | None = None,
    beside: Mapping[Path, str] | None = None,
) -> str:
    """YAML of data in today's form. `above` and `beside` are comments by the path of the key or item they belong to."""
    writer = _Writer(above or {}, beside or {})
    writer.mapping({key: data[key] for key in ordered(data, kind)}, (), 0)
    return "\n".join(writer.lines) + "\n"


def ordered(data: Mapping[str, Any], kind: str) -> list[str]:
    """Who it is, what it does, how it is run, then whatever else."""
    first = _FIRST.get(kind, _FIRST["model"])
    schema = [key for key in KINDS[kind].model_fields if key not in first and key != "attributes"]
    known = [*first, *schema]
    rest = [key for key in data if key not in known and key != "attributes"]
    return [key for key in (*known, *rest, "attributes") if key in data]


class _Writer:
    def __init__(self, above: Mapping[Path, str], beside: Mapping[Path, str]) -> None:
        self.lines: list[str] = []
        self._above = above
        self._beside = beside

    def mapping(self, data: Mapping[str, Any], path: Path, indent: int) -> None:
        for key, value in data.items():
            at = (*path, key)
            self._comment(at, indent)
            self._entry(f"{' ' * indent}{spell_key(key)}:", value, at, indent)

    def _entry(self, head: str, value: Any, path: Path, indent: int) -> None:
        """`head` and its value, on one line where that is readable."""
        beside = f"  # {self._beside[path]}" if path in self._beside else ""
        if isinstance(value, Mapping) and value and not self._is_short(value, head, path):
            self.lines.append(head + beside)
            self.mapping(value, path, indent + 2)
        elif isinstance(value, (list, tuple)) and value and not self._fits(value, head):
            self.lines.append(head + beside)
            for index, item in enumerate(value):
                self._item(item, (*path, index), indent + 2)
        elif isinstance(value, str) and len(value) > _WIDTH and _folds(value):
            self._folded(head, value, beside, indent)
        elif isinstance(value, str) and "\n" in value and _block_is_safe(value):
            self._block(head, value, beside, indent)
        else:
            self.lines.append(f"{head} {spell_flow(value)}{beside}".rstrip())

    def _item(self, item: Any, path: Path, indent: int) -> None:
        self._comment(path, indent)
        head = f"{' ' * indent}-"
        if isinstance(item, Mapping) and item:
            start = len(self.lines)
            self.mapping(item, path, indent + 2)
            # The first key stands on the line of the dash; comments above it come before.
            first = next(n for n in range(start, len(self.lines)) if not self.lines[n].lstrip().startswith("#"))
            comments = [" " * indent + line.lstrip() for line in self.lines[start:first]]
            self.lines[start:first] = comments
            self.lines[first] = f"{head} {self.lines[first][indent + 2 :]}"
        else:
            self._entry(head, item, path, indent)

    def _block(self, head: str, text: str, beside: str, indent: int) -> None:
        keep = {True: "", False: "-"}[text.endswith("\n")]
        if text.endswith("\n\n"):
            keep = "+"
        lead = "2" if text[:1] in (" ", "\n") else ""
        self.lines.append(f"{head} |{lead}{keep}{beside}")
        body = text[:-1] if text.endswith("\n") else text
        self.lines += [" " * (indent + 2) + line if line else "" for line in body.split("\n")]

    def _folded(self, head: str, text: str, beside: str, indent: int) -> None:
        self.lines.append(f"{head} >{'' if text.endswith(chr(10)) else '-'}{beside}")
        pad = " " * (indent + 2)
        self.lines += textwrap.wrap(
            text, _WIDTH, initial_indent=pad, subsequent_indent=pad, break_long_words=False, break_on_hyphens=False
        )

    def _is_short(self, value: Mapping[str, Any], head: str, path: Path) -> bool:
        """Parameters of a step, and the like: a flat mapping inside a list, without comments of its own."""
        in_list = len(path) > 1 and isinstance(path[-2], int)
        flat = all(
            not isinstance(item, Mapping) and (not isinstance(item, list) or self._fits(item, ""))
            for item in value.values()
        )
        quiet = not any(isinstance(item, str) and ("\n" in item or len(item) > 40) for item in value.values())
        commented = any(at[: len(path)] == path and len(at) > len(path) for at in (*self._above, *self._beside))
        return in_list and flat and quiet and not commented and len(head) + len(spell_flow(value)) < _WIDTH

    def _comment(self, path: Path, indent: int) -> None:
        for line in self._above.get(path, "").splitlines():
            self.lines.append(f"{' ' * indent}# {line}".rstrip())

    def _fits(self, value: Any, head: str) -> bool:
        plain = all(not isinstance(item, (Mapping, list, tuple)) for item in value)
        quiet = not any(isinstance(item, str) and (len(item) > 40 or "://" in item) for item in value)
        return plain and quiet and len(head) + len(spell_flow(value)) < _WIDTH


def spell_key(key: str) -> str:
    return key if _SAFE_KEY.fullmatch(key) and plain_kind(key) == "str" else spell_text(key)


def spell_flow(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return spell_number(value)
    if isinstance(value, str):
        return spell_text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spell_key(str(key))}: {_inner(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(_inner(item) for item in value) + "]"


def _inner(value: Any) -> str:
    """Inside brackets, where a comma ends a word."""
    if isinstance(value, str):
        spelled = spell_text(value)
        plain = spelled[:1] not in ("'", '"')
        return "'" + value.replace("'", "''") + "'" if plain and any(mark in value for mark in ",[]{}") else spelled
    return "null" if value is None else spell_flow(value)


def spell_number(value: int | float) -> str:
    """As it was written where that is known: `1.10` stays `1.10`."""
    text = getattr(value, "text", None)
    if text is not None:
        return str(text)
    spelled: str = yaml.safe_dump(value)
    return spelled.split("\n")[0]


def spell_text(text: str) -> str:
    """A text on one line, quoted where YAML would read it as something else."""
    spelled: str = yaml.safe_dump(str(text), default_flow_style=True, width=float("inf"), allow_unicode=True)
    spelled = spelled.removesuffix("\n").removesuffix("\n...")
    if "\n" in spelled:
        spelled = yaml.safe_dump(str(text), default_style='"', width=float("inf"), allow_unicode=True).rstrip("\n")
    quoted = spelled[:1] in ("'", '"')
    if not quoted and plain_kind(text) != "str":
        return "'" + text.replace("'", "''") + "'"
    return spelled


def _block_is_safe(text: str) -> bool:
    """Whether a block keeps it letter by letter: YAML would fold odd line ends and refuse control characters."""
    return not re.search(r"[^\S\n ]|[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ufeff\ud800-\udfff]", text) and bool(
        text.strip()
    )


def _folds(text: str) -> bool:
    """Whether lines may be broken at its spaces without changing it."""
    body = text.removesuffix("\n")
    return body == body.strip() and not re.search(
        r"[^\S ]|  |(?<= )#|[\x00-\x1f\x7f\x85\u2028\u2029\ufeff\ud800-\udfff]", body
    )
