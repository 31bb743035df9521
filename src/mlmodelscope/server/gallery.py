"""Datasets that are available, opened: their samples by name, so that one of them can be shown.

A dataset is opened once for many pictures, since that reads its list of files and compares their digests. Nothing is
fetched for it, and no name that somebody sends becomes a path: it is looked up among those of the dataset.
"""

from __future__ import annotations

import base64
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mlmodelscope.confine.confined import Confined
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.report.thumbnail import Picture
from mlmodelscope.server import confined_work
from mlmodelscope.settings import Settings
from mlmodelscope_worker.pipeline.header import ImageError

_KEPT = 4
_SORRY_S = 20.0
"""For which a dataset that is not available is not sought again."""
_THREADS = 2
"""Pictures made at the same time: each may take memory for many pixels, and a large dataset is opened for seconds."""


class NoPictures(UsageError):
    """The dataset is not available: none of its samples can be shown."""


class NoPicture(UsageError):
    """This one cannot be shown."""


@dataclass(frozen=True)
class Opened:
    samples: Sequence[Sample]
    by_id: dict[str, Sample]
    classes: Sequence[str]


class Gallery:
    def __init__(self, settings: Settings, confined: Confined, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._confined, self._clock = replace(settings, offline=True), confined, clock
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._missed: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self.pool = ThreadPoolExecutor(_THREADS, "pictures")
        """Who asks for pictures waits here, and not where everybody else's questions are answered."""

    def opened(self, dataset: PlannedDataset, *, public_only: bool = False) -> Opened:
        """All samples of a dataset that is available; else NoPictures says why it is not.

        `public_only` is for one that a stranger names: it may hold nothing that only this machine's people could get.
        """
        key = f"{public_only} {dataset.model_dump_json()}"
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:  # one opens it, the others wait and have it, too
            try:
                return self._known(key) or self._keep(key, self._open(dataset, public_only))
            except (MLModelScopeError, OSError) as error:
                if isinstance(error, NoPictures):
                    raise
                said = error.message if isinstance(error, MLModelScopeError) else str(error)
                reason = f"there is no copy of {dataset.name} available: {said}"
                with self._lock:
                    self._missed = {key: (self._clock(), reason)}
                raise NoPictures(reason) from None
            finally:
                with self._lock:
                    self._opening.pop(key, None)

    def _known(self, key: str) -> Opened | None:
        with self._lock:
            if key in self._opened:
                self._opened.move_to_end(key)
                return self._opened[key]
            missed = self._missed.get(key)
        if missed is not None and self._clock() - missed[0] < _SORRY_S:
            raise NoPictures(missed[1])
        return None

    def _keep(self, key: str, found: Opened) -> Opened:
        with self._lock:
            self._opened[key] = found
            while len(self._opened) > _KEPT:
                self._opened.popitem(last=False)
        return found

    def _open(self, dataset: PlannedDataset, public_only: bool) -> Opened:
        if dataset.is_known_by_functions:
            raise UsageError("only its own code knows what samples there are")
        found = self._confined.call(
            confined_work.listed_samples,
            dataset=dataset.model_dump_json(),
            settings=confined_work.spelled_settings(replace(self._settings, public_only=public_only)),
        )
        samples = [Sample(*each) for each in found["samples"]]
        return Opened(samples, {each.id: each for each in samples}, found["classes"])

    def picture(self, dataset: PlannedDataset, name: str, side: int, *, public_only: bool = False) -> Picture:
        opened = self.opened(dataset, public_only=public_only)
        sample = _sample(opened, dataset, name)
        try:
            found = self._confined.call(
                confined_work.drawn, content=dict(sample.content), digest=sample.digest, side=side
            )
        except UsageError as error:
            raise NoPicture(f"there is no picture of `{name}`: {error.message}") from None
        return Picture(base64.b64decode(found["data"]), found["media_type"])

    def seen(
        self, dataset: PlannedDataset, name: str, *, public_only: bool = False
    ) -> tuple[str | None, tuple[int, int] | None]:
        """(what is true of a sample as JSON, the width and height of its picture where its file tells)."""
        sample = _sample(self.opened(dataset, public_only=public_only), dataset, name)
        try:
            size = self._confined.call(confined_work.sized, content=dict(sample.content), digest=sample.digest)["size"]
        except UsageError as error:
            raise NoPicture(f"there is no picture of `{name}`: {error.message}") from None
        target = sample.target if isinstance(sample.target, str) else None
        return target, (size[0], size[1]) if size else None

    def read(
        self,
        dataset: PlannedDataset,
        name: str,
        function: Callable[..., Any],
        *,
        public_only: bool = False,
        **more: Any,
    ) -> Any:
        """What a function of `confined_inputs` makes of a sample that is not a picture."""
        sample = _sample(self.opened(dataset, public_only=public_only), dataset, name)
        try:
            return self._confined.call(function, content=dict(sample.content), digest=sample.digest, **more)
        except UsageError as error:
            raise NoPicture(f"`{name[:200]}` cannot be shown: {error.message}") from None

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
            confined_work.refuse_another(dict(sample.content), sample.digest)
            return Path(path).read_bytes()
        except (OSError, ImageError) as error:
            raise NoPicture(f"there is no file of `{name}`: {error}") from None


def _sample(opened: Opened, dataset: PlannedDataset, name: str) -> Sample:
    found = opened.by_id.get(name)
    if found is None:
        raise NoPicture(f"there is no sample `{name[:200]}` in {dataset.name}")
    return found
