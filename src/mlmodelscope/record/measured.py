"""What a worker said of itself and how fast it was, in the record's own terms."""

from __future__ import annotations

from mlmodelscope.record.record import Record, ServerRecord, StackRecord
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope_worker.messages import Latency, Opened


def with_worker(record: Record, opened: Opened) -> Record:
    """The stack, the server that answers in its place, if any, and how long the model took to load."""
    stack = StackRecord(**opened.environment)
    return record.model_copy(update={"stack": stack, "server": server_of(opened), "load_s": opened.load_ns / 1e9})


def server_of(opened: Opened) -> ServerRecord | None:
    return ServerRecord(**opened.server) if opened.server else None


def with_latency(record: Record, latency: Latency) -> Record:
    found = summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns)
    return record.model_copy(update={"latency": found})
