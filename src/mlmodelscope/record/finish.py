"""A complete journal becomes tables and metrics, and the record is finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.record.summary import Summary
from mlmodelscope.worker.plugins import refuse_other_plugins


def finish(record: Record, journal: Journal, samples: Sequence[Sample], store: Store) -> Record:
    refuse_other_plugins(record.plan)  # without its task's package the answers would be kept and never scored
    summary = Summary(record.plan)
    summary.write(journal, samples, store.folder(record.id))
    found = summary.found()
    record = record.model_copy(
        update={
            "status": "finished",
            "finished_at": datetime.now(UTC),
            "samples": summary.samples,
            "failed": summary.failed,
            "failures": tuple(summary.failures),
            **found,
            "notes": (*record.notes, *found["notes"], *_emulation(record)),
        }
    )
    store.save(record)
    (store.folder(record.id) / "journal").unlink(missing_ok=True)
    return record


def _emulation(record: Record) -> Iterator[str]:
    if record.stack is not None and record.stack.architecture != record.machine.architecture:
        yield (
            f"the stack is for {record.stack.architecture} and was emulated on {record.machine.architecture}: "
            "the answers count, the times do not"
        )
