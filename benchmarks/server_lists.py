"""Pages of a long list of evaluations, by the bare query and through the API."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from real_server import Line, Server
from sqlalchemy import insert

from mlmodelscope import Settings
from mlmodelscope.ledger.history import History
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import evaluations, events, requests
from mlmodelscope.record.database import Database, open_database
from mlmodelscope.record.record import new_record_id

FILTERS: dict[str, dict[str, str]] = {
    "newest": {},
    "one state": {"state": "failed"},
    "one model": {"model": "model-7"},
    "one owner": {"owner": "person-3"},
    "a model and a state": {"model": "model-7", "state": "running"},
    "nothing fits": {"dataset": "nowhere"},
}


def fill(database: Database, count: int) -> None:
    """Evaluations of two months: twenty models, five people, most of them finished."""
    states = ("finished",) * 17 + ("failed", "cancelled", "failed")
    moment = now()
    rows, asked, told = [], [], []
    for number in range(count):
        at = moment - timedelta(seconds=60 * number)
        identity = f"{new_record_id(at)}{number:06d}"
        state = states[number % 20] if number > 40 else ("waiting" if number > 20 else "running")
        person = f"person-{number % 5}"
        asked.append({"id": f"r{identity}", "owner": person, "key": None, "created_at": at, "document": "{}"})
        rows.append(
            {
                "id": f"e{identity}",
                "request": f"r{identity}",
                "part_of": None,
                "owner": person,
                "kind": "evaluate",
                "model": f"model-{number * 7919 % 20}",
                "dataset": f"dataset-{number % 3}",
                "state": state,
                "priority": 5,
                "exclusive": False,
                "agent": None if state == "waiting" else f"agent-{number % 50}",
                "attempt": 1,
                "created_at": at,
                "not_before": at,
                "started_at": at,
                "ended_at": at if state in states else None,
                "lease_until": None,
                "timeout_s": None,
                "cancel": False,
                "record": identity if state == "finished" else None,
                "progress": '{"done": 10, "of": 10}',
                "error": '{"kind": "X", "message": "no", "hint": null}' if state == "failed" else None,
                "work": json.dumps({"kind": "evaluate", "model": "x" * 2000, "dataset": "y" * 1000}),
            }
        )
        told.append({"evaluation": f"e{identity}", "at": at, "kind": state, "document": "{}"})
        if len(rows) == 5000 or number == count - 1:
            with database.writing() as connection:
                for table, values in ((requests, asked), (evaluations, rows), (events, told)):
                    connection.execute(insert(table), values)
            rows, asked, told = [], [], []


def list_kept(address: str | None, place: Path, count: int, rounds: int) -> dict[str, Any]:
    """Each filter by the bare query and through the API: the best of some, since others use the machine, too."""
    settings = Settings(place / "home", place / "cache", database=address)
    database = open_database(settings)
    fill(database, count)
    history = History(database)
    server = Server(place, executor="none", **({"database": address} if address else {}))
    found: dict[str, Any] = {}
    try:
        for name, wanted in FILTERS.items():
            bare = [_timed(lambda wanted=wanted: history.list(limit=50, **wanted)) for _ in range(rounds)]  # type: ignore[misc]
            query = "&".join(f"{key}={value}" for key, value in wanted.items())
            through = asyncio.run(_ask_often(server, f"/evaluations?limit=50&{query}", rounds))
            found[name] = {"sql_s": min(bare), "api_s": min(through), "api_median_s": median(through)}
        found["counts"] = {"sql_s": min(_timed(history.counts) for _ in range(rounds))}
    finally:
        server.close()
        database.close()
    return found


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


async def _ask_often(server: Server, path: str, rounds: int) -> list[float]:
    line, times = await Line.open(server), []
    for _ in range(rounds):
        started = time.perf_counter()
        status, _ = await line.ask("GET", path)
        times.append(time.perf_counter() - started)
        assert status == 200
    line.close()
    return times
