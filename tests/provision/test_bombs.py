"""Archives that are small and stand for much are refused, and take little memory until they are."""

import io
import lzma
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packages import make_tar

from bombs import MEMBER, NAMES, bomb
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.archive import extract_member

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="nothing here says how much memory was taken"
)
UNPACK = """
import re, sys
from pathlib import Path
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision import archive
archive.MIN_LIMIT = int(sys.argv[4])
try:
    archive.extract_member(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    print("unpacked")
except ArtifactError as error:
    print("refused:", error.message)
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def unpack(place: Path, name: str, member: str, limit: int) -> str:
    """What a process says that unpacks a bomb; it fails where that took more than 200 MB."""
    (place / "data.bin").write_bytes(bomb(name))
    command = [sys.executable, "-c", UNPACK, place / "data.bin", member, place / "out", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said, peak_kb = done.stdout.rsplit("\n", 2)[:2]
    assert int(peak_kb) < 200 << 10, said
    return said


@needs_proc
@pytest.mark.parametrize("name", sorted({*NAMES} - {"zip-deflate", "tar-gz"}))
def test_a_bomb_is_refused_and_takes_little_memory(tmp_path: Path, name: str) -> None:
    assert unpack(tmp_path, name, MEMBER, 16 << 20).startswith("refused: data.bin")
    assert not (tmp_path / "out").exists() or (tmp_path / "out").stat().st_size <= 17 << 20


@needs_proc
@pytest.mark.parametrize("name", ["zip-bzip2", "zip-lzma", "zip-deflate", "tar-gz", "tar-bz2", "tar-xz"])
def test_what_is_large_and_may_be_takes_little_memory(tmp_path: Path, name: str) -> None:
    assert unpack(tmp_path, name, "x/", 1 << 40) == "unpacked"
    assert (tmp_path / "out" / "c0" / "a.jpg").stat().st_size in (64 << 20, 256 << 20)


def test_a_member_that_announces_too_much_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(bomb("zip-bzip2"))
    with pytest.raises(ArtifactError, match="unpacks to more than"):
        extract_member(tmp_path / "data.zip", MEMBER, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size", [0, 1, 999, 1001, 200_000])
@pytest.mark.parametrize("method", ["bzip2", "lzma"])
def test_unusual_ways_to_pack_a_zip_are_read(tmp_path: Path, method: str, size: int) -> None:
    body = random.Random(size).randbytes(size)
    with zipfile.ZipFile(tmp_path / "data.zip", "w", getattr(zipfile, f"ZIP_{method.upper()}")) as packed:
        packed.writestr("a", body)
    extract_member(tmp_path / "data.zip", "a", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == body


@pytest.mark.parametrize("method", ["bzip2", "lzma"])
def test_a_wrong_checksum_of_such_a_member_is_seen(tmp_path: Path, method: str) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", getattr(zipfile, f"ZIP_{method.upper()}")) as packed:
        packed.writestr("a", b"abc" * 1000)
    body = bytearray(out.getvalue())
    body[body.rindex(b"PK\1\2") + 16] ^= 1
    (tmp_path / "data.zip").write_bytes(body)
    with pytest.raises(ArtifactError, match="not what its zip file says"):
        extract_member(tmp_path / "data.zip", "a", tmp_path / "out")


def test_several_xz_streams_are_one_archive(tmp_path: Path) -> None:
    """As parallel packers write them, filled up with zeros."""
    body = make_tar({"a": b"a" * 5000, "b": b"b"}, "w")
    (tmp_path / "data.tar.xz").write_bytes(lzma.compress(body[:3000]) + bytes(8) + lzma.compress(body[3000:]))
    extract_member(tmp_path / "data.tar.xz", "a", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"a" * 5000
