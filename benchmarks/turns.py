"""Commands that take turns, a fifth of a second each, until all are done.

The speed of a machine drifts by more than what we want to see. In turns this short it is the same for all, and their
CPU seconds can be compared to a percent or two, even on a busy machine. Wall-clock cannot: most of the time a command
is stopped.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import harness

_TURN_S = 0.2


def take_turns(commands: dict[str, Sequence[str]]) -> dict[str, harness.Run]:
    """The cost of each command. Where Linux does not say who whose child is, they run one after the other."""
    if not Path("/proc/self/task").is_dir():
        return {name: harness.run_child(command) for name, command in commands.items()}
    started, busy_s = time.perf_counter(), harness.machine_busy_s()
    children = {name: harness.start(command) for name, command in commands.items()}
    waiting = dict(children)
    try:
        for child in children.values():
            _stop(child.pid)
        while waiting:
            for name, child in list(waiting.items()):
                _go_on(child.pid)
                time.sleep(_TURN_S)
                if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    del waiting[name]
                else:
                    _stop(child.pid)
    finally:
        for child in waiting.values():  # nothing that is stopped may be left behind
            _send(signal.SIGKILL, [child.pid, *_below(child.pid)])
    runs = {name: harness.wait(child, started) for name, child in children.items()}
    own_s = sum(run.cpu_s for run in runs.values())
    others_s = max(0.0, harness.machine_busy_s() - busy_s - own_s)
    others = others_s / ((time.perf_counter() - started) * harness.cores())
    return {name: replace(run, others=others) for name, run in runs.items()}


def _stop(pid: int) -> None:
    """Parents first; what they started meanwhile is found by looking again."""
    seen: set[int] = set()
    while fresh := [each for each in [pid, *_below(pid)] if each not in seen]:
        _send(signal.SIGSTOP, fresh)
        seen.update(fresh)


def _go_on(pid: int) -> None:
    _send(signal.SIGCONT, [*reversed(_below(pid)), pid])


def _send(number: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _below(pid: int) -> list[int]:
    """All processes that a process started, and theirs."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                found += [child, *_below(child)]
    return found
