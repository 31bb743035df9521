"""The confined process: it does one call after the other, and dies of the one that takes too much.

The kernel keeps the limits, since a regular expression or a decoder that does not come back gives Python no chance to.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import resource
import signal
import socket
import sys
import traceback
from typing import Any

from mlmodelscope import errors
from mlmodelscope.confine import inside
from mlmodelscope.errors import ManifestError, MLModelScopeError
from mlmodelscope_worker.protocol import Channel, Closed


def serve(channel: Channel) -> None:
    with contextlib.suppress(Closed):
        while True:
            header, _ = channel.receive()
            answer, buffers = _answer(header)
            channel.send(answer, buffers)
            if "error" in answer and answer["error"]["kind"] == "MemoryError":
                return  # what is left of its memory is in pieces


def _answer(asked: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    try:
        module, _, name = asked["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        _limit_memory(asked["memory_bytes"])
        _limit_time(asked["cpu_s"], asked["wall_s"])
        try:
            found = function(**asked["arguments"])
        finally:
            _limit_time(0, 0)
        if isinstance(found, bytes):
            return {"answer": None}, [found]
        if len(json.dumps(found)) > asked["answer_bytes"]:
            return {"error": {"kind": "TooLong"}}, []
        return {"answer": found}, []
    except MemoryError:
        return {"error": {"kind": "MemoryError"}}, []
    except MLModelScopeError as error:
        return {"error": _spelled(error)}, []
    except Exception:
        return {"error": {"kind": "Surprise", "message": traceback.format_exc()}}, []
    finally:
        _limit_memory(None)


def _spelled(error: MLModelScopeError) -> dict[str, Any]:
    kind = next(each.__name__ for each in type(error).__mro__ if getattr(errors, each.__name__, None) is each)
    problems = [vars(each) for each in error.problems] if isinstance(error, ManifestError) else []
    return {"kind": kind, "message": error.message, "hint": error.hint, "problems": problems}


def _limit_time(cpu_s: float, wall_s: float) -> None:
    """Signals that nobody handles: they end the process wherever it is. 0 takes a limit off."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    signal.setitimer(signal.ITIMER_REAL, wall_s)


def _limit_memory(more_bytes: int | None) -> None:
    """So much beyond what the process has already; files that it maps are not counted, models are large."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    have = _data_bytes()
    if have is None:
        return  # not Linux: time is bounded there, memory is not
    wanted = resource.RLIM_INFINITY if more_bytes is None else have + more_bytes
    if hard != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > hard):
        wanted = hard
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _data_bytes() -> int | None:
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^VmData:\s*(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    inside.enter()
    serve(Channel(socket.socket(fileno=int(sys.argv[1]))))
