"""What a worker said of itself and how fast it was, in the record's own terms."""

from __future__ import annotations

from typing import Any

from mlmodelscope.record.record import Record, ServerRecord, StackRecord
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.worker.client import Latency


def with_worker(record: Record, opened: dict[str, Any]) -> Record:
    """The stack, the server that answers in its place, if any, and how long the model took to load."""
    stack = StackRecord(**opened["environment"])
    return record.model_copy(update={"stack": stack, "server": server_of(opened), "load_s": opened["load_ns"] / 1e9})


def server_of(opened: dict[str, Any]) -> ServerRecord | None:
    return ServerRecord(**opened["server"]) if opened["server"] else None


def with_latency(record: Record, latency: Latency) -> Record:
    found = summarise_latency(latency.batch_size, latency.warm_up_ns, latency.raw_ns, latency.parts_ns)
    return record.model_copy(update={"latency": found})
