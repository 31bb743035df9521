"""What a worker said of itself and how fast it was, in the record's own terms."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.plan.instruction_set import beyond
from mlmodelscope.record.record import BatchingRecord, Record, ServerRecord, StackRecord
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope_worker.messages import Latency, Opened

TOLERANCE = 1e-3
"""How far the logarithm of a token's probability may differ between a row alone and the same among others."""


def with_worker(record: Record, opened: Opened) -> Record:
    """The stack, the server that answers in its place, if any, and how long the model took to load."""
    stack = StackRecord(**opened.environment)
    notes = tuple(dict.fromkeys((*record.notes, *_beyond_the_limit(record, stack))))
    told = {"stack": stack, "server": server_of(opened), "load_s": opened.load_ns / 1e9, "notes": notes}
    return record.model_copy(update=told)


def _beyond_the_limit(record: Record, stack: StackRecord) -> Iterator[str]:
    """Libraries that use more of the processor than the hardware manifest lets them, by their own words."""
    settings = record.plan.settings
    if settings is None or settings.instruction_sets is None:
        return
    level = settings.instruction_sets.value
    for library, build in stack.builds.items():
        more = beyond(level, build.used or "")
        if more:
            yield f"{library} was to keep to {level} and uses {', '.join(more)}"


def server_of(opened: Opened) -> ServerRecord | None:
    return ServerRecord(**opened.server) if opened.server else None


def with_latency(record: Record, latency: Latency) -> Record:
    found = summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns)
    batching = None if latency.apart is None else BatchingRecord(apart=latency.apart, tolerance=TOLERANCE)
    return record.model_copy(update={"latency": found, "batching": batching})


def batching_notes(latency: Latency) -> tuple[str, ...]:
    """What a reader must know of likelihoods that depend on the batch."""
    if latency.apart is None or latency.apart <= TOLERANCE:
        return ()
    return (
        f"likelihoods depend on the batch: a row scored alone and among others differs by {latency.apart:.2g} in the "
        f"logarithm of a token's probability (tolerance {TOLERANCE:g}); --batch-size 1 scores each by itself",
    )
