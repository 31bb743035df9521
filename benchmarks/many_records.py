"""`overview` and `records` in a store of 100,000 records, beside a bare Python that reads and parses what is newest."""

from __future__ import annotations

import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import harness
from overview import make_records
from sqlalchemy import insert
from store import make_record

from mlmodelscope import Settings, Store
from mlmodelscope.record.record_rows import _metric_rows, _row
from mlmodelscope.record.tables import metrics, records

GOAL_OVERVIEW_S, GOAL_LIST_S, GOAL_MIB = 1.5, 0.6, 150
COUNT, QUICK, DIFFERENT = 100_000, 6000, 2000
"""Records in all, and records of which the others are repetitions, as of a model that is checked every night."""
BARE = """
import json, sqlite3, sys
query = '''SELECT document FROM records WHERE id IN (
  SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY plan_digest, machine_digest ORDER BY created_at DESC) AS n
                  FROM records WHERE status = 'finished') WHERE n = 1)'''
found = [json.loads(row[0]) for row in sqlite3.connect(sys.argv[1]).execute(query)]
print(len(found))
"""

PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""From a small process: a child begins with the memory of the one that starts it."""


def fill(store: Store, place: Path, settings: Settings, count: int) -> None:
    draft = make_records(make_record(place, settings), DIFFERENT)
    rows, numbers = [_row(each) for each in draft], [_metric_rows(each) for each in draft]
    for start in range(0, count, DIFFERENT):
        more, more_numbers = [], []
        for place_in, (row, own) in enumerate(zip(rows, numbers, strict=True)):
            number = start + place_in
            name, at = f"20260101-000000-{number:06x}", datetime(2026, 1, 1) + timedelta(seconds=number)
            moments = {"created_at": at, "finished_at": at, "shown_at": at}
            more.append({**row, **moments, "id": name, "document": row["document"].replace(row["id"], name, 1)})
            more_numbers += [{**each, "record": name} for each in own]
        with store.database.writing() as connection:
            connection.execute(insert(records), more)
            connection.execute(insert(metrics), more_numbers)


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count = QUICK if arguments.quick else COUNT
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        settings = Settings(home=place / "home", cache=place / "cache")
        store = Store(settings)
        fill(store, place, settings, count)
        store.close()
        homes = {"MLMODELSCOPE_HOME": str(settings.home), "MLMODELSCOPE_CACHE": str(settings.cache)}
        ours = (sys.executable, "-m", "mlmodelscope")
        commands = {
            "mlmodelscope overview": (*ours, "overview"),
            "mlmodelscope records": (*ours, "records"),
            "sqlite3 and json, the newest of each work": (
                sys.executable,
                "-c",
                BARE,
                f"{settings.home}/records.sqlite",
            ),
        }
        rounds = 2 if arguments.quick else 5
        harness.run_child((*ours, "overview"), homes)  # bytecode is written once
        mib = harness.run_child((sys.executable, "-c", PEAK, *ours, "overview"), homes).said / 1024
        runs = {name: [harness.run_child(command, homes) for _ in range(rounds)] for name, command in commands.items()}
    overview, listed, _ = (found[-1].said for found in runs.values())
    faults = [] if len(overview.splitlines()) >= DIFFERENT / 4 else ["models are missing in the overview"]
    faults += [] if len(listed.splitlines()) == 21 else ["the list does not have its twenty rows"]
    cpu = {name: [run.cpu_s for run in found] for name, found in runs.items()}
    wall = {name: [run.wall_s for run in found] for name, found in runs.items()}
    rows = [(name, harness.spread(cpu[name]), harness.spread(wall[name])) for name in runs]
    harness.print_table(("what", "CPU s", "wall s"), rows)
    print(f"most memory that an overview had: {mib:.0f} MiB")
    seen = {name: min(values) for name, values in cpu.items()}
    overview_s, listed_s, bare_s = seen.values()
    meaning = (
        f"CPU of an overview of {count} records / CPU of reading and parsing the newest of each work; goals <= "
        f"{GOAL_OVERVIEW_S:g} s, {GOAL_LIST_S:g} s for a list and {GOAL_MIB} MiB: {overview_s:.2f} s, "
        f"{listed_s:.2f} s, {mib:.0f} MiB"
    )
    results = {"cpu_s": cpu, "wall_s": wall, "peak_mib": mib}
    harness.finish("many_records", overview_s / bare_s, meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
