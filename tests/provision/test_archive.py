"""Hostile and damaged archives: each is refused with a message, and nothing lands outside."""

import bz2
import gzip
import io
import lzma
import random
import shutil
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from packages import make_tar, make_tar_of, make_zip

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision import archive
from mlmodelscope.provision.archive import extract_member


@dataclass
class Box:
    """A folder to unpack in."""

    root: Path

    @property
    def out(self) -> Path:
        return self.root / "out"

    def take(self, body: bytes, member: str = "in/") -> Path:
        """Write the bytes of an archive and take a member out of it."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        (self.root / "data.bin").write_bytes(body)
        extract_member(self.root / "data.bin", member, self.out)
        return self.out


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "box")


ESCAPES = ["../evil", "in/../../evil", "/evil", "\\evil", "in\\..\\..\\evil", "C:\\evil", "c:evil", "//host/evil"]


@pytest.mark.parametrize("make", [make_zip, make_tar])
@pytest.mark.parametrize("name", ESCAPES)
def test_a_member_that_reaches_outside_is_refused(
    box: Box, tmp_path: Path, make: Callable[..., bytes], name: str
) -> None:
    with pytest.raises(ArtifactError, match="outside its folder"):
        box.take(make({"in/a": b"a", name: b"evil"}))
    assert {path.name for path in tmp_path.iterdir()} == {"box"}


def link(kind: bytes, target: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo("in/a")
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc/passwd", "b"])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
@pytest.mark.parametrize("member", ["in/", "in/a", "in/*"])
def test_links_and_devices_are_never_made(box: Box, kind: bytes, target: str, member: str) -> None:
    with pytest.raises(ArtifactError, match=r"`in/a` in data\.bin is a link or device"):
        box.take(make_tar_of(link(kind, target)), member)


def test_a_link_elsewhere_in_the_archive_is_no_trouble(box: Box) -> None:
    wanted = tarfile.TarInfo("other/b")
    wanted.size = 3
    assert box.take(make_tar_of(link(tarfile.SYMTYPE, "/etc/passwd"), wanted), "other/b").read_bytes() == b"xxx"


def test_a_link_in_a_zip_is_never_made(box: Box) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        info = zipfile.ZipInfo("in/a")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/passwd")
    with pytest.raises(ArtifactError, match="link or device"):
        box.take(out.getvalue())


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["in/a", "in//a", "./in/a", "in\\a", "in/a/b"])
def test_two_members_of_one_name_are_refused(box: Box, second: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("in/a", "good")
        packed.writestr(second, "evil")
    with pytest.raises(ArtifactError, match="more than once"):
        box.take(out.getvalue())
    with pytest.raises(ArtifactError, match="more than once"):
        box.take(make_tar_of(tarfile.TarInfo("in/a"), tarfile.TarInfo(second)))


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MIN_LIMIT", 1000)
    monkeypatch.setattr(archive, "MAX_RATIO", 100)


@pytest.mark.parametrize("make", [make_zip, make_tar, lambda files: make_tar(files, "w:xz")])
@pytest.mark.parametrize("member", ["in/a", "in/"])
def test_a_bomb_is_refused(box: Box, small_limits: None, make: Callable[..., bytes], member: str) -> None:
    with pytest.raises(ArtifactError, match=r"data\.bin unpacks to more than \d+ bytes"):
        box.take(make({"in/a": b"\0" * 3_000_000}), member)


def test_a_bomb_beside_what_is_wanted_is_not_unpacked(box: Box, small_limits: None) -> None:
    with pytest.raises(ArtifactError, match="unpacks to more"):
        box.take(make_tar({"bomb": b"\0" * 3_000_000, "in/a": b"a"}, "w:xz"), "in/a")


def test_a_bomb_behind_the_end_is_not_unpacked(box: Box, small_limits: None) -> None:
    plain = make_tar({"in/a": b"a"}, "w")
    with pytest.raises(ArtifactError, match="unpacks to more"):
        box.take(lzma.compress(plain + b"\0" * 3_000_000), "in/a")


def test_a_file_that_is_mostly_holes_is_counted_in_full(box: Box, small_limits: None, tmp_path: Path) -> None:
    sparse = tarfile.TarInfo("in/a")
    sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 0
    head = bytearray(sparse.tobuf(tarfile.GNU_FORMAT))
    head[483:495] = b"%011o\0" % (1 << 30)  # the size once the holes are filled
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    with pytest.raises(ArtifactError, match="unpacks to more"):
        box.take(bytes(head) + b"\0" * 1024)


def test_a_name_as_long_as_a_terabyte_is_not_read_into_memory(box: Box) -> None:
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
    with pytest.raises(ArtifactError, match="a header of 1099511627776 bytes|can be read"):
        box.take(make_tar({"in/a": b"a"}, "w")[:1024] + name.tobuf(tarfile.GNU_FORMAT) + b"x" * 1024, "in/b")


def test_too_many_members_are_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBERS", 10)
    for make in (make_zip, make_tar):
        with pytest.raises(ArtifactError, match="more than 10 members"):
            box.take(make({f"in/{number}": b"" for number in range(11)}), "nothing")


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_deep_folders_are_refused(box: Box, make: Callable[..., bytes]) -> None:
    with pytest.raises(ArtifactError, match="nests more than 64 folders"):
        box.take(make({"in/" + "a/" * 1500 + "b": b"b"}))


def test_a_protected_zip_says_so(box: Box) -> None:
    body = bytearray(make_zip({"in/a": b"a" * 20}))
    body[6] |= 1  # the flag in the member's own header and in the directory
    body[body.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ArtifactError, match="encrypted"):
        box.take(bytes(body))


def test_a_zip_at_the_end_of_a_tar_does_not_make_it_a_zip(box: Box) -> None:
    body = make_tar({"in/a": b"a", "in/last.zip": make_zip({"in/a": b"evil"})}, "w")
    assert box.take(body, "in/a").read_bytes() == b"a"


@pytest.mark.parametrize(
    "body", [b"", b"hello", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\0", b"\0" * 10]
)
def test_what_is_no_archive_is_refused(box: Box, body: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"data\.bin"):
        box.take(body)


CONTENT = {"in/a": random.Random(1).randbytes(5000), "in/b": b"b" * 3000, "in/c": random.Random(2).randbytes(100)}
GOOD = {
    "zip": make_zip(CONTENT),
    "stored": make_zip(CONTENT, zipfile.ZIP_STORED),
    "bzip2": make_zip(CONTENT, zipfile.ZIP_BZIP2),
    "lzma": make_zip(CONTENT, zipfile.ZIP_LZMA),
    "tar": make_tar(CONTENT, "w"),
    "tar.gz": make_tar(CONTENT, "w:gz"),
    "tar.bz2": make_tar(CONTENT, "w:bz2"),
    "tar.xz": make_tar(CONTENT, "w:xz"),
}


def unpacked(box: Box, body: bytes) -> dict[str, bytes] | None:
    """What came out, or None where the archive was refused."""
    try:
        return {f"in/{path.name}": path.read_bytes() for path in box.take(body).iterdir()}
    except ArtifactError:
        return None


@pytest.mark.parametrize("kind", GOOD)
def test_a_sound_archive_comes_out_whole(box: Box, kind: str) -> None:
    assert unpacked(box, GOOD[kind]) == CONTENT


@pytest.mark.parametrize("kind", [kind for kind in GOOD if kind != "tar"])
def test_no_damage_of_a_compressed_archive_goes_unnoticed(box: Box, kind: str) -> None:
    """Every flipped byte gives the right files or a refusal, and never any other exception."""
    body = GOOD[kind]
    for place in range(0, len(body), max(1, len(body) // 60)):
        damaged = body[:place] + bytes([body[place] ^ 0xFF]) + body[place + 1 :]
        found = unpacked(box, damaged)
        assert found is None or all(CONTENT.get(name) == content for name, content in found.items()), place


@pytest.mark.parametrize("kind", GOOD)
def test_no_cut_goes_unnoticed(box: Box, kind: str) -> None:
    body = GOOD[kind]
    end = body.rindex(CONTENT["in/c"]) if kind == "tar" else len(body)  # a tar ends with many zeros
    for length in range(1, end, max(1, len(body) // 40) | 1):
        assert unpacked(box, body[:length]) is None, length


def test_a_damaged_header_in_the_middle_is_not_the_end(box: Box) -> None:
    body = bytearray(GOOD["tar"])
    body[body.index(b"in/b")] ^= 1
    with pytest.raises(ArtifactError, match="bad checksum|damaged|read"):
        box.take(bytes(body))


def test_the_streams_own_checksum_is_read(box: Box) -> None:
    body = bytearray(gzip.compress(GOOD["tar"]))
    body[-8] ^= 1
    with pytest.raises(ArtifactError, match="CRC"):
        box.take(bytes(body))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_random_bytes_in_a_stream_are_named_damage(box: Box, pack: Callable[[bytes], bytes]) -> None:
    body = pack(GOOD["tar"])
    with pytest.raises(ArtifactError, match=r"data\.bin"):
        box.take(body[:40] + random.Random(3).randbytes(len(body)))


def test_a_zip_that_lies_about_sizes_is_refused(box: Box) -> None:
    body = bytearray(make_zip({"in/a": b"a" * 1000}))
    place = body.index(b"PK\x01\x02")
    body[place + 24 : place + 28] = struct.pack("<I", 10)  # ten bytes, it says
    with pytest.raises(ArtifactError, match=r"data\.bin"):
        box.take(bytes(body))
