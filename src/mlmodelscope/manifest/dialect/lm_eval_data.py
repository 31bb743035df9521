"""Where a task of lm-evaluation-harness has its documents: local files, or a dataset of a hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from mlmodelscope.manifest.dialect.lm_eval_reading import Reading
from mlmodelscope.manifest.source import SourceList, SourceMap

_LOCAL = ("json", "csv", "parquet")
_HUB = "https://huggingface.co/datasets"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_SPLIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_WITHOUT_EFFECT = ("trust_remote_code", "streaming", "verification_mode", "cache_dir", "download_mode")


@dataclass(frozen=True)
class Pool:
    """Where examples come from: a file of the manifest's `files`, or documents that stand in the task."""

    file: str | None
    documents: Any
    same: bool
    """Whether a document that is asked about is taken out, as the harness decides it: by the names of the splits."""
    fewshot: SourceMap


def read_data(reading: Reading, made: SourceMap, kept: SourceMap) -> Pool:
    """Put `sources`, `split` and `files`; what examples are taken from is returned."""
    where = _files(reading, kept)
    splits = {key: reading.text(f"{key}_split") for key in ("test", "validation", "fewshot")}
    training = reading.data.get("training_split")
    asked = splits["test"] or splits["validation"]
    if asked is None:
        reading.refuse("test_split", "it has neither a `test_split` nor a `validation_split`")
    elif _SPLIT.fullmatch(asked) is None:
        reading.refuse("test_split", f"`{asked[:60]}` is not the name of a split")
    else:
        made.put("split", asked, reading.place("test_split" if splits["test"] else "validation_split"))
        _put_sources(reading, made, where, asked)
    fewshot = reading.mapping("fewshot_config")
    named = fewshot.pop("split", None) or splits["fewshot"]
    samples = fewshot.pop("samples", None)
    pool = named or (None if samples is not None else training or splits["validation"] or splits["test"])
    file = None
    wanted = reading.data.get("num_fewshot")
    if pool is not None and (wanted or (named and isinstance(where, dict))):
        file = _put_pool(reading, made, where, str(pool))
    elif named is not None:
        kept.put("fewshot_split", str(named), reading.place("fewshot_split"))
    return Pool(file, samples if named is None else None, named == splits["test"], fewshot)


class _Hub:
    """A dataset of Hugging Face's hub, of whose splits the first Parquet file is taken."""

    def __init__(self, path: str, name: str, revision: str) -> None:
        self._path, self._name, self._revision = path, name, revision

    def address(self, split: str) -> str:
        return (
            f"{_HUB}/{self._path}/resolve/{quote(self._revision, safe='')}/{quote(self._name)}/{quote(split)}/"
            "0000.parquet"
        )


def _files(reading: Reading, kept: SourceMap) -> dict[str, Any] | _Hub | None:
    """Files by split, or where a hub has them."""
    path, name = reading.text("dataset_path"), reading.text("dataset_name")
    options = reading.mapping("dataset_kwargs")
    for key, value in (("dataset_path", path), ("dataset_name", name)):
        if value:
            kept.put(key, value, reading.place(key))
    for key in _WITHOUT_EFFECT:
        options.pop(key, None)
    files = options.pop("data_files", None)
    revision = options.pop("revision", None)
    for key in options:
        reading.refuse(f"dataset_kwargs.{key}", "has no word here")
    if path is None:
        reading.refuse("dataset_path", "it does not say where its documents are")
        return None
    if path in _LOCAL:
        if files is None:
            reading.refuse("dataset_kwargs", "it does not say which files: `data_files`")
        return _by_split(files, reading, "")
    if not _NAME.fullmatch(path) or path.startswith("."):
        reading.refuse("dataset_path", f"`{path[:80]}` is neither json, csv or parquet nor a dataset of the hub")
        return None
    if files is not None:
        return _by_split(files, reading, f"{_HUB}/{path}/resolve/{quote(str(revision or 'main'), safe='')}/")
    reading.notes.add(
        "unclear",
        f"the documents of `{path}` are taken from the hub's Parquet copy, of each split its first file"
        + ("" if name else "; its configuration is supposed to be called `default`"),
        reading.place("dataset_path"),
    )
    if revision is not None:
        kept.put("revision", str(revision), reading.place("dataset_kwargs"))
        reading.notes.add("unclear", "the Parquet copy has no revisions", reading.place("dataset_kwargs"))
    return _Hub(path, name or "default", "refs/convert/parquet")


def _by_split(files: Any, reading: Reading, base: str) -> dict[str, Any]:
    listed = files if isinstance(files, SourceMap) else {"train": files}
    found: dict[str, Any] = {}
    for split, each in listed.items():
        names = list(each) if isinstance(each, SourceList) else [each]
        for name in names:
            if not isinstance(name, str) or not name or re.search(r"[*?\[\]]", name):
                reading.refuse("dataset_kwargs.data_files", f"`{str(name)[:80]}` is not the name of a file")
                continue
            address = name.replace("hf://datasets/", "", 1) if name.startswith("hf://datasets/") else None
            if address is not None:
                owner, _, rest = address.partition("/")
                repository, _, member = rest.partition("/")
                name = f"{_HUB}/{owner}/{repository}/resolve/main/{member}"
            elif base and "://" not in name:
                name = base + quote(name)
            found.setdefault(str(split), []).append(name)
    return found


def _addresses(reading: Reading, where: Any, split: str, key: str) -> list[str]:
    if isinstance(where, _Hub):
        return [where.address(split)]
    if where is None:
        return []
    if split not in where:
        reading.refuse(key, f"`data_files` has no split `{split[:60]}`; it has {', '.join(where)[:200]}")
        return []
    return list(where[split])


def _put_sources(reading: Reading, made: SourceMap, where: Any, split: str) -> None:
    place = reading.place("dataset_path")
    sources = SourceList()
    sources.place = place
    found = _addresses(reading, where, split, "test_split")
    for number, address in enumerate(found):
        source = SourceMap()
        source.place = place
        if len(found) > 1:
            source.put("name", f"part-{number}", place)
        source.put("url", address, place)
        sources.put(source, place)
    made.put("sources", sources, place, None if isinstance(where, dict) else "is where the hub has its documents")


def _put_pool(reading: Reading, made: SourceMap, where: Any, split: str) -> str | None:
    place = reading.place("fewshot_split")
    if _SPLIT.fullmatch(split) is None:
        reading.refuse("fewshot_split", f"`{split[:60]}` is not the name of a split")
        return None
    found = _addresses(reading, where, split, "fewshot_split")
    if len(found) > 1:
        reading.refuse("fewshot_split", "examples of several files cannot be drawn from yet")
    if not found:
        return None
    files, entry = SourceMap(), SourceMap()
    files.place = entry.place = place
    entry.put("url", found[0], place)
    files.put("examples", entry, place)
    made.put("files", files, place)
    return "examples"
