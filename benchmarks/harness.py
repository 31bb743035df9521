"""What every benchmark shares: child processes and their cost, a table, a JSON file, and the ratio as the last line."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NoReturn

RESULTS = Path(__file__).parent / "results"
# Bytecode is kept, as it is for everybody who runs a program twice, but not beside the source.
_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(RESULTS / "bytecode")}


def options(about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about)
    quick = os.environ.get("QUICK", "") not in ("", "0")
    parser.add_argument("--quick", action="store_true", default=quick, help="smaller and shorter, to see that it runs")
    return parser


@dataclass(frozen=True)
class Run:
    """What a child process cost, all its own children included, and what it said."""

    cpu_s: float
    wall_s: float
    others: float
    """Share of the machine that other programs had meanwhile, where that can be seen."""
    said: Any


def run_child(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Run a command to its end; its last line of output, where it is JSON, is what it said."""
    wait_for_quiet()
    started, busy_s = time.perf_counter(), machine_busy_s()
    run = wait(start(command, environment), started)
    others_s = max(0.0, machine_busy_s() - busy_s - run.cpu_s)
    return replace(run, others=others_s / (run.wall_s * cores()))


def start(command: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Begin a command whose cost `wait` will tell."""
    output = tempfile.TemporaryFile("w+")  # noqa: SIM115  (`wait` closes it; not a pipe, which might fill up unread)
    child = subprocess.Popen(command, stdout=output, text=True, env={**os.environ, **_BYTECODE, **(environment or {})})
    child.stdout = output
    return child


def wait(child: subprocess.Popen[str], started: float) -> Run:
    _, status, usage = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.stdout is not None
    with child.stdout as output:
        output.seek(0)
        text = output.read()
    if child.returncode:
        sys.exit(f"a part ended with exit code {child.returncode}: {child.args}\n{text}")
    try:
        said = json.loads(text.strip().rpartition("\n")[2])
    except ValueError:
        said = text
    return Run(usage.ru_utime + usage.ru_stime, wall_s, 0.0, said)


def machine_busy_s() -> float:
    """CPU seconds that all programs together have had since the machine started; 0 where it does not say."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, interrupt, soft_interrupt, stolen = map(int, fields)
    return (user + nice + system + interrupt + soft_interrupt + stolen) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet() -> None:
    """Give other programs some time to finish; a machine that never rests is measured as it is."""
    deadline = time.perf_counter() + float(os.environ.get("QUIET_WAIT_S", "0"))
    while time.perf_counter() < deadline:
        started, busy_s = time.perf_counter(), machine_busy_s()
        time.sleep(0.25)
        if machine_busy_s() - busy_s <= 0.1 * (time.perf_counter() - started):
            return


def part(script: str, name: str, *arguments: object) -> list[str]:
    """The command for one part of a benchmark, in a fresh interpreter."""
    return [sys.executable, script, "--part", name, *map(str, arguments)]


def say(answer: Any) -> None:
    """A part's answer to the benchmark that started it."""
    print(json.dumps(answer))


def interleave(contenders: Mapping[Any, Callable[[], Any]], rounds: int) -> dict[Any, list[Any]]:
    """Every contender once a round, so that what disturbs the machine disturbs all of them alike."""
    seen: dict[Any, list[Any]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            seen[name].append(run())
    return seen


def spread(values: Sequence[float], digits: int = 2) -> str:
    """`median (lowest … highest)`."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} … {max(values):.{digits}f})"


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    texts = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    for number, row in enumerate(texts):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def finish(name: str, ratio: float, meaning: str, quick: bool, results: Any, faults: Sequence[str] = ()) -> NoReturn:
    """Write the JSON file, print the ratio last, and fail if an answer was wrong; a time never fails."""
    RESULTS.mkdir(exist_ok=True)
    document = {
        "benchmark": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cores": cores(),
        "quick": quick,
        "ratio": ratio,
        "meaning": meaning,
        "faults": list(faults),
        "results": results,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")
    for fault in faults:
        print(f"WRONG: {fault}")
    print(f"ratio: {ratio:.3g}  ({meaning}{'; quick, so rough' if quick else ''})", flush=True)
    sys.exit(1 if faults else 0)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
