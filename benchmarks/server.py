"""A server under load: 200 readers beside 20 running evaluations, 1,000 agents' heartbeats, 100,000 evaluations kept.

Everything is asked over real sockets of a real server process. The readers are bare sockets: a comfortable client would
take more of the machine than the server does.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import harness
from real_server import LEASE_S, Server, postgresql
from server_agents import AGENTS, beat_hearts
from server_lists import list_kept
from server_readers import READERS, RUNNING, read_under_load, write_catalogue

KEPT = 100_000
GOAL_SPREAD, GOAL_SHARE, GOAL_LIST_S = 10.0, 0.2, 0.2


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
    # Where the machine is so busy that heartbeats come a lease apart, the server is right to give agents up.
    if hearts["errors"] or (hearts["there_at_end"] < AGENTS and hearts["longest_s"] < LEASE_S / 2):
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
        ["agents that are online at the end", hearts["there_at_end"], ""],
        ["longest time between two heartbeats, s", f"{hearts['longest_s']:.1f}", f"{LEASE_S:.0f}"],
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
