"""A backup of 100,000 records, which can be restored into either database, beside SQLite's own copy of its pages."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import harness
from sqlalchemy import insert
from store import make_record

from mlmodelscope import Settings, Store
from mlmodelscope.record.record_rows import _row
from mlmodelscope.record.tables import records
from mlmodelscope.upkeep.backup import back_up
from mlmodelscope.upkeep.restore import restore

GOAL_S = 30.0
"""CPU seconds for 100,000 records."""
COUNT, QUICK, AT_ONCE = 100_000, 5000, 1000


def fill(store: Store, place: Path, settings: Settings, count: int) -> None:
    row = _row(make_record(place, settings).model_copy(update={"status": "finished"}))
    for start in range(0, count, AT_ONCE):
        rows = [{**row, "id": f"20260101-000000-{number:06x}"} for number in range(start, start + AT_ONCE)]
        with store.database.writing() as connection:
            connection.execute(insert(records), rows)


def copy_pages(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(source)) as one, contextlib.closing(sqlite3.connect(target)) as other:
        one.backup(other)


def cpu_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count = QUICK if arguments.quick else COUNT
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        settings = Settings(home=place / "home", cache=place / "cache")
        store = Store(settings)
        fill(store, place, settings, count)
        path = settings.home / "records.sqlite"
        contenders = {
            "mlmodelscope db backup": lambda: cpu_of(lambda: back_up(store, place / "b.zip", with_files=False)),
            "sqlite3, pages": lambda: cpu_of(lambda: copy_pages(path, place / "copy.sqlite")),
        }
        seen = harness.interleave(contenders, 3)
        sizes = {"mlmodelscope db backup": place / "b.zip", "sqlite3, pages": place / "copy.sqlite"}
        new = Settings(home=place / "new", cache=place / "cache")
        restoring_s = cpu_of(lambda: restore(new, place / "b.zip"))
        there = Store(new)
        faults = [] if len(there.list(limit=count + 1)) == count else ["not all records came back"]
        there.close()
        store.close()
        rows = [
            (name, harness.spread(values), f"{sizes[name].stat().st_size / 1e6:.1f}") for name, values in seen.items()
        ]
    harness.print_table(("what", "CPU s", "MB"), rows)
    print(f"restored with {restoring_s:.1f} s CPU")
    ours, peer = (median(values) for values in seen.values())
    scaled_s = ours * COUNT / count
    if scaled_s > GOAL_S:
        faults.append(f"{scaled_s:.1f} s CPU for {COUNT} records, {GOAL_S:.0f} are the goal")
    meaning = (
        f"CPU of a backup of {count} records beside SQLite's own; goal {GOAL_S:.0f} s for {COUNT}: {scaled_s:.1f} s"
    )
    harness.finish("database", ours / peer, meaning, arguments.quick, seen, faults)


if __name__ == "__main__":
    main()
