"""The worker as a process: started in a stack's interpreter, reached over a private socket, never left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

import mlmodelscope_worker
from mlmodelscope.errors import WorkerError
from mlmodelscope.provision.stack.provisioner import Needs, Runnable
from mlmodelscope.provision.stack.walls import CONFINED, confine
from mlmodelscope_worker.messages import REPLIES, Close, Gone, MessageError, Refused, from_header, to_header
from mlmodelscope_worker.protocol import Channel, Closed

Message = TypeVar("Message")
Buffer = bytes | bytearray | memoryview
"""What can be sent as it is, without a copy."""
_START_TIMEOUT_S = 120
_STOP_TIMEOUT_S = 5
_REPORT_TIMEOUT_S = 120  # for a program around the worker, which reports when that has ended
_LOG_TAIL = 2000
_PREFIX = "mlmodelscope-worker-"
_LONGEST_PLACE = 56
"""Bytes of a folder for sockets: an address has 103 at most, and names of our own take the rest."""


def _limits() -> dict[str, str]:
    """What a stranger's work may reach: no manifest's variables come before it."""
    names = ("MLMODELSCOPE_PUBLIC_ONLY", "MLMODELSCOPE_SPEAKS_FOR", CONFINED)
    return {name: os.environ.get(name, "") for name in names} if os.environ.get(names[0]) else {}


class WorkerDied(WorkerError):
    """The worker process ended before its work was done."""


class WorkerProcess:
    """A worker and the connection to it; leaving the `with` block ends it.

    `around` is a command that starts another one and looks on.
    """

    def __init__(self, stack: Runnable, needs: Needs, around: tuple[str, ...] = ()) -> None:
        _remove_left_behind()
        self._folder = tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=_place())
        place = Path(self._folder.name)
        self._log = place / "log"
        # Only the worker's own package, and what a plan uses of others, goes onto the stack's path, not whatever else
        # lies beside it here.
        source = place / "source"
        source.mkdir()
        package = Path(mlmodelscope_worker.__file__).parent.resolve()
        for name, path in {"mlmodelscope_worker": package, **needs.modules}.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).symlink_to(path)
        needs = replace(
            needs,
            environment={**needs.environment, **_limits(), "PYTHONPATH": str(source)},
            reads=(*needs.reads, package, *needs.modules.values()),
            writes=(*needs.writes, place),
            folder=source,
        )
        launch = stack.launch(("-m", "mlmodelscope_worker", "--connect", str(place / "socket")), needs)
        if needs.environment.get(CONFINED) == "1":
            launch = confine(launch, needs)
        self._stop = launch.stop
        self._patience_s = _REPORT_TIMEOUT_S if around else _STOP_TIMEOUT_S
        if around and launch.stop is not None:
            self._folder.cleanup()
            raise WorkerError("the stack is a container, and what runs in it cannot be looked at from outside")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, self._log.open("wb") as log:
            listener.bind(str(place / "socket"))
            listener.listen(1)
            try:
                self._process = subprocess.Popen(
                    (*around, *launch.command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(launch.environment),
                    cwd=source,  # `python -m` looks into the current folder first, which is anybody's
                    start_new_session=True,  # Ctrl-C is the host's to handle
                )
            except OSError as error:
                self._folder.cleanup()
                raise WorkerError(f"the worker cannot be started: {error.strerror}: {error.filename}") from None
            try:
                self._channel = Channel(self._accept(listener))
            except BaseException:
                self.kill()
                raise

    def _accept(self, listener: socket.socket) -> socket.socket:
        listener.settimeout(0.2)
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                connection.settimeout(None)
                self._pid = peer_of(connection)
                return connection
            if self._process.poll() is not None:
                raise self._died()
        raise WorkerError(f"the worker did not start within {_START_TIMEOUT_S} s\n{self.log_tail()}")

    def send(self, message: NamedTuple, buffers: Sequence[Buffer] = ()) -> None:
        try:
            self._channel.send(to_header(message), buffers)
        except Closed:
            raise self._died() from None

    def receive(self, expected: type[Message]) -> tuple[Message, list[bytes]]:
        """The next message, which must be of the expected kind; a refusal becomes a WorkerError.

        A worker whose server is gone is as good as dead, and is replaced like one.
        """
        message, buffers = self.receive_any()
        if not isinstance(message, expected):
            raise WorkerError(f"the worker said `{type(message).__name__}` where `{expected.__name__}` was due")
        return message, buffers

    def receive_any(self) -> tuple[object, list[bytes]]:
        """The next message of several kinds that may come."""
        try:
            header, buffers = self._channel.receive()
        except Closed:
            raise self._died() from None
        try:
            message = from_header(REPLIES, header)
        except MessageError as error:
            raise WorkerError(f"the worker said what this version does not know: {error}") from None
        if isinstance(message, Refused):
            raise WorkerError(f"{message.message}\n{message.traceback}".rstrip("\n"))
        if isinstance(message, Gone):
            raise WorkerDied(message.message)
        return message, buffers

    def _died(self) -> WorkerDied:
        try:
            code = self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.returncode
        tail = self.log_tail()
        if code is not None and code < 0:
            name = _signal_name(-code)
            hint = "the kernel kills processes when memory runs out" if name == "SIGKILL" else None
            return WorkerDied(f"the worker was killed by {name}" + (f"\n{tail}" if tail else ""), hint=hint)
        return WorkerDied(f"the worker ended with exit code {code}" + (f"\n{tail}" if tail else ""))

    def log_tail(self) -> str:
        try:
            return self._log.read_text(errors="replace")[-_LOG_TAIL:].strip()
        except OSError:
            return ""

    @property
    def pid(self) -> int:
        """Of the worker itself, whatever was started around it."""
        return self._pid

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._stop is not None:  # what runs elsewhere does not end with the command that started it
            subprocess.run(self._stop, capture_output=True, check=False)
        if hasattr(self, "_channel"):
            self._channel.close()
        self._folder.cleanup()

    def close(self) -> None:
        with contextlib.suppress(Closed):
            self._channel.send(to_header(Close()))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(self._patience_s)
        self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close() if kind is None else self.kill()


def shared_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for what workers write; where this process is killed, the next one that starts a worker removes it."""
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=_place())


def peer_of(connection: socket.socket) -> int:
    """The process at the other end, by the number that it has here."""
    (pid,) = struct.unpack_from("i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _place() -> str:
    """The folder for temporary files, where a socket in it has an address that is short enough."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= _LONGEST_PLACE else "/tmp"  # nosec B108 # a private folder is made in it


def _remove_left_behind() -> None:
    """Remove the folders of hosts that were killed: their workers ended by themselves, their folders did not."""
    for folder in Path(_place()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        try:
            os.kill(int(owner), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, PermissionError):
            continue  # not ours to judge


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"
