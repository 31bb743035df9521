"""Answers in spite of accidents: a worker that dies is replaced, and the batch that kills workers is identified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlmodelscope.errors import WorkerError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.worker.answers import Answers, Batch, failed_batch
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import WorkerDied

_LONE_DEATHS = 2  # a batch that was alone with its worker each time is to blame
_HOPELESS = 7  # deaths in a row without a single answer


class SteadyRun:
    """Batches answered in order by one worker after another, as many as it takes."""

    def __init__(self, worker: Worker, site: Site, plan: Plan, batches: Sequence[Batch]) -> None:
        self._first = worker
        self._worker: Worker | None = worker
        self._site = site
        self._plan = plan
        self._batches = batches
        self._done = 0
        self._deaths = 0
        self._lone_deaths = 0
        self._careful_until = 0  # up to here batches go one at a time, so that a death names its batch
        self._blamed: list[Answers] = []  # believed when something else was answered after all

    def __iter__(self) -> Iterator[Answers]:
        """Answers to all batches. Samples of a batch that keeps killing its worker are failed samples."""
        try:
            while self._done < len(self._batches):
                yield from self._run_until_death()
            yield from self._blamed
        finally:
            self._replace(None)

    def _run_until_death(self) -> Iterator[Answers]:
        careful = self._done < self._careful_until
        part = self._batches[self._done : self._careful_until if careful else len(self._batches)]
        try:
            if self._worker is None:
                self._replace(Worker(self._site, self._plan))
            assert self._worker is not None
            for answers in self._worker.run(part, one_at_a_time=careful):
                self._done += 1
                self._deaths = self._lone_deaths = 0
                yield from self._blamed
                self._blamed = []
                yield answers
        except WorkerDied as death:
            self._replace(None)
            self._handle_death(death, careful)

    def _handle_death(self, death: WorkerDied, careful: bool) -> None:
        self._deaths += 1
        self._lone_deaths += careful
        if self._deaths >= _HOPELESS:
            message = f"{_HOPELESS} workers died in turn\n{death.message}"
            raise WorkerError(message, hint=death.hint) from None
        if self._lone_deaths >= _LONE_DEATHS:
            batch = self._batches[self._done]
            reason = death.message.splitlines()[0]
            self._blamed.append(failed_batch(batch, reason))
            self._done += 1
            self._lone_deaths = 0
        elif not careful:
            under_way = self._done + self._site.batches_under_way
            self._careful_until = min(len(self._batches), under_way)

    def _replace(self, worker: Worker | None) -> None:
        """End the current worker, unless it is the first, which belongs to whoever opened it."""
        if self._worker is not None and self._worker is not self._first:
            self._worker.kill()
        self._worker = worker
