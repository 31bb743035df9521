"""Run by tests: do something in a process that is killed at its Nth step, as `kill -9` would; again for each line read.

Steps are what Python's audit hooks tell of: files opened, renamed and removed, connections made.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import alembic.command  # noqa: F401  here, once, and not in every child

from mlmodelscope import Settings, Store
from mlmodelscope.upkeep.backup import back_up
from mlmodelscope.upkeep.restore import restore
from mlmodelscope.upkeep.retention import Policy, collect

_STEPS = ("open", "os.rename", "os.remove", "os.rmdir", "os.link", "os.mkdir", "sqlite3.connect", "shutil.rmtree")
_count = 0


def work(what: str, home: Path, file: Path) -> None:
    settings = Settings(home, home.parent / "cache")
    if what == "restore":
        restore(settings, file)
        return
    store = Store(settings)
    if what == "backup":
        back_up(store, file)
    else:
        collect(store, settings.cache, Policy(records_days=30, traces_days=1))
    store.close()


def main() -> None:
    for line in sys.stdin:
        what, home, file, step = json.loads(line)
        child = os.fork()
        if child == 0:
            _kill_at(step)
            work(what, Path(home), Path(file))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else f"ended {os.waitstatus_to_exitcode(status)}", flush=True)


def _kill_at(step: int) -> None:
    def hook(event: str, _: object) -> None:
        global _count
        if event in _STEPS:
            _count += 1
            if _count == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    main()
