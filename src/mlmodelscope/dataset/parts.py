"""Samples that are texts, rows or sounds: their parts, and what identifies them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.lines import refuse_half_characters
from mlmodelscope.dataset.sample import NamedFile, Unlabelled, Word
from mlmodelscope.errors import DatasetError
from mlmodelscope.provision.hashing import hash_file

_LONGEST_ID = 1000


def text_part(text: Any, where: str) -> dict[str, str]:
    """The form of a text; an error names the place where it is something else."""
    if not isinstance(text, str):
        raise DatasetError(f"{where} has " + ("no text" if text is None else f"{str(text)[:80]} in place of a text"))
    refuse_half_characters(text, where)
    return {"text": text}


def sound_part(path: Path, start: float | None = None, seconds: float | None = None) -> dict[str, Any]:
    """The form of a sound file, or of a piece of one."""
    part: dict[str, Any] = {"file": str(path)}
    if start is not None or seconds is not None:
        part["start"] = start or 0.0
    if seconds is not None:
        part["seconds"] = seconds
    return part


def sample_of(
    name: str, parts: Mapping[str, Mapping[str, Any]], word: Word | None = None, target: Any = None
) -> Unlabelled:
    """A sample of these parts. One that is a whole file is that file, and hashed with all others."""
    files = [part["file"] for part in parts.values() if "file" in part]
    content: dict[str, Any] = {"parts": {key: dict(part) for key, part in parts.items()}}
    if files and len(parts) == 1 and all(len(part) == 1 for part in parts.values()):
        return Unlabelled(name, {**content, "file": files[0]}, word, target=target)
    return Unlabelled(name, content, word, digest_of_parts(parts), target)


def digest_of_parts(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """What identifies a sample by its parts: of a file its content, wherever it lies."""
    known = {
        key: {**part, "file": _hash(part["file"])} if "file" in part else dict(part) for key, part in parts.items()
    }
    return digest_of(known)


def digest_of(value: Any) -> str:
    """sha256 of the canonical JSON of something."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _hash(path: str) -> str:
    """Many samples are pieces of one file, which is read once."""
    state = Path(path).stat()
    return _hash_state(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _hash_state(path: str, size: int, changed_ns: int) -> str:
    return hash_file(Path(path))


def name_of(value: Any, where: str) -> str:
    """The id that a table gives a sample."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise DatasetError(f"{where} has no id that can be used: {str(value)[:80] or 'it is empty'}")
    name = str(value)
    if len(name) > _LONGEST_ID or not name.isprintable():
        raise DatasetError(f"{where} has an id of {len(name)} characters that cannot be used: {name[:60]!r}")
    return name


def inside(root: NamedFile, name: Any, where: str) -> Path:
    """A file below the source's folder by the name that somebody wrote; no other place can be named."""
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise DatasetError(f"{where} names no file: {str(name)[:80]!r}")
    if not root.path.is_dir():
        raise DatasetError(f"{where} names the file `{name[:80]}`, and {root.name} is not a folder")
    relative = name.strip().replace("\\", "/").removeprefix("./")
    if relative.startswith("/") or relative[1:2] == ":" or ".." in relative.split("/"):
        raise DatasetError(
            f"{where} names a file outside the source's folder: `{name[:200]}`",
            hint=f"names of files count from the source's folder, {root.name}",
        )
    path = root.path / relative
    try:
        is_inside = path.resolve().is_relative_to(root.path.resolve())
        if is_inside and path.is_file():
            return path
    except (OSError, RuntimeError, ValueError):  # a name that no file system takes, a circle of links
        is_inside = True
    if not is_inside:
        raise DatasetError(f"{where} names a file outside the source's folder: `{name[:200]}`")
    raise DatasetError(f"{where} names the file `{name[:200]}`, which {root.name} does not hold")
