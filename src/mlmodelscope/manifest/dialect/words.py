"""Keys and values of old dialects: known words, their near misses, and what is kept though nobody knows it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.source import SourceList, SourceMap

_CLOSE = 0.85


def mend_keys(holder: SourceMap, known: Iterable[str], notes: Notes) -> None:
    """Rename keys that miss a known one by a letter or two; each is reported, none is changed where both are there."""
    words = list(known)
    for key in list(holder):
        if key in words:
            continue
        close = near(key, words)
        if close is not None and close not in holder:
            place = holder.places[key]
            _rename(holder, key, close)
            notes.add("typo", f"the key `{key}` is read as `{close}`", place, key, close)


def mend_value(holder: SourceMap, key: str, known: Mapping[str, str] | Iterable[str], notes: Notes) -> None:
    """Bring a word into the known spelling; one that misses it by a letter or two is reported."""
    seen = holder.get(key)
    if not isinstance(seen, str):
        return
    words = dict(known) if isinstance(known, Mapping) else {word: word for word in known}
    by_case = {word.lower(): meant for word, meant in words.items()}
    meant = by_case.get(seen.strip().lower())
    if meant is None:
        close = near(seen.strip().lower(), by_case)
        if close is None:
            return
        meant = by_case[close]
        notes.add("typo", f"`{key}: {seen}` is read as `{meant}`", holder.places[key], seen, meant)
    elif meant.lower() != seen.strip().lower():
        holder.reasons.setdefault(key, f"is our word for `{seen}`")
    holder[key] = meant


def near(seen: str, known: Iterable[str]) -> str | None:
    # By length first: comparing letters costs too much for files with many or very long words.
    possible = [word for word in known if 2 * min(len(seen), len(word)) >= _CLOSE * (len(seen) + len(word))]
    found = difflib.get_close_matches(seen, possible, n=1, cutoff=_CLOSE) if possible else []
    return found[0] if found else None


def keep_unknown(holder: SourceMap, known: Iterable[str], keeper: SourceMap, notes: Notes, prefix: str = "") -> None:
    """Move keys that no schema knows to the attributes, and say so."""
    words = set(known)
    for key in [key for key in holder if key not in words]:
        notes.add(
            "kept",
            f"`{prefix}{key}` means nothing to an evaluation and is kept under `attributes`",
            holder.places[key],
            key,
        )
        holder.move(key, keeper, free_name(key, keeper))


def keep_unknown_inside(data: SourceMap, key: str, known: Iterable[str], notes: Notes) -> None:
    """The same for a block that has no attributes of its own: they go to the manifest's, under the block's name."""
    words = set(known)
    blocks = data.get(key)
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if not isinstance(block, SourceMap):
            continue
        for name in [name for name in block if name not in words and not name.isupper()]:
            keeper = attributes_of(data)
            place = block.places[name]
            block.move(name, keeper, free_name(f"{key}_{name}", keeper))
            notes.add(
                "kept", f"`{key}.{name}` means nothing to an evaluation and is kept under `attributes`", place, name
            )


def listed(holder: SourceMap, key: str) -> list[Any]:
    """The items of a list; a single item needs none, and gets one."""
    value = holder.get(key)
    if isinstance(value, (SourceMap, str)):
        wrapped = SourceList()
        wrapped.place = value.place if isinstance(value, SourceMap) else holder.places[key]
        wrapped.put(value, wrapped.place)
        holder[key] = value = wrapped
    return value if isinstance(value, SourceList) else []


def attributes_of(holder: SourceMap) -> SourceMap:
    """The mapping for whatever else is worth keeping, made when there is none."""
    found = holder.get("attributes")
    if isinstance(found, SourceMap):
        return found
    made = SourceMap()
    made.place = holder.places.get("attributes", holder.place)
    if found is not None:
        made.put("attributes", found, made.place)
    holder.put("attributes", made, made.place)
    return made


def drop_empty(holder: SourceMap, key: str) -> None:
    """Forget a key without a value."""
    if key in holder and (holder[key] is None or holder[key] == "" or holder[key] == {} or holder[key] == []):
        take(holder, key)


def take(holder: SourceMap, key: str) -> Any:
    """The value of a key that has served its purpose."""
    for table in (holder.places, holder.spans, holder.reasons):
        table.pop(key, None)
    return holder.pop(key, None)


def free_name(key: str, holder: Mapping[str, Any]) -> str:
    name, number = key, 2
    while name in holder:
        name, number = f"{key}_{number}", number + 1
    return name


def name_from_id(text: str) -> str:
    """A name made of an id, which may have any letters."""
    return re.sub(r"[^A-Za-z0-9._+-]", "-", text).strip("-._+")[:100] or "unnamed"


def _rename(holder: SourceMap, old: str, new: str) -> None:
    """In place: the order of keys is the author's."""
    items = [(new if key == old else key, value) for key, value in holder.items()]
    holder.clear()
    holder.update(items)
    tables: tuple[dict[str, Any], ...] = (holder.places, holder.spans, holder.reasons)
    for table in tables:
        if old in table:
            table[new] = table.pop(old)


def rename(holder: SourceMap, old: str, new: str) -> None:
    """Another word for the same thing, where the new one is not there yet."""
    if old in holder and new not in holder:
        _rename(holder, old, new)
