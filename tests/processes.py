"""Processes of this machine, from /proc: `ps` is not everywhere."""

import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_S = 60
"""How long the kernel may take to end a process that was killed: on a busy machine it gets its turn late."""


def children_of(parent: int) -> dict[int, str]:
    """The commands of the processes that this one has started and that still run, by their numbers."""
    return {process: command for process, started_by, command in _running() if started_by == parent}


def commands() -> list[str]:
    """Of everything that runs."""
    return [command for _, _, command in _running()]


def _running() -> Iterator[tuple[int, int, str]]:
    """(its number, who started it, its command) of each process."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, started_by = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has just ended
        if state != "Z":
            yield int(place.name), int(started_by), command


def is_running(process: int) -> bool:
    """Whether it is still there, and more than an exit code that nobody has asked for yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(process: int) -> bool:
    """Whether it ends soon: one that was killed still runs until the kernel gives it its turn."""
    end = time.monotonic() + PATIENCE_S
    while is_running(process):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
