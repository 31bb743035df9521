"""Zip files from somebody else, opened with care: how much is in them is known before anything is unpacked."""

from __future__ import annotations

import contextlib
import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from mlmodelscope.confine.zip_directory import TooManyMembers, check_directory
from mlmodelscope.errors import UsageError

_FILES = 10_000
_LARGEST_DIRECTORY = 8 << 20
_RATIO = 200
_ALWAYS_FINE = 64 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_LONGEST_NAME = 200
_DEEPEST = 10
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    IndexError,
)


@contextlib.contextmanager
def opened(path: Path, largest: int, what: str) -> Iterator[zipfile.ZipFile]:
    """A zip file whose entries, by what it says of them, are no bomb. Whatever is wrong with it is a UsageError."""
    try:
        with path.open("rb") as file:
            _check_directory(file, what)
            with zipfile.ZipFile(file) as packed:
                _check_entries(packed, path.stat().st_size, largest, what)
                yield packed
    except _BROKEN as error:
        raise UsageError(f"this is no {what}: {error}") from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # which a place before the file's beginning is
            raise
        raise UsageError(f"this is no {what}: its list of files is not in it") from None


def _check_directory(file: BinaryIO, what: str) -> None:
    """Before it is read: a list of a hundred million names would fill the memory by itself."""
    try:
        check_directory(file, _FILES, _LARGEST_DIRECTORY)
    except TooManyMembers:
        raise UsageError(f"the {what} holds too many files") from None


def _check_entries(packed: zipfile.ZipFile, size: int, largest: int, what: str) -> None:
    entries = packed.infolist()
    total = sum(entry.file_size for entry in entries)
    if len(entries) > _FILES:
        raise UsageError(f"the {what} holds too many files")
    if total > min(largest, max(_ALWAYS_FINE, _RATIO * size)):
        raise UsageError(f"the {what} would take too much space")
    for entry in entries:
        if entry.compress_type not in _METHODS or entry.flag_bits & _ENCRYPTED:
            raise UsageError(f"the {what} is packed in a way that is not used here")


def safe_path(name: str, what: str) -> PurePosixPath:
    """A name inside as a path that stays inside."""
    parts = name.split("/")
    if "\\" in name or len(parts) > _DEEPEST or not all(map(_is_plain, parts)):
        raise UsageError(f"the {what} names a file outside its folder, or oddly: {name[:100]!r}")
    return PurePosixPath(name)


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..") and part.isprintable() and len(part.encode()) <= _LONGEST_NAME
