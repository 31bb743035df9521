"""Answers in spite of accidents: a worker that dies is replaced, and the batch that kills workers is found out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlmodelscope.errors import WorkerError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.worker.client import Answers, Batch, Worker
from mlmodelscope.worker.process import WorkerDied

_HOPELESS = 5  # deaths in a row without a single answer


def run_steadily(worker: Worker, site: Site, plan: Plan, batches: Sequence[Batch]) -> Iterator[Answers]:
    """Answers to all batches in order. Samples of a batch that kills its worker twice are failed samples."""
    done = 0
    deaths_in_a_row = 0
    current: Worker | None = worker
    careful_until = 0  # up to here batches go one at a time, so that a death names its batch
    while done < len(batches):
        careful = done < careful_until
        part = batches[done : careful_until if careful else len(batches)]
        try:
            if current is None:
                current = Worker(site, plan)
            for answers in current.run(part, one_at_a_time=careful):
                yield answers
                done += 1
                deaths_in_a_row = 0
        except WorkerDied as death:
            if current is not None and current is not worker:
                current.__exit__(type(death), death, None)
            current = None
            deaths_in_a_row += 1
            if deaths_in_a_row >= _HOPELESS:
                raise WorkerError(
                    f"{_HOPELESS} workers died one after the other without an answer\n{death.message}",
                    hint=death.hint,
                ) from None
            if careful:
                yield _failed(batches[done], str(death.message).splitlines()[0])
                done += 1
            else:
                careful_until = min(len(batches), done + 4 * site.lanes + 1)
    if current is not None and current is not worker:
        current.__exit__(None, None, None)


def _failed(batch: Batch, reason: str) -> Answers:
    errors = {slot: reason for slot in range(len(batch.samples))}
    return Answers(batch, 0, b"", b"", errors, 0, 0)
