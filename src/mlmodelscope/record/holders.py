"""Which processes hold an SQLite file for writing, where /proc tells."""

from __future__ import annotations

import os
from pathlib import Path

_LOCKS = Path("/proc/locks")
_BESIDE = ("", "-shm", "-wal")
"""A writer locks a byte of one of these files, whichever way the journal is kept."""


def holders(file: Path, locks: Path = _LOCKS) -> list[str]:
    """Each by its program and number; none where that cannot be known."""
    inodes = set()
    for ending in _BESIDE:
        try:
            inodes.add(os.stat(f"{file}{ending}").st_ino)
        except OSError:
            continue
    try:
        lines = locks.read_text().splitlines()
    except OSError:
        return []
    found = {pid for line in lines if (pid := _writer(line.split(), inodes)) is not None}
    return [_name(pid) for pid in sorted(found - {os.getpid()})]


def _writer(fields: list[str], inodes: set[int]) -> int | None:
    """`1: POSIX ADVISORY WRITE 4711 fe:00:5726942 120 120`; whoever only waits has an arrow after the number."""
    if len(fields) < 6 or fields[1] == "->" or fields[3] != "WRITE":
        return None
    try:
        pid, inode = int(fields[4]), int(fields[5].rpartition(":")[2])
    except ValueError:
        return None
    return pid if pid > 0 and inode in inodes else None  # 0 and -1 are of processes that cannot be seen from here


def _name(pid: int) -> str:
    """`mlmodelscope serve (process 4711)`. Of its words only the verb is told: others may hold a secret."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return f"process {pid}"
    for place, word in enumerate(words[:-1]):
        if os.path.basename(word) == "mlmodelscope" and words[place + 1].isalpha():
            name = f"mlmodelscope {words[place + 1]}"
            break
    return f"{name} (process {pid})"
