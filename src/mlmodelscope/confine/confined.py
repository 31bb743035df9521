"""Calls that are made in confined processes, and what becomes of those that take too much."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mlmodelscope import errors
from mlmodelscope.confine.import_path import environment
from mlmodelscope.errors import LimitError, ManifestError, MLModelScopeError, Problem
from mlmodelscope_worker.protocol import Channel, Closed

_PATIENCE = 10
"""Wall-clock seconds for each second of processor time: a busy machine gives a process little."""


@dataclass(frozen=True)
class Limits:
    cpu_s: float = 60.0
    """Processor time of one call."""
    memory_bytes: int = 512 << 20
    """What a call may allocate; files that it maps are not counted."""
    answer_bytes: int = 32 << 20
    """How much it may answer: the caller has to hold it."""

    @property
    def wall_s(self) -> float:
        return self.cpu_s * _PATIENCE + 10


class Confined:
    """A few processes that are started when they are needed, stay for the next call, and never grow on their caller.

    What is called is a function of a module, with arguments and an answer that JSON can carry, or bytes as an answer.
    """

    def __init__(self, limits: Limits | None = None, processes: int = 2) -> None:
        self._limits = limits or Limits()
        self._room = threading.BoundedSemaphore(processes)
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._is_closed = False

    def __enter__(self) -> Confined:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """The function's answer; its own errors as they are, LimitError where it takes too much."""
        limits = self._limits
        asked = {
            "function": f"{function.__module__}:{function.__qualname__}",
            "arguments": arguments,
            "cpu_s": limits.cpu_s,
            "wall_s": limits.wall_s,
            "memory_bytes": limits.memory_bytes,
            "answer_bytes": limits.answer_bytes,
        }
        with self._room, self._child() as child:
            answer, buffers = child.ask(asked, limits)
            if "error" not in answer:
                return buffers[0] if buffers else answer["answer"]
            raise _error(answer["error"], limits)

    @contextmanager
    def _child(self) -> Iterator[_Child]:
        with self._lock:
            if self._is_closed:
                raise LimitError("nothing is read any more: this process is about to stop")
            child = self._idle.pop() if self._idle else _Child()
            self._busy.add(child)
        try:
            yield child
        finally:
            with self._lock:
                self._busy.discard(child)
                if child.is_well and not self._is_closed:
                    self._idle.append(child)
                else:
                    child.kill()

    def close(self) -> None:
        """End all of them, also those that are at work: whoever waits for one is told."""
        with self._lock:
            self._is_closed = True
            for child in self._busy:
                child.end()  # whoever waits for it clears up behind it
            while self._idle:
                self._idle.pop().kill()


class _Child:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # -P: what lies in the folder that we happen to be in is not imported.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mlmodelscope.confine.child", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment(),
            )
        self._socket, self._channel = ours, Channel(ours)
        self.is_well = True

    def ask(self, asked: dict[str, Any], limits: Limits) -> tuple[dict[str, Any], list[bytes]]:
        # The process ends itself in time; this is for one that cannot, because it was stopped or never began.
        self._socket.settimeout(limits.wall_s + 60)
        try:
            self._channel.send(asked)
            answer, buffers = self._channel.receive()
        except Closed:
            self.is_well = False
            raise self._end(limits) from None
        if answer.get("error", {}).get("kind") in ("MemoryError", "Surprise"):
            self.is_well = False
        return answer, buffers

    def _end(self, limits: Limits) -> MLModelScopeError:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            code = -signal.SIGALRM
        if code in (-signal.SIGPROF, -signal.SIGALRM):
            return LimitError(f"it takes more than {limits.cpu_s:g} s of processor time and is refused")
        if code == -signal.SIGKILL:
            return LimitError("the process that read it was ended")
        return LimitError(f"the process that read it ended by itself ({_named(code)})")

    def end(self) -> None:
        self.is_well = False
        self._process.kill()

    def kill(self) -> None:
        self.end()
        self._process.wait()
        self._channel.close()


def _named(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        return f"signal {-code}"


def _error(found: dict[str, Any], limits: Limits) -> Exception:
    kind = found["kind"]
    if kind == "MemoryError":
        return LimitError(f"it takes more than {limits.memory_bytes >> 20} MiB of memory and is refused")
    if kind == "TooLong":
        return LimitError(f"there is more than {limits.answer_bytes >> 20} MiB to say about it; it is refused")
    if kind == "Surprise":
        return RuntimeError(f"in a confined process:\n{found['message']}")
    if kind == "ManifestError":
        problems = ({**each, "known": tuple(each["known"])} for each in found["problems"])
        return ManifestError(*(Problem(**each) for each in problems))
    made: MLModelScopeError = getattr(errors, kind)(found["message"], hint=found["hint"])
    return made
