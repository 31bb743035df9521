"""Which files a rule of a layout wants, and which of them lie in a folder. Nothing is read of the files themselves."""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema.connection import Expected

_NUMBER = re.compile(r"\{number(?::0(\d{1,2}))?\}")
_NAME = "{name}"
_MOST_FILES = 3_000_000
_MOST_LIST_BYTES = 512 << 20


@dataclass
class Seen:
    """What one rule found."""

    rule: Expected
    found: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    uncounted: int = 0
    """Files that are missing and that nobody can name: only their number is known."""
    different: dict[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> int:
        return len(self.found) + len(self.missing) + self.uncounted


def look(rule: Expected, root: Path) -> Seen:
    """The files of a rule below a folder, by their names and numbers."""
    seen = Seen(rule)
    if rule.numbers is not None:
        _by_number(rule, root, seen)
    elif rule.listed_in is not None:
        _by_list(rule, rule.listed_in, root, seen)
    else:
        seen.found = matching(root, rule.files)
        if not seen.found and not is_pattern(rule.files):
            seen.missing = [rule.files]
    _count(rule, seen)
    return seen


def is_pattern(files: str) -> bool:
    return any(sign in files for sign in "*?[{")


def matching(root: Path, pattern: str) -> list[str]:
    """Paths of files below a folder, where `*` stands for a part of one name; in order."""
    places = [""]
    *folders, last = pattern.split("/")
    for part in folders:
        places = [f"{below}{name}/" for below in places for name in _entries(root, below, part, is_folder=True)]
    return sorted(f"{below}{name}" for below in places for name in _entries(root, below, last, is_folder=False))


def _entries(root: Path, below: str, part: str, *, is_folder: bool) -> list[str]:
    place = os.path.join(root, below)
    try:
        if not is_pattern(part):
            path = os.path.join(place, part)
            return [part] if (os.path.isdir(path) if is_folder else os.path.isfile(path)) else []
        with os.scandir(place) as entries:
            found = [
                entry.name
                for entry in entries
                if fnmatch.fnmatchcase(entry.name, part)
                and not entry.name.startswith(".")
                and (entry.is_dir() if is_folder else entry.is_file())
            ]
    except OSError as error:
        raise DatasetError(f"cannot list {place}: {error.strerror or error}") from None
    if len(found) > _MOST_FILES:
        raise DatasetError(f"{place} holds more than {_MOST_FILES:,} files, which no dataset that is known here has")
    return found


def _by_number(rule: Expected, root: Path, seen: Seen) -> None:
    assert rule.numbers is not None
    mark = _NUMBER.search(rule.files)
    assert mark is not None
    width = int(mark[1] or 0)
    there = matching(root, _NUMBER.sub("*", rule.files))
    wanted = [_NUMBER.sub(f"{number:0{width}d}", rule.files) for number in range(rule.numbers[0], rule.numbers[1] + 1)]
    _compare(wanted, there, seen)


def _by_list(rule: Expected, listed_in: str, root: Path, seen: Seen) -> None:
    path, mark, keys = listed_in.partition("#")
    if not (root / path).is_file():
        seen.missing = [path]
        return
    names = list(dict.fromkeys(_listed(root / path, path, keys if mark else "")))
    odd = [name for name in names if name.startswith("/") or ".." in name.split("/") or "\0" in name]
    if odd:
        raise DatasetError(f"{path} lists `{odd[0][:200]}`, which does not lie in the folder")
    wanted = [rule.files.replace(_NAME, name) for name in names]
    nested = any("/" in name for name in names)
    there = [each for each in wanted if (root / each).is_file()] if nested else []
    _compare(wanted, there if nested else matching(root, rule.files.replace(_NAME, "*")), seen)


def _listed(path: Path, called: str, keys: str) -> Iterable[str]:
    """Names in a text file, the first word of each line; of a JSON file, those that a path of keys leads to."""
    try:
        if path.stat().st_size > _MOST_LIST_BYTES:
            raise DatasetError(f"{called} is larger than a list of names can be")
        text = path.read_text(encoding="utf-8-sig")
        if not keys:
            return [line.split()[0] for line in text.splitlines() if line.strip()]
        values: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        raise DatasetError(f"{called} is damaged: it cannot be read as {'JSON' if keys else 'UTF-8 text'}") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
    for key in keys.split("."):
        below = [value.get(key) for value in values if isinstance(value, dict)]
        values = [item for value in below for item in (value if isinstance(value, list) else [value])]
    names = [value for value in values if isinstance(value, str)]
    if not names:
        raise DatasetError(f"{called} has no names at `{keys}`")
    return names


def _compare(wanted: list[str], there: list[str], seen: Seen) -> None:
    """Files that are wanted; where the folder is open (`n*/`), by their last names."""
    if not any("*" in each for each in wanted[:1]):
        have = set(there)
        seen.found = [each for each in wanted if each in have]
        seen.missing = [each for each in wanted if each not in have]
        return
    have_names = Counter(each.rpartition("/")[2] for each in there)
    names = {each.rpartition("/")[2]: each for each in wanted}
    seen.found = [each for each in there if each.rpartition("/")[2] in names]
    seen.missing = [each for name, each in names.items() if name not in have_names]
    for name, times in have_names.items():
        if times > 1 and name in names:
            seen.different[name] = f"lies in {times} folders"


def _count(rule: Expected, seen: Seen) -> None:
    if rule.numbers is None and rule.listed_in is None and rule.count is not None and is_pattern(rule.files):
        seen.uncounted = max(0, rule.count - len(seen.found))
    if rule.count is not None and len(seen.found) > rule.count:
        seen.different[rule.files] = f"{len(seen.found):,} files, and there should be {rule.count:,}"
    in_folder = Counter(each.rpartition("/")[0] for each in seen.found)
    if rule.folders is not None and seen.found and len(in_folder) != rule.folders:
        seen.different[rule.files.rpartition("/")[0]] = (
            f"{len(in_folder):,} folders, and there should be {rule.folders:,}"
        )
    if isinstance(rule.in_each, int):
        for folder, count in sorted(in_folder.items()):
            if count != rule.in_each:
                seen.different[f"{folder}/"] = f"{count:,} files, and there should be {rule.in_each:,}"
    elif rule.in_each is not None:
        by_name = Counter({folder.rpartition("/")[2]: count for folder, count in in_folder.items()})
        for name, wanted in rule.in_each.items():
            if by_name[name] != wanted:
                seen.different[f"{name}/"] = f"{by_name[name]:,} files, and there should be {wanted:,}"
