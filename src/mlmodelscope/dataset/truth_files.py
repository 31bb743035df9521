"""Targets whose truth is a file, on their way to another machine: the file travels with them.

A target names its file as {"file": path}, a path of this machine. In a part of an evaluation it is {"truth": digest}
instead, and the part holds the bytes; whoever opens the part writes them where it likes. A path that comes from
elsewhere is refused: it would be a file of the reader.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_FOLDER = "truth/"
_DIGEST = re.compile(r"[0-9a-f]{64}")


def packed_target(target: Any, archive: zipfile.ZipFile) -> Any:
    """The target as it travels; its files are in the archive then."""
    if not isinstance(target, Mapping):
        return target
    return {name: _pack(value, archive) if _is_file(value) else value for name, value in target.items()}


def unpacked_target(target: Any, folder: Path) -> Any:
    """The target as this machine has it, its files being in `folder`; ValueError where it names others."""
    if not isinstance(target, Mapping):
        return target
    return dict(_unpacked(target, folder))


def unpack_truth(archive: zipfile.ZipFile, folder: Path) -> None:
    """Write the files of an archive's targets into a folder."""
    for entry in archive.infolist():
        if not entry.filename.startswith(_FOLDER):
            continue
        name = entry.filename.removeprefix(_FOLDER)
        if not _DIGEST.fullmatch(name):
            raise ValueError(f"`{entry.filename[:80]}` is not the name of a true picture")
        with archive.open(entry) as source, (folder / name).open("wb") as written:
            shutil.copyfileobj(source, written, 1 << 20)


def _is_file(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"file"}


def _pack(value: Mapping[str, str], archive: zipfile.ZipFile) -> dict[str, str]:
    content = Path(value["file"]).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if _FOLDER + digest not in archive.NameToInfo:
        archive.writestr(zipfile.ZipInfo(_FOLDER + digest), content)  # pictures are packed already
    return {"truth": digest}


def _unpacked(target: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, Any]]:
    for name, value in target.items():
        if _is_file(value):
            raise ValueError("a target names a file of this machine")
        if isinstance(value, Mapping) and value.keys() == {"truth"}:
            if not _DIGEST.fullmatch(str(value["truth"])):
                raise ValueError("a target names a true picture by something that is not a digest")
            value = {"file": str(folder / value["truth"])}
        yield name, value
