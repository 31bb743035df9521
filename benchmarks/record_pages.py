"""Pages of 100,000 records, and a leaderboard of 5,000 models, at the API of a server with SQLite and with PostgreSQL.

Beside each the bare peer: the same first page by one query of `sqlite3` or `psycopg` in this process.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import harness
from overview import make_records
from real_server import Line, Server, postgresql
from sqlalchemy import insert, text
from store import make_record

from mlmodelscope import Settings, Store
from mlmodelscope.record.facts import facts_row, search_words
from mlmodelscope.record.record_rows import _row
from mlmodelscope.record.tables import record_facts, records

GOAL_PAGE_S, GOAL_FILTER_S, GOAL_BOARD_S = 0.2, 0.3, 0.3
COUNT, QUICK, MODELS, AT_ONCE = 100_000, 5000, 5000, 1000
PAGES = {"first page": "", "second page": "start=50", "by result": "sort=result", "by machine": "sort=machine"}
FILTERS = {
    "a word": "q=model-0042",
    "two words": "q=model-1+evaluation",
    "nothing fits": "q=nowhere",
    "one dataset": "dataset=set-3",
    "days, by latency": "since=2026-01-01T06:00:00Z&sort=latency",
    "a kind, the last page": "kind=bench&start={last}",
}
BARE = "SELECT record, model, dataset, value, created_at FROM record_facts ORDER BY created_at DESC LIMIT 50"


def fill(store: Store, place: Path, settings: Settings, count: int) -> None:
    """Records of 5,000 models on ten datasets; on the largest every model has a result."""
    draft = make_records(make_record(place, settings), 4)
    rows = [(_row(each), facts_row(each)) for each in draft]
    for start in range(0, count, AT_ONCE):
        more, facts = [], []
        for number in range(start, min(start + AT_ONCE, count)):
            row, fact = rows[number % len(rows)]
            name, at = f"20260101-000000-{number:06x}", datetime(2026, 1, 1) + timedelta(seconds=number)
            model = number // len(rows) % MODELS
            dataset = f"set-{0 if number < len(rows) * MODELS else number % 10}"
            names = {"model": f"model-{model:04d}", "dataset": dataset, "created_at": at, "finished_at": at}
            more.append({**row, **names, "id": name, "shown_at": at})
            own = {**fact, **names, "record": name, "model_digest": f"{model:064x}", "latency_s": model / 1e6}
            if own["headline"] is not None:
                own["value"] = model / MODELS
            facts.append({**own, "words": search_words(own)})
        with store.database.writing() as connection:
            connection.execute(insert(records), more)
            connection.execute(insert(record_facts), facts)


def measure(address: str | None, place: Path, count: int, rounds: int) -> tuple[dict[str, Any], list[str]]:
    settings = Settings(place / "home", place / "cache", database=address)
    (place / "manifests").mkdir(parents=True)
    store = Store(settings)
    fill(store, place, settings, count)
    server = Server(place, executor="none", **({"database": address} if address else {}))
    last = max(0, count // 4 - 100)
    questions = {name: f"/records?limit=50&{query}" for name, query in PAGES.items()}
    questions |= {name: f"/records?limit=50&{query.format(last=last)}" for name, query in FILTERS.items()}
    questions |= {"leaderboards": "/leaderboards", "leaderboard": "/leaderboards/set-0", "choices": "/record-choices"}
    try:
        bare = min(_timed(store) for _ in range(rounds))
        found = {name: asyncio.run(_ask(server, path, rounds)) for name, path in questions.items()}
    finally:
        server.close()
        store.close()
    faults = [f"{name}: {each['wrong']}" for name, each in found.items() if each["wrong"]]
    if found["first page"]["total"] != count or found["leaderboard"]["total"] != min(MODELS, count // 4):
        faults.append(f"{found['first page']['total']} records, {found['leaderboard']['total']} models")
    return {"bare_s": bare, **found}, faults


def _timed(store: Store) -> float:
    started = time.perf_counter()
    with store.database.reading() as connection:
        assert len(connection.execute(text(BARE)).all()) == 50
    return time.perf_counter() - started


async def _ask(server: Server, path: str, rounds: int) -> dict[str, Any]:
    line, times, wrong, total = await Line.open(server), [], "", None
    for _ in range(rounds):
        started = time.perf_counter()
        status, answer = await line.ask("GET", path)
        times.append(time.perf_counter() - started)
        wrong = wrong or ("" if status == 200 else f"{status} {answer}")
        total = (json.loads(answer) if isinstance(answer, bytes) else answer).get("total")
    line.close()
    return {"least_s": min(times), "median_s": median(times), "wrong": wrong, "total": total}


def _beyond(name: str, found: dict[str, Any]) -> str | None:
    goal = GOAL_PAGE_S if name in PAGES else GOAL_BOARD_S if name.startswith("leaderboard") else GOAL_FILTER_S
    return f"{name} took {1000 * found['least_s']:.0f} ms, not {1000 * goal:.0f}" if found["least_s"] > goal else None


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, rounds = (QUICK, 3) if arguments.quick else (COUNT, 9)
    results: dict[str, Any] = {}
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("sqlite", "postgresql"):
            (place / name).mkdir()
        results["sqlite"], found = measure(None, place / "sqlite", count, rounds)
        faults += found
        with postgresql(place / f"pg{secrets.token_hex(2)}") as address:
            if address:
                results["postgresql"], found = measure(address, place / "postgresql", count, rounds)
                faults += found
    rows, slow = [], []
    for database, seen in results.items():
        for name, each in seen.items():
            if name != "bare_s":
                rows.append((f"{database}: {name}", f"{1000 * each['least_s']:.0f}", f"{1000 * each['median_s']:.0f}"))
                slow += [f"{database}: {said}" for said in [_beyond(name, each)] if said]
    harness.print_table(("milliseconds", "least", "median"), rows)
    print("\n".join(slow) or "every goal is met")
    first, bare = results["sqlite"]["first page"]["least_s"], results["sqlite"]["bare_s"]
    meaning = (
        f"first page of {count} records at the API / the bare query; goals (the best of some) <= "
        f"{GOAL_PAGE_S:g} s for a page, {GOAL_FILTER_S:g} s for a filter, "
        f"{GOAL_BOARD_S:g} s for a leaderboard of {MODELS} models"
    )
    harness.finish("record_pages", first / bare, meaning, arguments.quick, {**results, "beyond": slow}, faults)


if __name__ == "__main__":
    main()
