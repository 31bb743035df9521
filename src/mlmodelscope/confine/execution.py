"""Programs that nobody vouches for, such as what a language model wrote: each runs once, behind walls, for a while.

It sees a Python without packages, an empty /tmp of 16 MiB, no network, no device, no other process and no home folder;
it may start no process, and the kernel bounds its time and memory. Where this machine cannot do that, nothing runs.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mlmodelscope.confine import program as inside
from mlmodelscope.confine.bubblewrap import APART, SYSTEM, why_not
from mlmodelscope.confine.one_process import filter_bytes
from mlmodelscope.errors import LimitError

MOST_BYTES = 1 << 20
_TMP_BYTES = 16 << 20
_MOST_VERDICT = 256
_PATIENCE = 3
"""Wall-clock seconds for each second of processor time: a busy machine gives a process little."""


@dataclass(frozen=True)
class Allowance:
    cpu_s: int = 10
    """Processor time of one program."""
    memory_bytes: int = 512 << 20


def why_nothing_runs() -> str | None:
    """Why programs of strangers cannot be run on this machine; nothing where they can."""
    if filter_bytes() is None:
        return "on this kind of processor nothing keeps a program from starting others"
    return why_not()


def run_all(programs: Sequence[str], allowance: Allowance) -> list[str]:
    """What became of each: `passed`, `timeout`, or `failed` with the name of the error."""
    reason = why_nothing_runs()
    if reason is not None:
        raise LimitError(f"programs of strangers run in a sandbox only, and there is none: {reason}")
    with ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 1) // 2)) as crew:
        return list(crew.map(lambda each: _run(each, allowance), programs))


def _run(program: str, allowance: Allowance) -> str:
    raw = program.encode("utf-8", "surrogatepass")
    if len(raw) > MOST_BYTES:
        return "failed: too long"
    word = secrets.token_hex(16).encode()
    with tempfile.TemporaryFile() as given, _filter() as filtering:
        given.write(word + b"\n" + raw)
        given.seek(0)
        process = subprocess.Popen(
            _command(allowance, filtering.fileno()),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(filtering.fileno(),),
            env={},
        )
        try:
            told, is_late = _verdict(process, time.monotonic() + _PATIENCE * allowance.cpu_s + 5)
        finally:
            process.kill()  # with it goes everything inside
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
    if told == b"passed " + word:
        return "passed"
    if is_late or not told:
        return "timeout" if is_late or _ran_out(process.returncode) else "failed: it ended"
    kind = told.partition(b" ")[2].decode("utf-8", "replace")[:60]
    return f"failed: {kind}" if told.startswith(b"failed ") else "failed: it ended"


def _ran_out(code: int) -> bool:
    """Whether the kernel ended it for its processor time, as bubblewrap reports that."""
    return code in (128 + 9, 128 + 24)


def _verdict(process: subprocess.Popen[bytes], end: float) -> tuple[bytes, bool]:
    """(what it says of itself, whether it was waited for in vain). More than a line is nothing it should say."""
    assert process.stdout is not None
    told = b""
    while len(told) <= _MOST_VERDICT:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return told, True
        more = os.read(process.stdout.fileno(), 4096)
        if not more:
            _wait(process, end)
            return told, False
        told += more
    return b"failed too much", False


def _wait(process: subprocess.Popen[bytes], end: float) -> None:
    try:
        process.wait(max(0.1, min(2.0, end - time.monotonic())))
    except subprocess.TimeoutExpired:
        return  # it closed its end and runs on: it is killed


@contextmanager
def _filter() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        file.write(filter_bytes() or b"")
        file.flush()
        file.seek(0)
        yield file


def _command(allowance: Allowance, filtering: int) -> list[str]:
    tool = shutil.which("bwrap")
    assert tool is not None
    command = [tool, *APART, "--seccomp", str(filtering)]
    for name in SYSTEM:
        place = Path("/", name)
        if place.is_symlink():
            command += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            command += ["--ro-bind", str(place), str(place)]
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    python = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    for path in dict.fromkeys((Path(os.path.realpath(sys.base_prefix)), python.parent.parent)):
        if not path.is_relative_to("/usr") and path != Path("/"):
            command += ["--ro-bind", str(path), str(path)]
    command += ["--size", str(_TMP_BYTES), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp", "--clearenv"]  # nosec B108 # inside
    for name, value in {"HOME": "/tmp", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}.items():  # nosec B108 # inside
        command += ["--setenv", name, value]
    source = Path(inside.__file__).read_text(encoding="utf-8")
    return [*command, "--", str(python), "-I", "-S", "-c", source, str(allowance.memory_bytes), str(allowance.cpu_s)]
