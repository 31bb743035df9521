"""Processes of this machine, from /proc: `ps` is not everywhere."""

from pathlib import Path


def children_of(parent: int) -> dict[int, str]:
    """The commands of the processes that this one has started and that still run, by their numbers."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, started_by = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has just ended
        if int(started_by) == parent and state != "Z":
            found[int(place.name)] = command
    return found
