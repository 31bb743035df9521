"""An overview of 2,000 records, its table and plots included, beside the bare reading of the same rows."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import harness
from store import make_record

from mlmodelscope import Settings, Store
from mlmodelscope.analysis.overview import Entry, make_overview
from mlmodelscope.analysis.overview_page import overview_html
from mlmodelscope.analysis.overview_table import overview_analyses
from mlmodelscope.record.bench import BenchRecord, LoadRecord, Stability, SweepRecord
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Record
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.types import Interval

GOAL_S = 3.0
KINDS = 4  # an evaluation, a single-stream bench, a sweep, and an older sweep of the same
TIMED = 100


def load(batch_size: int, speed: float) -> LoadRecord:
    between = Interval(batch_size / speed, 0.9 * batch_size / speed, 1.1 * batch_size / speed)
    return LoadRecord(
        scenario="single-stream",
        batch_size=batch_size,
        samples_per_query=batch_size,
        queries=500,
        duration_s=1.0,
        samples_per_s=speed,
        percentiles_s={name: between for name in ("p50", "p90", "p95", "p99")},
        mean_s=between.value,
        trimmed_mean_s=between.value,
    )


def make_records(draft: Record, count: int) -> list[Record]:
    """Models of their own, each evaluated, benched and swept; the newest sweep is to be found among two."""
    records = []
    for number in range(count):
        model, kind = divmod(number, KINDS)
        plan = draft.plan.model_copy(
            update={"model": draft.plan.model.model_copy(update={"name": f"model-{model:04d}"})}
        )
        speed = 100.0 + model
        runs = tuple(load(1 << power, speed * (1 + power / 4)) for power in range(6))
        update: dict[str, Any] = {"metrics": {}}
        if kind == 0:
            latency = summarise_latency(1, [10**7] * 5, [10**7 + place for place in range(TIMED)])
            update = {"metrics": {"top1": MeasuredNumber(value=0.7, low=0.6, high=0.8)}, "latency": latency}
        elif kind == 1:
            update["bench"] = bench("single-stream", runs[:1], None)
        else:
            update["bench"] = bench("sweep", runs, SweepRecord(optimal_batch=8, gain=0.05, ended="enough"))
        work = f"{model} {min(kind, 2)}"
        records.append(
            draft.model_copy(
                update={
                    "id": f"record-{number:06d}",
                    "status": "finished",
                    "created_at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
                    "plan": plan,
                    "plan_digest": sha256(work.encode()).hexdigest(),
                    **update,
                }
            )
        )
    return records


def bench(scenario: str, runs: tuple[LoadRecord, ...], sweep: SweepRecord | None) -> BenchRecord:
    return BenchRecord(
        scenario=scenario,
        budget_s=20.0,
        seed=0,
        measured=runs[0],
        runs=runs,
        sweep=sweep,
        stability=Stability(verdict="stable"),
    )


def overview(store: Store) -> tuple[list[Entry], str]:
    entries = make_overview(store.newest_told())
    return entries, overview_html(overview_analyses(entries))


def bare(path: Path) -> int:
    """The peer: every row's document read and parsed, and nothing made of it."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT document FROM records ORDER BY created_at DESC").fetchall()
    finally:
        connection.close()
    return len([json.loads(document) for (document,) in rows])


def cpu_of(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def check(entries: list[Entry], page: str, count: int) -> list[str]:
    faults = []
    if len(entries) != -(-count // KINDS):
        faults.append(f"{len(entries)} rows, not {-(-count // KINDS)}")
    for model, entry in enumerate(entries):
        newest = f"record-{KINDS * model + KINDS - 1:06d}"
        if entry.samples_per_s is None or entry.samples_per_s.record != newest or entry.missing:
            faults.append(f"{entry.model} is not told by its newest record {newest}")
    if page.count('<svg class="plot"') != 4:
        faults.append("the page does not have its four plots")
    return faults[:5]


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count = 200 if arguments.quick else 2000
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        settings = Settings(home=place / "home", cache=place / "cache")
        store = Store(settings)
        for record in make_records(make_record(place, settings), count):
            store.add(record)
        found: list[tuple[list[Entry], str]] = []

        def ours() -> float:
            seconds, answer = cpu_of(lambda: overview(store))
            found.append(answer)
            return seconds

        reading = place / "home" / "records.sqlite"
        contenders = {
            "mlmodelscope overview": ours,
            "sqlite3 and json, all rows": lambda: cpu_of(lambda: bare(reading))[0],
            "mlmodelscope, records only": lambda: cpu_of(lambda: list(store.newest()))[0],
        }
        seen = harness.interleave(contenders, 3 if arguments.quick else 5)
        faults = check(*found[-1], count)
        store.close()
    least = {name: min(seconds) for name, seconds in seen.items()}
    harness.print_table(("", "time"), [(name, f"{seconds:.2f} s CPU") for name, seconds in least.items()])
    print()
    ours_s, peer_s, _ = least.values()
    meaning = (
        f"CPU of an overview of {count} records / CPU of reading and parsing the same rows; "
        f"goal <= {GOAL_S:g} s for 2,000, seen {ours_s * 2000 / count:.2f} s"
    )
    harness.finish("overview", ours_s / peer_s, meaning, arguments.quick, {"cpu_s": seen}, faults)


if __name__ == "__main__":
    main()
