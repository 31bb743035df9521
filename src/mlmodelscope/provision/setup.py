"""A hardware manifest's setup commands: run on the machine itself, before anything else, and only when trusted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from typing import IO

from mlmodelscope.errors import SetupError

_LIMIT_S = 600
_KEPT = 4000


def run_setup(script: str) -> str:
    """Run the commands; what they printed. The first that fails ends it, and with it the evaluation."""
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-e", "-u", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # a zero byte in the script is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise SetupError(f"the hardware's setup commands cannot be run: {reason}") from None
    printed = _Printed(process)
    try:
        code = process.wait(_LIMIT_S)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever they have started, too
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise SetupError(
                f"the hardware's setup commands took longer than {_LIMIT_S} s" + _below(printed.text())
            ) from None
        raise
    output = printed.text()
    if code != 0:
        raise SetupError(
            f"the hardware's setup commands ended with exit code {code}" + _below(output),
            hint="they run with your own rights; settings such as the governor often need root",
        )
    return output


def _below(output: str) -> str:
    return f"\n{output}" if output else ""


class _Printed:
    """The end of what a process prints, however much that is, and even if a daemon it leaves behind prints on."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._tail = b""
        self._thread = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while part := os.read(stream.fileno(), 1 << 16):
                self._tail = (self._tail + part)[-4 * _KEPT :]

    def text(self) -> str:
        self._thread.join(1)
        return self._tail.decode(errors="replace")[-_KEPT:].strip()
