"""Taking files out of archives, which are hostile until shown otherwise.

Nothing is written outside the destination, links and devices are never created, and sizes are counted while they
are unpacked, whatever the archive's own headers promise.
"""

from __future__ import annotations

import fnmatch
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from mlmodelscope.errors import ArtifactError

MAX_MEMBERS = 2_000_000
MAX_BYTES = 512 << 30
MAX_RATIO = 2000  # unpacked ÷ packed: text compresses 1:1000 at most, bombs far more
_BLOCK = 1 << 20


def extract_member(archive: Path, member: str, destination: Path, strip_first: bool = False) -> None:
    """One member of an archive becomes the file `destination`; a folder or pattern becomes a folder of that name."""
    wanted = _matcher(member)
    found = False
    budget = _Budget(archive)
    for name, open_member in _members(archive, strip_first):
        relative = wanted(name)
        if relative is None:
            continue
        found = True
        target = destination if relative == "" else destination / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_member() as source, target.open("wb") as out:
            while block := source.read(_BLOCK):
                budget.spend(len(block))
                out.write(block)
    if not found:
        raise ArtifactError(f"{archive.name} has no member `{member}`", hint=_similar(archive, member, strip_first))


def _matcher(member: str) -> Callable[[str], str | None]:
    """Name of a member → where it goes below the destination, or None when it is not meant."""
    if member.endswith("/"):
        return lambda name: name[len(member) :] or None if name.startswith(member) else None
    if "*" in member:
        folder = member.rpartition("/")[0]
        return lambda name: (
            name.rpartition("/")[2] if name.rpartition("/")[0] == folder and fnmatch.fnmatchcase(name, member) else None
        )
    return lambda name: "" if name == member else None


class _Budget:
    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._limit = min(MAX_BYTES, max(archive.stat().st_size * MAX_RATIO, 1 << 20))
        self._spent = 0

    def spend(self, length: int) -> None:
        self._spent += length
        if self._spent > self._limit:
            raise ArtifactError(f"{self._archive.name} unpacks to more than {self._limit} bytes and is refused")


def _members(archive: Path, strip_first: bool) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    for count, (name, open_member) in enumerate(_raw_members(archive)):
        if count >= MAX_MEMBERS:
            raise ArtifactError(f"{archive.name} has more than {MAX_MEMBERS} members")
        yield _safe_name(name, archive, strip_first), open_member


def _safe_name(name: str, archive: Path, strip_first: bool) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part != "."]
    if path.is_absolute() or ".." in parts or (parts and ":" in parts[0]) or "\0" in name:
        raise ArtifactError(f"{archive.name} tries to write outside its folder (`{name}`) and is refused")
    return "/".join(parts[1:] if strip_first else parts)


def _raw_members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                for info in packed.infolist():
                    if not info.is_dir() and (info.external_attr >> 28) in (0, 8):  # plain files only
                        yield info.filename, lambda info=info: packed.open(info)  # type: ignore[misc]
            return
        with tarfile.open(archive, "r:*") as packed_tar:
            for entry in packed_tar:
                if entry.isfile():
                    yield entry.name, lambda entry=entry: packed_tar.extractfile(entry)  # type: ignore[misc]
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise ArtifactError(f"{archive.name} is not an archive that can be read: {error}") from None


def _similar(archive: Path, member: str, strip_first: bool) -> str | None:
    import difflib

    names = [name for name, _ in _members(archive, strip_first)]
    close = difflib.get_close_matches(member, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"it has {', '.join(f'`{name}`' for name in names[:5])}{' …' if len(names) > 5 else ''}" if names else None
