"""`predict --draw`: where the pictures go, checked before minutes are spent on answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlmodelscope.errors import StoreError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.prediction import Prediction
    from mlmodelscope.settings import Settings


def check_drawing(place: Path, images: Sequence[str]) -> None:
    """Before anything runs: a file or a folder that can be written, and what draws into it."""
    from mlmodelscope.report.drawing import refuse_without_pillow

    refuse_without_pillow()
    if place.is_dir():
        _refuse_locked(place, place)
        return
    if place.suffix and place.suffix.lower() != ".png":
        raise UsageError(f"--draw writes PNG files, not {place.suffix}", hint=f"--draw {place.with_suffix('.png')}")
    if place.suffix and len(images) > 1:
        raise UsageError(f"--draw {place} is one file, for {len(images)} images", hint="--draw FOLDER")
    if not place.suffix and place.exists():
        raise UsageError(f"--draw {place} is a file, and its name does not end in .png", hint="--draw FOLDER")
    if place.exists():
        _refuse_locked(place, place)
        return
    nearest = next(each for each in (*place.absolute().parents, Path("/")) if each.exists())
    if not nearest.is_dir():
        raise UsageError(f"cannot write --draw {place}: {nearest} is not a folder")
    _refuse_locked(nearest, place)


def _refuse_locked(existing: Path, place: Path) -> None:
    if not os.access(existing, os.W_OK | (os.X_OK if existing.is_dir() else 0)):
        raise UsageError(f"cannot write --draw {place}: there is no permission to write {existing}")


def draw_all(predictions: Sequence[Prediction], place: Path, threshold: float, found: Settings) -> None:
    """One file for one image, else a folder with a file for each. An answer that is a picture gets a second file, with
    the input beside it."""
    from mlmodelscope.provision.artifact import ArtifactStore
    from mlmodelscope.report.drawing import draw, draw_beside
    from mlmodelscope_worker.pipeline.header import ImageError

    artifacts = ArtifactStore(found)
    for each, destination in _destinations(predictions, place):
        try:
            image = artifacts.fetch(each.image).path.read_bytes()
            _write(destination, draw(image, each.shapes, threshold))
            beside = draw_beside(image, each.shapes)
            if beside is not None:
                _write(destination.with_name(f"{destination.stem}-beside.png"), beside)
        except ImageError as error:
            raise UsageError(f"cannot draw into {each.image}: {error}") from None
        except OSError as error:
            raise StoreError(f"cannot write {destination}: {error.strerror}") from None


def _destinations(predictions: Sequence[Prediction], place: Path) -> Iterator[tuple[Prediction, Path]]:
    is_file = place.suffix.lower() == ".png" and not place.is_dir()
    taken: set[str] = set()
    for number, each in enumerate(predictions):
        if each.error:
            continue
        stem = Path(each.image).stem or "image"
        name = stem if stem not in taken else f"{stem}-{number + 1}"
        taken.add(name)
        yield each, place if is_file else place / f"{name}.png"


def _write(destination: Path, content: bytes) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.write_bytes(content)
    print(f"wrote {destination}", file=sys.stderr)
