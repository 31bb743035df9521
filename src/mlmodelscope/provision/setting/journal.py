"""What must be set back, written down before anything is changed: a killed run cannot clean up, a later one can."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlmodelscope.errors import SetupError
from mlmodelscope.provision.machine.read import read

Undo = dict[str, dict[str, Any]]
"""By the name of the setting, what sets it back; in the order in which they were set."""


class Journal:
    """One for a user's records. It belongs to whoever holds the lock; a journal without a holder was left behind."""

    def __init__(self, home: Path, root: Path = Path("/")) -> None:
        self._path = home / "machine-settings.json"
        self._boot = read(root / "proc/sys/kernel/random/boot_id")

    @contextlib.contextmanager
    def alone(self, waiting: Callable[[str], None] = lambda reason: None, wait: bool = True) -> Iterator[bool]:
        """Whether nobody else sets this machine meanwhile. The kernel lets go of the lock when we die."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = self._path.with_suffix(".lock").open("w")
        except OSError as error:
            raise SetupError(f"cannot write {self._path}: {error.strerror or error}") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if not wait:
                    yield False
                    return
                waiting("another process has set this machine for itself")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield True

    @property
    def is_there(self) -> bool:
        return self._path.exists()

    def read(self) -> Undo:
        """What must be set back; nothing since the machine was started again, which sets everything back."""
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            undo = dict(content["undo"])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SetupError(
                f"cannot read {self._path}, which says what must be set back: {error}",
                hint="set the machine back by hand or start it again, then delete the file",
            ) from None
        return undo if self._boot is None or content.get("boot") == self._boot else {}

    def write(self, undo: Undo) -> None:
        content = {"boot": self._boot, "pid": os.getpid(), "since": datetime.now(UTC).isoformat(), "undo": undo}
        draft = self._path.with_suffix(".draft")
        try:
            with draft.open("w", encoding="utf-8") as file:
                json.dump(content, file, indent=2)
                file.flush()
                os.fsync(file.fileno())  # it must be on the disk before the machine is changed
            draft.replace(self._path)
        except OSError as error:
            raise SetupError(f"cannot write {self._path}: {error.strerror or error}") from None

    def forget(self, name: str) -> None:
        """This one need not be set back."""
        undo = self.read()
        undo.pop(name, None)
        self.write(undo)

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)
