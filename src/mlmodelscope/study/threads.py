"""Figure 15 of the second paper: how the number of threads changes latency and throughput."""

from __future__ import annotations

from typing import Any

from mlmodelscope.plan.options import Options
from mlmodelscope.provision.machine import available_cores
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.study.paper import BEST_THREADS, FACTS, SECOND
from mlmodelscope.study.plot import Series, lines
from mlmodelscope.study.study import Column, Outcome, Request, Table, about, differs, now, remembered, study

_PAPERS_BATCH = 4


@study("threads", "Threads inside one call", (SECOND, "Figure 15"), options=("threads", "batch_size"))
def threads(request: Request) -> Outcome:
    counts = sorted(set(request.threads)) or default_counts(available_cores())
    batch_size = request.batch_sizes[0] if request.batch_sizes else _PAPERS_BATCH
    started = now()
    records = [
        request.evaluate(
            Options(batch_size=batch_size, threads=count, limit=request.limit, stratified=request.limit is not None)
        )
        for count in counts
    ]
    rows = [_row(count, record) for count, record in zip(counts, records, strict=True)]
    timed = [row for row in rows if row["latency_s"] is not None]
    slowest = timed[0]["latency_s"] if timed else None
    for row in timed:
        row["speed_up"] = slowest / row["latency_s"]
    notes = []
    if timed:
        best = min(timed, key=lambda row: row["latency_s"])["threads"]
        notes.append(
            f"The lowest latency is with {words.plural(best, 'thread')} of {words.plural(available_cores(), 'core')}; "
            f"in the paper it was with {BEST_THREADS}, as many as its machine has logical cores."
        )
    notes.append(
        "Latency is of one call after the other. Throughput is of the whole evaluation, decoding included: calls with "
        "fewer threads run side by side, so that all cores are used either way."
    )
    columns = (
        Column("threads", "threads"),
        Column("latency_s", f"latency of batch {batch_size}", words.duration),
        Column("latency_low_s", "from (95 %)", words.duration),
        Column("latency_high_s", "to", words.duration),
        Column("speed_up", f"against {words.plural(counts[0], 'thread')}", lambda ratio: f"{ratio:.2f} ×"),
        Column("samples_per_s", "samples/s", words.significant),
    )
    first = records[0]
    chart = lines(
        "Latency by threads",
        about(first),
        [Series(f"batch {batch_size}", tuple((row["threads"], 1000 * row["latency_s"]) for row in timed))],
        "threads inside one call",
        "milliseconds a call",
    )
    theirs = (
        f"Inception-v3 in TensorFlow 1.13, batch size {_PAPERS_BATCH}, on an 8-core Intel Core i7-7820X (Figure 15)"
    )
    return Outcome(
        about(first),
        (Table("threads", f"threads, batch size {batch_size}", columns, tuple(rows)),),
        FACTS["threads"],
        (*notes, *remembered(records, started), differs(first, theirs)),
        chart,
        tuple(record.id for record in records),
    )


def _row(count: int, record: Record) -> dict[str, Any]:
    latency = record.latency.p50_s if record.latency else None
    return {
        "threads": count,
        "latency_s": latency.value if latency else None,
        "latency_low_s": latency.low if latency else None,
        "latency_high_s": latency.high if latency else None,
        "samples_per_s": record.samples / record.wall_s if record.wall_s else None,
        "record": record.id,
    }


def default_counts(cores: int) -> list[int]:
    """1, 2, 4 … and all cores."""
    counts, count = {1, cores}, 1
    while count < cores:
        counts.add(count)
        count *= 2
    return sorted(counts)
