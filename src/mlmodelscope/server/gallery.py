"""Datasets that are at hand, opened: their samples by name, so that one of them can be shown.

A dataset is opened once for many pictures, since that reads its list of files and compares their digests. Nothing is
fetched for it, and no name that somebody sends becomes a path: it is looked up among those of the dataset.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.report.thumbnail import Picture, small_picture
from mlmodelscope.settings import Settings
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.library import MissingLibrary
from mlmodelscope_worker.sample import Loader

_KEPT = 4
_SORRY_S = 20.0
"""For which a dataset that is not at hand is not sought again."""
_THREADS = 2
"""Pictures made at the same time: each may take memory for many pixels, and a large dataset is opened for seconds."""


class NoPictures(UsageError):
    """The dataset is not at hand: none of its samples can be shown."""


class NoPicture(UsageError):
    """This one cannot be shown."""


@dataclass(frozen=True)
class Opened:
    samples: Sequence[Sample]
    by_id: dict[str, Sample]
    classes: Sequence[str]
    load: Loader


class Gallery:
    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = replace(settings, offline=True), clock
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._missed: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()
        self.pool = ThreadPoolExecutor(_THREADS, "pictures")
        """Who asks for pictures waits here, and not where everybody else's questions are answered."""

    def opened(self, dataset: PlannedDataset, *, public_only: bool = False) -> Opened:
        """All samples of a dataset that is at hand; else NoPictures says why it is not.

        `public_only` is for one that a stranger names: it may hold nothing that only this machine's people could get.
        """
        key = f"{public_only} {dataset.model_dump_json()}"
        with self._lock:  # one opens it, the others wait and have it, too
            if key in self._opened:
                self._opened.move_to_end(key)
                return self._opened[key]
            missed = self._missed.get(key)
            if missed is not None and self._clock() - missed[0] < _SORRY_S:
                raise NoPictures(missed[1])
            try:
                found = self._open(dataset, public_only)
            except (MLModelScopeError, OSError) as error:
                said = error.message if isinstance(error, MLModelScopeError) else str(error)
                reason = f"there is no copy of {dataset.name} at hand: {said}"
                self._missed = {key: (self._clock(), reason)}
                raise NoPictures(reason) from None
            self._opened[key] = found
            while len(self._opened) > _KEPT:
                self._opened.popitem(last=False)
            return found

    def _open(self, dataset: PlannedDataset, public_only: bool) -> Opened:
        if dataset.is_known_by_functions:
            raise UsageError("only its own code knows what samples there are")
        found = open_dataset(dataset, ArtifactStore(replace(self._settings, public_only=public_only)))
        return Opened(found.samples, {each.id: each for each in found.samples}, found.classes, Loader())

    def picture(self, dataset: PlannedDataset, name: str, side: int, *, public_only: bool = False) -> Picture:
        opened = self.opened(dataset, public_only=public_only)
        sample = _sample(opened, dataset, name)
        try:
            _refuse_another(sample)
            return small_picture(opened.load, sample.content, side)
        except (ImageError, MissingLibrary, OSError, KeyError) as error:
            raise NoPicture(f"there is no picture of `{name}`: {error}") from None

    def content(self, dataset: PlannedDataset, name: str, largest: int, *, public_only: bool = False) -> bytes:
        """The sample as its file is, to be given to a model; one without a file becomes a PNG."""
        opened = self.opened(dataset, public_only=public_only)
        sample = _sample(opened, dataset, name)
        path = sample.content.get("file")
        if path is None:
            return self.picture(dataset, name, 1 << 12, public_only=public_only).data
        try:
            if Path(path).stat().st_size > largest:
                raise NoPicture(f"there is no sending `{name}`: more than {largest} bytes")
            _refuse_another(sample)
            return Path(path).read_bytes()
        except (OSError, ImageError) as error:
            raise NoPicture(f"there is no file of `{name}`: {error}") from None


def _sample(opened: Opened, dataset: PlannedDataset, name: str) -> Sample:
    found = opened.by_id.get(name)
    if found is None:
        raise NoPicture(f"there is no sample `{name[:200]}` in {dataset.name}")
    return found


def _refuse_another(sample: Sample) -> None:
    """The folder was looked through when the dataset was opened; its files may be others by now."""
    if "file" in sample.content:
        with open(sample.content["file"], "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sample.digest:
                raise ImageError("its file has changed")
