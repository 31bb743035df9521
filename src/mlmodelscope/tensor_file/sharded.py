"""Weights in several files: a folder with an index that says which file has which tensor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote
from mlmodelscope.tensor_file.tensor import Tensor

_INDEX = ".index.json"
_MAX_INDEX_BYTES = 1 << 24
_MAX_FILES = 2000
_SHARD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.(safetensors|bin|pt|pth)")
_WHOLE = ("model.safetensors", "pytorch_model.bin")

ReadFile = Callable[[Path], dict[str, Tensor]]


def read_folder(folder: Path, read_file: ReadFile) -> dict[str, Tensor]:
    """The tensors of a folder: those of its one file, or of all files that its index names."""
    names = sorted(each.name for each in folder.iterdir())
    indexes = [name for name in names if name.endswith(_INDEX)]
    if not indexes:
        return read_file(folder / _only_file(names))
    # The same weights may lie there twice: safetensors are preferred, as libraries do.
    index = next((name for name in indexes if name.endswith(".safetensors" + _INDEX)), indexes[0])
    return _read_shards(folder, _places(folder / index), read_file)


def _only_file(names: list[str]) -> str:
    files = [name for name in names if _SHARD.fullmatch(name)]
    for whole in _WHOLE:
        if whole in files:
            return whole
    if len(files) == 1:
        return files[0]
    raise ArtifactError(
        f"the folder has {len(files)} files of weights and no index that says which tensor is where",
        hint="name the file itself, or add the index that belongs to the files: model.safetensors.index.json",
    )


def _places(index: Path) -> dict[str, str]:
    """Which file has which tensor; names of files that leave the folder are refused."""
    try:
        with index.open("rb") as file:
            raw = file.read(_MAX_INDEX_BYTES + 1)
        if len(raw) > _MAX_INDEX_BYTES:
            raise ArtifactError(f"the index is larger than {_MAX_INDEX_BYTES:,} bytes")
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise damaged("its index is not the JSON it should be") from error
    places = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(places, dict) or not places:
        raise damaged("its index has no `weight_map`")
    for name, file_name in places.items():
        if not isinstance(file_name, str) or not _SHARD.fullmatch(file_name):
            raise ArtifactError(
                f"the index says that tensor {quote(name)} is in {quote(str(file_name))}, which is not the name of a "
                "file of weights beside it"
            )
    return places


def _read_shards(folder: Path, places: Mapping[str, str], read_file: ReadFile) -> dict[str, Tensor]:
    files = sorted(set(places.values()))
    if len(files) > _MAX_FILES:
        raise ArtifactError(f"the index names {len(files):,} files; at most {_MAX_FILES:,} are read")
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        raise ArtifactError(f"the folder lacks {', '.join(missing[:5])}, which its index names", hint="fetch all files")
    tensors: dict[str, Tensor] = {}
    for file in files:
        found = read_file(folder / file)
        wanted = {name for name, place in places.items() if place == file}
        lost, more = sorted(wanted - found.keys()), sorted(found.keys() - wanted)
        if lost:
            raise damaged(f"{quote(file)} lacks tensor {quote(lost[0])}, which the index says is there")
        if more:
            raise damaged(f"{quote(file)} has tensor {quote(more[0])}, of which the index says otherwise")
        tensors |= found
    return tensors
