"""A manifest as YAML text, the way a person would lay it out: in the schema's order, short lists on one line."""

from __future__ import annotations

import math
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
_MAX_SIMPLE_KEY = 1000
"""Characters; YAML wants a longer key announced with `? `."""

# What an unquoted word may not look like: it starts with none of YAML's marks, and holds neither `: ` nor ` #`.
_PLAIN = re.compile(
    r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[-?:](?=[^\s,\[\]{}]))(?:[^\s:#]|[ ]++(?=[^\s#])|:(?=\S)|(?<!\s)#)*+"
)
_BEYOND_FLOW = re.compile(r"^[:?]|[,\[\]{}?]|:(?![A-Za-z0-9/_.-])")
_UNPRINTABLE = re.compile("[^\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_manifest(
    data: Mapping[str, Any],
    kind: str = "model",
    above: Mapping[Path, str] | None = None,
    beside: Mapping[Path, str] | None = None,
) -> str:
    """YAML of data in the current format. `above` and `beside` are comments by the path of their key or item."""
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
        self._holds_comments = {path[:length] for path in (*above, *beside) for length in range(len(path))}

    def mapping(self, data: Mapping[str, Any], path: Path, indent: int) -> None:
        for key, value in data.items():
            at = (*path, key)
            self._comment(at, indent)
            spelled = spell_key(str(key))
            if len(spelled) > _MAX_SIMPLE_KEY:
                self.lines.append(f"{' ' * indent}? {spelled}")
                spelled = ""
            self._entry(f"{' ' * indent}{spelled}:", value, at, indent)

    def _entry(self, head: str, value: Any, path: Path, indent: int) -> None:
        """`head` and its value, on one line where that is readable."""
        beside = f"  # {spell_comment(self._beside[path])}" if path in self._beside else ""
        if isinstance(value, Mapping) and value and not self._is_short(value, head, path):
            self.lines.append(head + beside)
            self.mapping(value, path, indent + 2)
        elif isinstance(value, (list, tuple)) and value and not self._fits(value, head, path):
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
        lead = "2" if text[:1] in (" ", "\t", "\n") else ""
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
            not isinstance(item, Mapping)
            and (not isinstance(item, (list, tuple)) or self._fits(item, "", (*path, key)))
            for key, item in value.items()
        )
        quiet = not any(isinstance(item, str) and ("\n" in item or len(item) > 40) for item in value.values())
        return in_list and flat and quiet and path not in self._holds_comments and self._on_one_line(value, head)

    def _comment(self, path: Path, indent: int) -> None:
        for line in self._above.get(path, "").splitlines():
            self.lines.append(f"{' ' * indent}# {spell_comment(line)}".rstrip())

    def _fits(self, value: Any, head: str, path: Path) -> bool:
        if len(value) > _WIDTH or path in self._holds_comments:
            return False
        plain = all(not isinstance(item, (Mapping, list, tuple)) for item in value)
        quiet = not any(isinstance(item, str) and (len(item) > 40 or "://" in item) for item in value)
        return plain and quiet and self._on_one_line(value, head)

    def _on_one_line(self, value: Any, head: str) -> bool:
        return len(value) < _WIDTH and len(head) + len(spell_flow(value)) < _WIDTH


def spell_comment(text: str) -> str:
    """A text behind a `#`: on one line, and without characters that YAML refuses even there."""
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], " ".join(text.split()) if "\n" in text else text)


def spell_key(key: str) -> str:
    return spell_text(key, flow=True)


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
        return spell_text(value, flow=True)
    return "null" if value is None else spell_flow(value)


def spell_number(value: int | float) -> str:
    """As it was written where that is known: `1.10` stays `1.10`."""
    text = getattr(value, "text", None)
    if text is not None and plain_kind(text) == ("int" if isinstance(value, int) else "float"):
        return str(text)
    if isinstance(value, int):
        return str(int(value))
    if math.isnan(value) or math.isinf(value):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}[repr(float(value))]
    spelled = repr(float(value))
    # Older readers of YAML take `1e-05` for a word and `1.0e-05` for a number.
    return spelled if "." in spelled else spelled.replace("e", ".0e")


def spell_text(text: str, flow: bool = False) -> str:
    """A text on one line, quoted where YAML would read it as something else; `flow` inside brackets or as a key."""
    text = str(text)
    if _UNPRINTABLE.search(text) or "\t" in text:
        return '"' + _ESCAPED.sub(_escape, text) + '"'
    if _PLAIN.fullmatch(text) and not _means_something_else(text) and not (flow and _BEYOND_FLOW.search(text)):
        return text
    return "'" + text.replace("'", "''") + "'"


_ESCAPED = re.compile(_UNPRINTABLE.pattern + '|[\\\\"\t]')


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return _ESCAPES.get(match[0]) or (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


def _means_something_else(text: str) -> bool:
    """Whether a bare word would be a number, a date or the like, to us or to a reader of the older YAML 1.1."""
    if plain_kind(text) != "str" or text.startswith(("---", "...")):
        return True
    # PyYAML's own table: first letter → what it may start. `y` and `n` are for other readers of YAML 1.1.
    older = yaml.SafeLoader.yaml_implicit_resolvers.get(text[0], ())
    return text in ("y", "Y", "n", "N") or any(pattern.match(text) for _, pattern in older)


def _block_is_safe(text: str) -> bool:
    """Whether a block keeps it letter by letter: YAML would fold odd line ends and refuse control characters."""
    return not _UNPRINTABLE.search(text.replace("\n", "")) and bool(text.strip())


def _folds(text: str) -> bool:
    """Whether lines may be broken at its spaces without changing it."""
    body = text.removesuffix("\n")
    return body == body.strip() and not re.search(r"[^\S ]|  |(?<= )#", body) and not _UNPRINTABLE.search(body)
