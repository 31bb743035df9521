"""Taking files out of archives, which are hostile until shown otherwise.

Nothing is written outside the destination, links and devices are never created, a member that announces too much is
not opened, and what comes out is counted a block at a time, whatever the archive's own headers promise.
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

from mlmodelscope.confine.zip_directory import check_directory
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.allowance import leave_room
from mlmodelscope.provision.unpack_stream import open_packed, open_zipped

MAX_MEMBERS = 2_000_000
MAX_BYTES = 512 << 30
MAX_RATIO = 2000  # unpacked ÷ packed: deflate reaches 1032 at most, bombs of other kinds far more
MIN_LIMIT = 16 << 20  # whatever the ratio: so little harms nobody
MAX_DEPTH = 64
_MAX_HEADER_BYTES = 1 << 20
_MAX_DIRECTORY_BYTES = 512 << 20
_BLOCK = 1 << 20
_LOOK_EVERY = 64 << 20
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
    archive: Path,
    member: str,
    destination: Path,
    *,
    strip_first: bool = False,
    called: str = "",
    most_bytes: int = MAX_BYTES,
) -> None:
    """One member of an archive becomes the file `destination`; a folder or pattern becomes a folder of that name.

    `called`: what messages should call the archive, where its path is not what people know it by.
    """
    wanted = _matcher(member)
    names: list[str] = []
    found = False
    budget = Budget(archive, called or archive.name, most_bytes)
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
                if budget.spent % _LOOK_EVERY < len(block):
                    leave_room(target.parent)
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

    def __init__(self, packed: Path, name: str, most_bytes: int = MAX_BYTES) -> None:
        self.name = name
        self._limit = min(most_bytes, max(packed.stat().st_size * MAX_RATIO, MIN_LIMIT))
        self.spent = 0

    def spend(self, length: int) -> None:
        self.spent += length
        self.check(self.spent)

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
    with archive.open("rb") as file:
        check_directory(file, MAX_MEMBERS, _MAX_DIRECTORY_BYTES)
        with zipfile.ZipFile(file) as packed:
            for info in packed.infolist():
                if info.is_dir():
                    continue
                if (info.external_attr >> 16) and stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                    yield info.filename, _refusal(budget.name, info.filename)
                else:
                    yield info.filename, lambda info=info: _open_zipped(packed, info, budget)  # type: ignore[misc]


def _open_zipped(packed: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> IO[bytes]:
    budget.check(budget.spent + info.file_size)  # before anything comes out
    return open_zipped(packed, info)


def _tar_members(archive: Path, budget: Budget) -> Iterator[tuple[str, Open]]:
    with _TarStream(archive, budget) as stream, tarfile.TarFile(fileobj=stream, tarinfo=_Header) as packed:  # type: ignore[arg-type]
        while (entry := packed.next()) is not None:
            packed.members.clear()  # type: ignore[attr-defined]  # it would remember all of them
            budget.check(entry.offset_data + entry.size)  # what is skipped is unpacked as well
            stream.expect_data()
            if entry.isfile():
                yield entry.name, lambda entry=entry: packed.extractfile(entry)  # type: ignore[misc]
            elif not entry.isdir():
                yield entry.name, _refusal(budget.name, entry.name)
            stream.expect_header(packed.offset)
        stream.expect_data()
        while stream.read(_BLOCK):  # up to the compressed stream's own checksum
            pass


class _TarStream:
    """What tarfile reads from. It keeps headers of any length in memory, so that none may be longer than a megabyte."""

    def __init__(self, archive: Path, budget: Budget) -> None:
        packed = open_packed(archive)
        self._file = packed if packed is not None else archive.open("rb")
        self._is_packed, self._budget = packed is not None, budget
        self._position = 0
        self.expect_header(0)

    def __enter__(self) -> _TarStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def expect_header(self, at: int) -> None:
        self._end: float = at + _MAX_HEADER_BYTES

    def expect_data(self) -> None:
        self._end = float("inf")

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self._position += len(block)
        if self._position > self._end:
            raise tarfile.ReadError(f"a header of more than {_MAX_HEADER_BYTES} bytes")
        if self._is_packed:
            self._budget.check(self._position)
        return block

    def seek(self, position: int) -> int:
        if not self._is_packed:
            self._position = self._file.seek(position)
            return position
        while self._position < position and self.read(min(_BLOCK, position - self._position)):
            pass
        if position < self._position:
            raise tarfile.ReadError("a member that begins before the one before it ends")
        return self._position


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
