"""Taking files out of archives, which are hostile until shown otherwise.

Nothing is written outside the destination, links and devices are never created, and sizes are counted while they
are unpacked, whatever the archive's own headers promise.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from mlmodelscope.errors import ArtifactError

MAX_MEMBERS = 2_000_000
MAX_BYTES = 512 << 30
MAX_RATIO = 2000  # unpacked ÷ packed: deflate reaches 1032 at most, bombs of other kinds far more
MIN_LIMIT = 16 << 20  # whatever the ratio: so little harms nobody
MAX_DEPTH = 64
_MAX_HEADER_BYTES = 1 << 20
_BLOCK = 1 << 20
_NAMES_FOR_HINT = 5000
_IN_MEMORY = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)

Open = Callable[[], IO[bytes]]


class MissingMember(ArtifactError):
    """A sound archive, but what is wanted is not in it."""


def extract_member(
    archive: Path, member: str, destination: Path, *, strip_first: bool = False, called: str = ""
) -> None:
    """One member of an archive becomes the file `destination`; a folder or pattern becomes a folder of that name.

    `called`: what messages should call the archive, where its path is not what people know it by.
    """
    wanted = _matcher(member)
    names: list[str] = []
    found = False
    budget = Budget(archive, called or archive.name)
    with _damage_named(budget.name):
        for name, open_member in _members(archive, strip_first, budget):
            relative = wanted(name)
            if relative is not None:
                found = True
                _write(name, open_member, destination / relative, budget)
            elif len(names) < _NAMES_FOR_HINT:
                names.append(name)
    if not found:
        raise MissingMember(f"{budget.name} has no member `{member}`", hint=_similar(member, names))


def member_names(archive: Path, called: str) -> list[str]:
    with _damage_named(called):
        return [name for name, _ in _members(archive, False, Budget(archive, called))]


def _write(name: str, open_member: Open, target: Path, budget: Budget) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_member() as source, target.open("xb") as out:
            while block := source.read(_BLOCK):
                budget.spend(len(block))
                out.write(block)
    except (FileExistsError, NotADirectoryError):
        # Two members of one name: which of them is meant, and whether a checker saw the same one, nobody knows.
        raise ArtifactError(f"{budget.name} holds `{name}` more than once and is refused") from None


def _matcher(member: str) -> Callable[[str], str | None]:
    """Name of a member → where it goes below the destination, or None when it is not meant."""
    if "*" in member:
        folder = member[: member.index("*")].rpartition("/")[0]
        start = len(folder) + 1 if folder else 0
        pattern = re.compile("[^/]*".join(re.escape(part) for part in member.split("*")))
        return lambda name: name[start:] if pattern.fullmatch(name) else None
    if member.endswith("/"):
        prefix = member.lstrip("/")
        return lambda name: name[len(prefix) :] or None if name.startswith(prefix) else None
    return lambda name: "" if name == member else None


class Budget:
    """How much may come out of a packed file."""

    def __init__(self, packed: Path, name: str) -> None:
        self.name = name
        self._limit = min(MAX_BYTES, max(packed.stat().st_size * MAX_RATIO, MIN_LIMIT))
        self._spent = 0

    def spend(self, length: int) -> None:
        self._spent += length
        self.check(self._spent)

    def check(self, length: int) -> None:
        if length > self._limit:
            raise ArtifactError(f"{self.name} unpacks to more than {self._limit} bytes and is refused")


def _members(archive: Path, strip_first: bool, budget: Budget) -> Iterator[tuple[str, Open]]:
    with archive.open("rb") as file:
        is_zip = file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")  # at its start: a tar may end with a zip
    members = _zip_members(archive, budget) if is_zip else _tar_members(archive, budget)
    for count, (name, open_member) in enumerate(members):
        if count >= MAX_MEMBERS:
            raise ArtifactError(f"{budget.name} has more than {MAX_MEMBERS} members")
        yield _safe_name(name, budget.name, strip_first), open_member


def _safe_name(name: str, archive: str, strip_first: bool) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part != "."]
    if path.is_absolute() or ".." in parts or re.match("[A-Za-z]:", name) or "\0" in name:
        raise ArtifactError(f"{archive} tries to write outside its folder (`{name}`) and is refused")
    if len(parts) > MAX_DEPTH:
        raise ArtifactError(f"{archive} nests more than {MAX_DEPTH} folders and is refused")
    return "/".join(parts[1:] if strip_first else parts)


def _zip_members(archive: Path, budget: Budget) -> Iterator[tuple[str, Open]]:
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            if info.is_dir():
                continue
            if (info.external_attr >> 16) and stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                yield info.filename, _refusal(budget.name, info.filename)
            else:
                yield info.filename, lambda info=info: packed.open(info)  # type: ignore[misc]


def _tar_members(archive: Path, budget: Budget) -> Iterator[tuple[str, Open]]:
    with tarfile.open(archive, "r:*", tarinfo=_Header) as packed:
        while (entry := packed.next()) is not None:
            packed.members.clear()  # type: ignore[attr-defined]  # it would remember all of them
            budget.check(entry.offset_data + entry.size)  # what is skipped is unpacked as well
            if entry.isfile():
                yield entry.name, lambda entry=entry: packed.extractfile(entry)  # type: ignore[misc]
            elif not entry.isdir():
                yield entry.name, _refusal(budget.name, entry.name)
        while packed.fileobj and (block := packed.fileobj.read(_BLOCK)):  # up to the compressed stream's own checksum
            budget.spend(len(block))


class _Header(tarfile.TarInfo):
    """A header as tarfile reads it, without its leniency."""

    @classmethod
    def fromtarfile(cls, packed: tarfile.TarFile) -> _Header:
        try:
            return super().fromtarfile(packed)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            # tarfile takes it for the archive's end: the files after it would be missing and nobody would know.
            raise tarfile.ReadError(str(error)) from None

    def _proc_member(self, packed: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _IN_MEMORY and self.size > _MAX_HEADER_BYTES:  # a small file may announce a terabyte of name
            raise tarfile.ReadError(f"a header of {self.size} bytes")
        found: tarfile.TarInfo = super()._proc_member(packed)  # type: ignore[misc]
        return found


def _refusal(archive: str, name: str) -> Open:
    def refuse() -> IO[bytes]:
        raise ArtifactError(f"`{name}` in {archive} is a link or device, which is never unpacked")

    return refuse


@contextlib.contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Every way in which the libraries say that the bytes make no sense."""
    try:
        yield
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # the disk's own trouble, not the stream's
            raise
        raise ArtifactError(f"{name} is damaged: {error}") from None
    except (zipfile.BadZipFile, tarfile.TarError, NotImplementedError, RuntimeError) as error:
        raise ArtifactError(f"{name} is not an archive that can be read: {error}") from None
    except (zlib.error, lzma.LZMAError, EOFError, ValueError, LookupError, OverflowError, struct.error) as error:
        raise ArtifactError(f"{name} is damaged: {error}") from None


def _similar(member: str, names: list[str]) -> str | None:
    close = difflib.get_close_matches(member, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"it has {', '.join(f'`{name}`' for name in names[:5])}{' …' if len(names) > 5 else ''}" if names else None
