"""Files that lie packed in another: gzip, and the arrays of an `.npz` file. What comes out is kept in the cache."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import ArtifactError, DatasetError
from mlmodelscope.provision.archive import Budget, extract_member, member_names
from mlmodelscope.provision.artifact import ArtifactStore

IMAGE_ARRAYS = ("images", "x_test", "x", "data", "arr_0")
LABEL_ARRAYS = ("labels", "y_test", "y", "targets", "arr_1")

_BLOCK = 1 << 20


def unpack(file: NamedFile, arrays: tuple[str, ...], artifacts: ArtifactStore) -> NamedFile:
    """The file itself, or what is packed in it; of an `.npz`, the array with the first of these names."""
    if file.path.is_dir():
        return file
    if _starts_with(file.path, b"\x1f\x8b"):
        key = f"gunzip:{artifacts.digests([file.path])[0]}"
        return NamedFile(artifacts.derive(key, lambda draft: _gunzip(file, draft)), file.name.removesuffix(".gz"))
    if is_npz(file):
        return _array(file, arrays, artifacts)
    return file


def is_npz(file: NamedFile) -> bool:
    return file.path.is_file() and _starts_with(file.path, b"PK\x03\x04")


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _gunzip(file: NamedFile, draft: Path) -> None:
    budget = Budget(file.path, file.name)
    try:
        with gzip.open(file.path) as source, draft.open("wb") as out:
            while block := source.read(_BLOCK):
                budget.spend(len(block))
                out.write(block)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ArtifactError(f"{file.name} is damaged: {error}") from None


def _array(file: NamedFile, arrays: tuple[str, ...], artifacts: ArtifactStore) -> NamedFile:
    have = [name.removesuffix(".npy") for name in member_names(file.path, file.name)]
    name = next((name for name in arrays if name in have), None)
    if name is None:
        raise DatasetError(f"{file.name} has the arrays {', '.join(have[:20])}, none of {', '.join(arrays)}")
    key = f"npz:{name}:{artifacts.digests([file.path])[0]}"
    path = artifacts.derive(key, lambda draft: extract_member(file.path, f"{name}.npy", draft, called=file.name))
    return NamedFile(path, f"`{name}` in {file.name}")
