"""The two containers `torch.save` writes, read without torch: a zip, and, before 1.6, pickles in a row."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from mlmodelscope.confine.zip_directory import check_directory
from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote
from mlmodelscope.tensor_file.inert_pickle import MAX_BYTES, load_pickle
from mlmodelscope.tensor_file.state_dict import (
    KNOWN_GLOBALS,
    Budget,
    Storage,
    storage_from_identifier,
    tensors_from_module,
    tensors_from_state_dict,
)
from mlmodelscope.tensor_file.tensor import Tensor

ZIP_START = b"PK\x03\x04"
PICKLE_START = b"\x80"

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_MAX_MEMBERS = 1 << 17
_MAX_DIRECTORY_BYTES = 1 << 23
# All that `zipfile` raises on bad archives; its NotImplementedError is a RuntimeError.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)


def read_legacy(data: memoryview, key: str | None) -> dict[str, Tensor]:
    magic, position = load_pickle(data, 0)
    if magic != _LEGACY_MAGIC:
        raise ArtifactError(
            "it is a pickle, but not one that torch wrote; it was not run",
            hint="save the weights with torch.save(model.state_dict(), …) or as safetensors",
        )
    protocol, position = load_pickle(data, position)
    if protocol != _LEGACY_PROTOCOL:
        raise ArtifactError("it is in a version of torch's old format that nobody knows")
    _, position = load_pickle(data, position)  # the writer's word sizes: of no use
    storages: dict[str, Storage] = {}

    def remember(identifier: object) -> Storage:
        storage = storage_from_identifier(identifier)
        if storages.setdefault(storage.key, storage) != storage:
            raise damaged(f"storage {quote(storage.key)} is described in two ways")
        return storage

    content, position = load_pickle(data, position, KNOWN_GLOBALS, remember)
    keys, position = load_pickle(data, position)
    places = _legacy_places(data, position, keys, storages)

    def open_storage(storage: Storage) -> memoryview:
        if storage.key not in places:
            raise damaged(f"storage {quote(storage.key)} is missing")
        return places[storage.key]

    return tensors_from_state_dict(content, key, open_storage, Budget(len(data)))


def _legacy_places(
    data: memoryview, position: int, keys: object, storages: dict[str, Storage]
) -> dict[str, memoryview]:
    """Storages lie one behind the other, in the order of `keys`: each its element count, then its bytes."""
    places: dict[str, memoryview] = {}
    for key in keys if isinstance(keys, list) else [None]:
        if not isinstance(key, str) or key not in storages:
            raise damaged("its list of storages does not match its tensors")
        start, end = position + 8, position + 8 + storages[key].size_bytes
        if end > len(data):
            raise damaged(f"storage {quote(key)} ends at byte {end:,}, the file at {len(data):,}")
        if int.from_bytes(data[position:start], "little") != storages[key].count:
            raise damaged(f"storage {quote(key)} has another length than its tensors say")
        places[key] = data[start:end]
        position = end
    return places


def read_script(path: Path, data: memoryview) -> dict[str, Tensor]:
    """The parameters and buffers of a TorchScript module, by the names that its state dict would have."""
    return _of_archive(path, lambda archive: _Archive(archive, data).read_script())


def read_zip(path: Path, data: memoryview, key: str | None) -> dict[str, Tensor]:
    return _of_archive(path, lambda archive: _Archive(archive, data).read(key))


def _of_archive(path: Path, read: Callable[[zipfile.ZipFile], dict[str, Tensor]]) -> dict[str, Tensor]:
    try:
        with path.open("rb") as file:
            check_directory(file, _MAX_MEMBERS, _MAX_DIRECTORY_BYTES)
            with zipfile.ZipFile(file) as archive:
                return read(archive)
    except _ZIP_ERRORS as error:
        raise damaged(f"its zip archive cannot be read: {quote(str(error))}") from error


class _Archive:
    def __init__(self, archive: zipfile.ZipFile, data: memoryview) -> None:
        self._archive = archive
        self._data = data
        self._budget = Budget(len(data))
        self._opened: dict[str, memoryview] = {}
        self._folder = self._find_folder()

    def read(self, key: str | None) -> dict[str, Tensor]:
        content = self._load(None)
        return tensors_from_state_dict(content, key, self._open_storage, self._budget)

    def read_script(self) -> dict[str, Tensor]:
        return tensors_from_module(self._load("__torch__."), self._open_storage, self._budget)

    def _load(self, things: str | None) -> object:
        if self._has("byteorder") and bytes(self._open("byteorder", 64)) != b"little":
            raise ArtifactError("its numbers are big-endian, which is not supported")
        pickled = self._open("data.pkl", MAX_BYTES)
        return load_pickle(pickled, 0, KNOWN_GLOBALS, storage_from_identifier, things)[0]

    def _find_folder(self) -> str:
        for name in self._archive.NameToInfo:
            folder, slash, rest = name.partition("/")
            if slash and rest == "data.pkl":
                return folder
        raise ArtifactError("it is a zip archive, but not one that torch wrote: it has no data.pkl")

    def _open_storage(self, storage: Storage) -> memoryview:
        content = self._open(f"data/{storage.key}")
        if len(content) < storage.size_bytes:
            raise damaged(f"storage {quote(storage.key)} is shorter than its tensors say")
        return content

    def _has(self, name: str) -> bool:
        return f"{self._folder}/{name}" in self._archive.NameToInfo

    def _open(self, name: str, limit_bytes: int | None = None) -> memoryview:
        if name not in self._opened:
            if not self._has(name):
                raise damaged(f"{quote(name)} is missing")
            info = self._archive.NameToInfo[f"{self._folder}/{name}"]
            if limit_bytes is not None and info.file_size > limit_bytes:
                raise damaged(f"{quote(name)} claims {info.file_size:,} bytes")
            self._opened[name] = self._unpack(info)
        return self._opened[name]

    def _unpack(self, info: zipfile.ZipInfo) -> memoryview:
        """A view into the file when the member is stored, as torch does it; a copy when it is deflated."""
        name = quote(info.filename)
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArtifactError(f"{name} is encrypted or compressed in a way torch does not use")
        signature, name_bytes, extra_bytes = _LOCAL_HEADER.unpack_from(self._data, info.header_offset)
        start = info.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes
        content = self._data[start : start + info.compress_size]
        if signature != ZIP_START or info.header_offset < 0 or len(content) != info.compress_size:
            raise damaged(f"{name} lies outside the file")
        if info.compress_type == zipfile.ZIP_DEFLATED:
            self._budget.spend(info.file_size)
            # Not `archive.read`, which unpacks first and looks at the declared size afterwards.
            unpacked = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, info.file_size + 1)
            content = memoryview(unpacked)
        if len(content) != info.file_size:
            raise damaged(f"{name} has another length than declared")
        return content
