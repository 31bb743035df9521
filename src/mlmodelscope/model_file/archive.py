"""Zip archives of strangers: members by name, never written to disk, never larger than they may be."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from mlmodelscope.confine.zip_directory import check_directory
from mlmodelscope.model_file.limit import damaged, quote

ZIP_START = b"PK\x03\x04"

_LOCAL_HEADER = struct.Struct("<4s22xHH")
# A member costs some hundred bytes in the directory; models of tens of thousands of tensors stay below this.
_MAX_DIRECTORY_BYTES = 1 << 23
_MAX_MEMBERS = 1 << 17
# All that `zipfile` raises on bad archives; its NotImplementedError is a RuntimeError.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)


class Archive:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        try:
            window = _Window(data)
            check_directory(window, _MAX_MEMBERS, _MAX_DIRECTORY_BYTES)  # type: ignore[arg-type]
            with zipfile.ZipFile(window) as archive:
                self._members = {info.filename: info for info in archive.infolist()}
        except _ZIP_ERRORS as error:
            raise damaged(f"its zip archive cannot be read: {quote(str(error))}") from error

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str, limit_bytes: int) -> bytes:
        info = self._members.get(name)
        if info is None:
            raise damaged(f"{quote(name)} is missing in its zip archive")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise damaged(f"{quote(name)} is encrypted or compressed in a way that no model is")
        if max(info.file_size, info.compress_size) > limit_bytes:
            raise damaged(f"{quote(name)} claims {info.file_size:,} bytes, and {limit_bytes:,} would be many")
        packed = self._packed(info)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            try:
                # Not `archive.read`, which unpacks first and looks at the declared size afterwards.
                packed = memoryview(zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, info.file_size + 1))
            except zlib.error as error:
                raise damaged(f"{quote(name)} cannot be unpacked") from error
        if len(packed) != info.file_size or zlib.crc32(packed) != info.CRC:
            raise damaged(f"{quote(name)} is not what its zip archive says of it")
        return bytes(packed)

    def _packed(self, info: zipfile.ZipInfo) -> memoryview:
        offset = info.header_offset
        if offset < 0 or offset + _LOCAL_HEADER.size > len(self._data):
            raise damaged(f"{quote(info.filename)} lies outside the file")
        signature, name_bytes, extra_bytes = _LOCAL_HEADER.unpack_from(self._data, offset)
        start = offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
        packed = self._data[start : start + info.compress_size]
        if signature != ZIP_START or len(packed) != info.compress_size:
            raise damaged(f"{quote(info.filename)} lies outside the file")
        return packed


class _Window(io.RawIOBase):
    """A mapped file as `zipfile` wants it, which reads the whole directory at once, however large that claims to be."""

    def __init__(self, data: memoryview) -> None:
        self._view = data
        self._position = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._view)}[whence]
        if base + offset < 0:
            raise OSError("a place before the start of the file")
        self._position = base + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, len(self._view) - self._position)
        size = left if size is None or size < 0 else min(size, left)
        if size > _MAX_DIRECTORY_BYTES:
            raise OSError(f"a directory of {size:,} bytes")
        content = bytes(self._view[self._position : self._position + size])
        self._position += size
        return content
