"""Sound files, and what is said in them or what they are: five ways in which people keep the two together."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from mlmodelscope.dataset.boxes import is_finite
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden
from mlmodelscope.dataset.lines import lines_of
from mlmodelscope.dataset.parts import inside, name_of, sample_of, sound_part
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.table import samples_of
from mlmodelscope.dataset.targets import BY_TASK, texts
from mlmodelscope.dataset.text import read_json
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files

_SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".aac", ".aif", ".aiff", ".sph", ".raw", ".pcm")
_NOISE = "_background_noise_"
_LISTS = {"validation": "validation_list.txt", "test": "testing_list.txt"}
_SPLITS = {"valid": "validation", "dev": "validation", "val": "validation", "testing": "test", "training": "train"}

Pairs = Iterator[tuple[str, str, str]]
"""(where it stands, the name of a sound without its ending, what is said)."""


@dataset_format("audio", names_classes=True)
def read_audio(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Sound files: NeMo's manifest, LibriSpeech's folders, Sphinx's transcription, a table, or a folder a class."""
    if not source.path.is_dir():
        raise DatasetError(
            f"{source.name} is not a folder of sound files",
            hint="for an archive, name a folder in it: `archive.zip#folder/`, or `archive.zip#/` for all of it",
        )
    names = [name for name in list_files(source.path) if not is_hidden(name)]
    if labels is not None:
        return _labeled(source, labels, names, dataset)
    sounds = [name for name in names if _is_sound(name, dataset.include)]
    if not sounds:
        raise DatasetError(f"{source.name} holds no sound file whose name matches `{dataset.include}`")
    spoken = [name for name in names if name.endswith(".trans.txt")]
    if spoken:
        return _transcribed(source, sounds, _librispeech(source, spoken), dataset)
    if "transcription" in names:
        listed = _ids(NamedFile(source.path / "fileids", "fileids")) if "fileids" in names else None
        said = _sphinx(NamedFile(source.path / "transcription", "transcription"))
        return _transcribed(source, sounds, said, dataset, listed)
    return _in_folders(source, names, sounds, dataset)


def _labeled(source: NamedFile, labels: NamedFile, names: Sequence[str], dataset: PlannedDataset) -> list[Unlabelled]:
    """By a file that names the sounds; what it is shows in its first line."""
    if labels.path.is_dir():
        raise DatasetError(f"{labels.name} is a folder; `labels_url` of sounds is a file")
    if dataset.columns is not None:
        return samples_of(labels, source, dataset, dataset.columns)
    first = next((line for _, line in lines_of(labels) if line.strip()), "")
    if first.lstrip().startswith("{"):
        return _nemo(source, labels, dataset)
    sounds = [name for name in names if _is_sound(name, dataset.include)]
    if _in_parentheses(first) is not None:
        return _transcribed(source, sounds, _sphinx(labels), dataset)
    if labels.name.endswith(".trans.txt"):
        return _transcribed(source, sounds, _spoken(labels, ""), dataset)
    raise DatasetError(
        f"{labels.name} is neither NeMo's manifest nor a transcription",
        hint="for a table, say which columns are what: `columns: {audio: file, target: text}`",
    )


def _nemo(source: NamedFile, manifest: NamedFile, dataset: PlannedDataset) -> list[Unlabelled]:
    found, seen = [], set()
    for number, line in lines_of(manifest):
        where = f"line {number} of {manifest.name}"
        if not line.strip():
            continue
        row = read_json(line, NamedFile(manifest.path, where))
        if not isinstance(row, dict):
            raise DatasetError(f"{where} is not an object")
        path = inside(source, row.get("audio_filepath"), where)
        start, seconds = (_time(row, key, where) for key in ("offset", "duration"))
        if start is None:  # the whole file, whatever its length was when the manifest was written
            seconds = None
        name = name_of(f"{row['audio_filepath']}" + (f"@{start:g}" if start is not None else ""), where)
        if name in seen:
            raise DatasetError(f"{where} has the sound `{name[:80]}`, which an earlier line has")
        seen.add(name)
        key = next((each for each in ("text", "label", "command") if each in row), "text")
        word, target = _truth(dataset)([row.get(key)], where)
        found.append(sample_of(name, {"audio": sound_part(path, start, seconds)}, word, target))
    return found


def _time(row: dict[str, Any], key: str, where: str) -> float | None:
    value = row.get(key)
    if value is None:
        return None
    if not is_finite(value) or value < 0:
        raise DatasetError(f"{where} has the {key} {str(value)[:40]}, not a number of seconds")
    return float(value)


def _librispeech(source: NamedFile, names: Sequence[str]) -> Pairs:
    for name in names:
        yield from _spoken(NamedFile(source.path / name, name), str(PurePosixPath(name).parent))


def _spoken(file: NamedFile, folder: str) -> Pairs:
    for number, line in lines_of(file):
        if line.strip():
            name, _, text = line.strip().partition(" ")
            yield f"line {number} of {file.name}", f"{folder}/{name}" if folder not in ("", ".") else name, text


def _sphinx(file: NamedFile) -> Pairs:
    for number, line in lines_of(file):
        where = f"line {number} of {file.name}"
        parted = _in_parentheses(line)
        if parted is None:
            raise DatasetError(f"{where} does not end in the name of a sound, such as `hello world (take-1)`")
        yield where, parted[1], parted[0]


def _in_parentheses(line: str) -> tuple[str, str] | None:
    """`<s> hello world </s> (take-1)` → what is said, and in which sound."""
    text, found, name = line.rstrip().rpartition("(")
    if not found or not name.endswith(")") or not name[:-1] or any(each.isspace() for each in name):
        return None
    return text.strip().removeprefix("<s>").removesuffix("</s>").strip(), name[:-1]


def _ids(file: NamedFile) -> set[str]:
    return {line.strip() for _, line in lines_of(file) if line.strip()}


def _transcribed(
    source: NamedFile, sounds: Sequence[str], said: Pairs, dataset: PlannedDataset, wanted: set[str] | None = None
) -> list[Unlabelled]:
    """Sounds by their names without endings; all that have a text are samples, and `wanted` must have one."""
    by_name = {str(PurePosixPath(name).with_suffix("")): name for name in sounds}
    found: dict[str, Unlabelled] = {}
    for where, stem, text in said:
        if wanted is not None and stem not in wanted and PurePosixPath(stem).name not in wanted:
            continue
        if stem not in by_name:
            raise DatasetError(f"{where} is about `{stem[:80]}`, and {source.name} holds no such sound file")
        name = by_name[stem]
        if name in found:
            raise DatasetError(f"{where} is about `{name[:80]}`, and so is an earlier line")
        word, target = _truth(dataset)([text], where)
        found[name] = sample_of(name, {"audio": sound_part(source.path / name)}, word, target)
    missing = sorted((wanted or set()) - {str(PurePosixPath(name).with_suffix("")) for name in found})
    if missing:
        raise DatasetError(f"`fileids` lists `{missing[0][:80]}`, and `transcription` has no text for it")
    return [found[name] for name in sorted(found)]


def _in_folders(
    source: NamedFile, names: Sequence[str], sounds: Sequence[str], dataset: PlannedDataset
) -> list[Unlabelled]:
    """A folder for each class, as Speech Commands has them, which lists the sounds of two of its splits."""
    chosen = [name for name in sounds if not name.startswith(f"{_NOISE}/")]
    split = _SPLITS.get(dataset.split or "", dataset.split)
    if split is not None:
        chosen = _of_split(source, names, chosen, split, dataset)
    loose = next((name for name in chosen if "/" not in name), None)
    if loose is not None:
        raise DatasetError(
            f"`{loose}` lies in no class folder, and {source.name} holds no transcription",
            hint="give the source a `labels_url`: a manifest, a transcription, or a table with `columns`",
        )
    truth = _truth(dataset)
    found = []
    for name in chosen:
        word, target = truth([name.split("/", 1)[0]], f"`{name}`")
        found.append(sample_of(name, {"audio": sound_part(source.path / name)}, word, target))
    return found


def _of_split(
    source: NamedFile, names: Sequence[str], sounds: Sequence[str], split: str, dataset: PlannedDataset
) -> list[str]:
    lists = {name: file for name, file in _LISTS.items() if file in names}
    if not lists or (split != "train" and split not in lists):
        raise DatasetError(f"{source.name} holds no list of the split `{dataset.split}`, such as testing_list.txt")
    members = {name: _ids(NamedFile(source.path / file, file)) for name, file in lists.items()}
    if split == "train":
        others = set().union(*members.values())
        return [name for name in sounds if name not in others]
    missing = sorted(members[split] - set(sounds))
    if missing:
        raise DatasetError(f"{lists[split]} lists `{missing[0][:80]}`, which {source.name} does not hold")
    return [name for name in sounds if name in members[split]]


def _truth(dataset: PlannedDataset) -> Callable[[Sequence[Any], str], tuple[Any, Any]]:
    return BY_TASK.get(dataset.task, texts)


def _is_sound(name: str, include: str) -> bool:
    file = name.rpartition("/")[2]
    return file.lower().endswith(_SOUNDS) and fnmatch.fnmatchcase(file, include)
