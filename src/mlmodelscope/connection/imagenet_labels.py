"""Labels of ImageNet's flat validation folder, from any of the lists in which people have them.

ILSVRC2012_val_00000001.JPEG 65                 Caffe's and MXNet's val.txt: numbers from 0, synsets in their order
ILSVRC2012_val_00000001.JPEG n01751748          the same with synsets
n01751748                                       one synset a line, in the order of the files
ImageId,PredictionString                        Kaggle's LOC_val_solution.csv
490                                             the devkit's ground truth, with its meta.mat beside it
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mlmodelscope.connection.devkit import synsets_by_id
from mlmodelscope.errors import DatasetError

_SYNSET = re.compile(r"n\d{8}")
_NAME = re.compile(r"(?:.*/)?(ILSVRC2012_val_\d{8})(?:\.JPEG)?", re.IGNORECASE)
_MOST_BYTES = 16 << 20


def flat_labels(places: Sequence[Path], lists: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The label of each file, a synset or its number from 0, from the first list that lies in one of the places."""
    for each in lists:
        for place in places:
            if (place / each).is_file():
                return _read(place / each, each, names)
    raise DatasetError(
        f"{places[0]} is a flat folder, and there is no list of labels: looked for {', '.join(lists)}",
        hint="put the devkit's folder or a val.txt beside the pictures, or sort the pictures into a folder for each "
        "synset",
    )


def _read(path: Path, called: str, names: Sequence[str]) -> dict[str, str]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DatasetError(f"{called} is larger than a list of {len(names):,} labels can be")
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError:
        raise DatasetError(f"{called} is not UTF-8 text") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
    if lines and lines[0].replace(" ", "").lower() == "imageid,predictionstring":
        return _by_name(((line.partition(",")[0], line.partition(",")[2].split()) for line in lines[1:]), called, names)
    if lines and _NAME.fullmatch(lines[0].split()[0]):
        return _by_name(((line.split()[0], line.split()[1:]) for line in lines), called, names)
    return _in_order(lines, path, called, names)


def _by_name(pairs: object, called: str, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, words in pairs:  # type: ignore[attr-defined]
        matched = _NAME.fullmatch(name)
        if matched is None or not words or not (_SYNSET.fullmatch(words[0]) or _is_class(words[0], 0)):
            raise DatasetError(f"{called} has a line that names no picture and its class: `{name[:80]}`")
        label = words[0] if words[0].startswith("n") else str(int(words[0]))
        if found.setdefault(matched[1].lower(), label) != label:
            raise DatasetError(f"{called} gives `{name[:80]}` two labels")
    missing = [name for name in names if name.rpartition(".")[0].lower() not in found]
    if missing:
        raise DatasetError(f"{called} has no label for {len(missing):,} pictures, such as {missing[0]}")
    labels = {name: found[name.rpartition(".")[0].lower()] for name in names}
    return _same_kind(labels, called)


def _in_order(lines: Sequence[str], path: Path, called: str, names: Sequence[str]) -> dict[str, str]:
    if len(lines) != len(names):
        raise DatasetError(f"{called} has {len(lines):,} labels for {len(names):,} pictures")
    labels = dict(zip(sorted(names), lines, strict=True))
    if all(_SYNSET.fullmatch(line) for line in lines):
        return labels
    if "ground_truth" not in path.name or not all(_is_class(line, 1) for line in lines):
        raise DatasetError(
            f"{called} is not a list of synsets, and its numbers mean nothing without the names of the pictures",
            hint="lines such as ILSVRC2012_val_00000001.JPEG 65, or n01751748 alone, are read, and the devkit's "
            "ILSVRC2012_validation_ground_truth.txt with its meta.mat beside it",
        )
    by_id: Mapping[int, str] = synsets_by_id(path.parent / "meta.mat")
    return {name: by_id[int(line)] for name, line in labels.items()}


def _same_kind(labels: dict[str, str], called: str) -> dict[str, str]:
    kinds = {label.startswith("n") for label in labels.values()}
    if len(kinds) > 1:
        raise DatasetError(f"{called} has synsets and numbers of classes")
    return labels


def _is_class(text: str, first: int) -> bool:
    return re.fullmatch(r"\d{1,4}", text) is not None and first <= int(text) < 1000 + first
