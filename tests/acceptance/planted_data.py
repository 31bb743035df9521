"""Real data for planted faults: photographs, cut, turned and filed in other ways."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from acceptance import planted_drawings, planted_scenes, planted_stories
from mlmodelscope import Settings, load_manifest
from mlmodelscope.manifest.catalog import find_dataset
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.provision.artifact import ArtifactStore

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or HERE.parents[2] / "shared")
_PHOTOGRAPHS = SHARED / "data" / "imagenet-sample-images"
_ORIENTATION = 0x0112
_ORDERS = {
    "another order": [3, 8, 5, 2, 9, 0, 7, 6, 1, 4],
    "the reverse order": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    "an order with two exchanged": [0, 1, 2, 5, 4, 3, 6, 7, 8, 9],
}
"""By which number each of ten classes is called instead; no name says so."""


def find(name: str, settings: Settings, change: Sequence[tuple[str, str]] = ()) -> DatasetManifest:
    """A dataset of the catalogue, a manifest beside this file with text of it changed, or one of those below."""
    if name.endswith(".yml"):
        return _written(name, settings, change)
    kind, _, other = name.partition(" in ")
    if kind.startswith("drawings-"):
        order = _ORDERS[other] if other else None
        source = planted_drawings.write(settings.cache, int(kind.partition("-")[2]), order)
        size = int(kind.partition("-")[2])
        return _dataset(kind, format="rows", sources=[source], shape=[32, 32, 3], size=size)
    if kind == "cifar10-2000":
        return _cifar(2000, settings, _ORDERS[other] if other else None)
    if name == "imagenet-70-turned":
        return _turned(settings)
    if name == "photographs in numbered folders":
        return _in_numbered_folders(settings)
    if name == "photographs by the alphabet":
        return _photographs("*", _by_the_alphabet(settings))
    if name.startswith("photographs"):  # `photographs *e.JPEG`: those whose file names are so
        return _photographs(name.partition(" ")[2] or "*.JPEG", HERE / "synsets.txt")
    return find_dataset(name)


def text_of(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _written(name: str, settings: Settings, change: Sequence[tuple[str, str]]) -> DatasetManifest:
    text = text_of(name)
    for old, new in change:
        assert text.count(old) == 1, f"{name}: `{old}` must be there once"
        text = text.replace(old, new)
    if "{data}" in text:
        text = text.replace("{data}", str(planted_scenes.write(settings.cache / "planted-scenes")))
    text = text.replace("../../../../shared", str(SHARED)).replace("{stories}", str(planted_stories.FOLDER))
    found = parse_document(text, Path(name).stem, (HERE / name).absolute().parent).manifest()
    assert isinstance(found, DatasetManifest)
    return found


def _photographs(include: str, classes: Path) -> DatasetManifest:
    size = sum(1 for _ in _PHOTOGRAPHS.glob(include if include != "*" else "*.JPEG"))
    return _dataset(
        f"photographs-{size}",
        format="list",
        sources=[{"url": str(_PHOTOGRAPHS)}],
        include=include,
        labels={"pattern": r"^(n\d+)_"},
        classes_url=str(classes),
        size=size,
    )


def _in_numbered_folders(settings: Settings) -> DatasetManifest:
    """A folder for each class, called by its number: in the order of their names they are class0, class1, class10 …"""
    folder = settings.cache / "numbered-folders"
    numbers = {synset: number for number, synset in enumerate(_synsets())}
    for file in sorted(_PHOTOGRAPHS.glob("*.JPEG")):
        link = folder / f"class{numbers[file.name.split('_')[0]]}" / file.name
        if not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
    return _dataset("photographs-1000", format="folder", sources=[{"url": str(folder)}], size=1000)


def _by_the_alphabet(settings: Settings) -> Path:
    """The list of classes, sorted by their English names, as `sorted(names)` makes it."""
    names = {file.stem.partition("_")[0]: file.stem.partition("_")[2] for file in _PHOTOGRAPHS.glob("*.JPEG")}
    path = settings.cache / "classes-by-the-alphabet.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = sorted((f"{synset} {names[synset]}" for synset in _synsets()), key=lambda line: line.split()[1].lower())
    path.write_text("\n".join(lines) + "\n")
    return path


def _synsets() -> list[str]:
    return [line.split()[0] for line in (HERE / "synsets.txt").read_text().splitlines() if line]


def _cifar(rows: int, settings: Settings, order: list[int] | None = None) -> DatasetManifest:
    """The first images of CIFAR-10's test set: all ten thousand would take an hour."""
    name = f"cifar10-{rows}"
    folder = settings.cache / (name if order is None else f"{name}-{''.join(map(str, order))}")
    if not (folder / "labels.json").is_file():
        store, source = ArtifactStore(settings), find_dataset("cifar10-test").sources[0]
        assert source.labels_url is not None
        folder.mkdir(parents=True, exist_ok=True)
        with Image.open(store.fetch(source.url, source.checksum).path) as image:
            image.crop((0, 0, image.width, rows)).save(folder / "rows.png")
        labels = json.loads(store.fetch(source.labels_url, source.labels_checksum).path.read_text())
        numbers = [each if order is None else order[each] for each in labels[:rows]]
        (folder / "labels.json").write_text(json.dumps(numbers))
    source_of = {"url": str(folder / "rows.png"), "labels_url": str(folder / "labels.json")}
    return _dataset(name, format="rows", sources=[source_of], shape=[32, 32, 3], size=rows)


def _turned(settings: Settings) -> DatasetManifest:
    """Photographs as a telephone keeps them: every other one lies on its side, and an EXIF note says so."""
    folder = settings.cache / "imagenet-70-turned"
    if not folder.is_dir():
        draft = folder.with_name("imagenet-70-turning")
        draft.mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(_seventy(settings)):
            with Image.open(file) as image:
                picture, note = image.convert("RGB"), Image.Exif()
            if number % 2:
                picture = picture.transpose(Image.Transpose.ROTATE_90)
                note[_ORIENTATION] = 6  # turn it by 90 degrees clockwise to see it upright
            label = file.stem.rpartition("_")[2]
            picture.save(draft / f"{number:02d}_{label}.jpg", quality=95, exif=note)
        draft.rename(folder)
    pattern = {"pattern": r"_(\d+)\.jpg$"}
    return _dataset(folder.name, format="list", sources=[{"url": str(folder)}], labels=pattern, size=70)


def _seventy(settings: Settings) -> Iterator[Path]:
    store = ArtifactStore(settings)
    for source in find_dataset("imagenet-70").sources:
        folder = store.fetch(source.url, source.checksum).path
        yield from sorted(file for file in folder.rglob("*") if file.suffix in (".jpg", ".png"))


def _dataset(name: str, **fields: Any) -> DatasetManifest:
    manifest = load_manifest({"name": name, "version": "1.0.0", "task": "classification", **fields})
    assert isinstance(manifest, DatasetManifest)
    return manifest
