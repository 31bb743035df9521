"""Small files that stand for much: what strangers send to fill a machine's memory or disk."""

import base64
import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable

MEMBER = "x/c0/a.jpg"
_ZEROS = base64.b85decode(
    "LRx4!F+o`-Q&|oP;@<&Zjz9pw000Oe05E_}Mna$^sS1FXF+o`-Q&|oP;@<&Zjz9pw000Oe05E_}Mna$^sS1FXF+o`-Q&|oP;@<&Z"
    "jz9pw000Oe05E_}Mna$^sS1FXF+o`-Q&|oP;@<&Zjz9pw000Oe05E_}Mna$^sS1FXF+o`-Q&|oP;@<&Zjz9pw000Oe05E_}Mna$^"
    "sS1FXF+o`-Q&}F)<l6x%KfnOM1ONyi05Hr2DW<BZNgDtnNbz?hQ-uizv3#!p"
)
"""256 MiB of zeros, as bzip2 packs them."""
_SOME = 16 << 20


def bomb(name: str) -> bytes:
    """An archive whose member `x/c0/a.jpg` is many megabytes of zeros, or something worse."""
    return _BOMBS[name]()


def _zip(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=1) as packed, packed.open(MEMBER, "w") as member:
        for _ in range(64):
            member.write(bytes(1 << 20))
    return out.getvalue()


def _zip_bzip2() -> bytes:
    """Its member is written as if it were stored; then its headers say what it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr(MEMBER, _ZEROS)
    body = bytearray(out.getvalue())
    at = body.rindex(b"PK\1\2")
    crc = 0
    for _ in range(16):
        crc = zlib.crc32(bytes(_SOME), crc)
    for place in (8, at + 10):
        body[place : place + 2] = struct.pack("<H", zipfile.ZIP_BZIP2)
        body[place + 6 : place + 10] = struct.pack("<I", crc)
        body[place + 14 : place + 18] = struct.pack("<I", 16 * _SOME)
    return bytes(body)


def _with_size(body: bytes, size: int) -> bytes:
    """The same zip, whose headers say that a member has `size` bytes."""
    at = body.rindex(b"PK\1\2")
    return body[: at + 24] + struct.pack("<I", size) + body[at + 28 :]


def _tar(pack: Callable[[bytes], bytes]) -> bytes:
    """Several packed streams, one after the other, as parallel packers write them."""
    entry = tarfile.TarInfo(MEMBER)
    entry.size = 16 * _SOME
    return pack(entry.tobuf()) + pack(bytes(_SOME)) * 16 + pack(bytes(1024))


def _tar_bz2() -> bytes:
    return bz2.compress(_tar(lambda body: body)[:512]) + _ZEROS + bz2.compress(bytes(1024))


def _with_dictionary(body: bytes) -> bytes:
    """The same xz stream, which says that it needs a dictionary of 1.5 GiB."""
    length = (body[12] + 1) * 4
    head = bytearray(body[12 : 12 + length - 4])
    head[head.index(b"\x21\x01") + 2] = 37
    return body[:12] + bytes(head) + struct.pack("<I", zlib.crc32(head)) + body[12 + length :]


def _endless_header() -> bytes:
    """A sparse file whose list of pieces goes on and on."""
    entry = tarfile.TarInfo(MEMBER)
    entry.type = tarfile.GNUTYPE_SPARSE
    head = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    head[482] = 1
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    piece = b"00000000001\0" * 42 + b"\1" + bytes(7)
    return bytes(head) + piece * 100_000


_BOMBS: dict[str, Callable[[], bytes]] = {
    "zip-bzip2": _zip_bzip2,
    "zip-lzma": lambda: _zip(zipfile.ZIP_LZMA),
    "zip-deflate": lambda: _zip(zipfile.ZIP_DEFLATED),
    "zip-bzip2-lies": lambda: _with_size(_zip_bzip2(), 1000),
    "zip-lzma-lies": lambda: _with_size(_zip(zipfile.ZIP_LZMA), 1000),
    "zip-deflate-lies": lambda: _with_size(_zip(zipfile.ZIP_DEFLATED), 1000),
    "tar-gz": lambda: _tar(lambda body: gzip.compress(body, 1)),
    "tar-bz2": _tar_bz2,
    "tar-xz": lambda: _tar(lambda body: lzma.compress(body, preset=0)),
    "tar-xz-dictionary": lambda: _with_dictionary(_tar(lambda body: lzma.compress(body, preset=0))),
    "tar-gz-sparse": lambda: gzip.compress(_endless_header(), 1),
}
NAMES = tuple(_BOMBS)
