"""The command inside this process: what it prints, writes and how it ends, without the cost of starting one."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

from mlmodelscope.__main__ import main
from mlmodelscope.cli import server_choice

Run = Callable[..., subprocess.CompletedProcess[str]]
Call = Callable[..., str]


def run_command(
    *words: str | Path, cwd: Path, environment: Mapping[str, str] | None = None, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `mlmodelscope WORDS` as `subprocess.run` would, and leave this process as it was.

    What is about the process itself (signals, terminals, pipes, what is imported) needs a real one.
    """
    arguments = ["mlmodelscope", *map(str, words)]
    with (
        _streams(input) as (out, err),
        _variables(os.environ if environment is None else environment),
        contextlib.chdir(cwd),
        _arguments(arguments),
        _handlers(),
        warnings.catch_warnings(),
    ):
        code = _call()
        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.CompletedProcess(arguments, code, _text(out), _text(err))


def command_in(folder: Path, **variables: str) -> Run:
    """The command in a folder with a home and a cache of its own."""
    ours = {"MLMODELSCOPE_HOME": str(folder / "home"), "MLMODELSCOPE_CACHE": str(folder / "cache"), **variables}
    return partial(run_command, cwd=folder, environment={**os.environ, **ours})


def _call() -> int:
    _forget_server()
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        _forget_server()
    return 0


def _forget_server() -> None:
    """A process asks once which server it talks to; the next command may name another."""
    server_choice.remote.cache_clear()
    server_choice.text_of.cache_clear()


@contextlib.contextmanager
def _streams(input: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Files behind descriptors 0, 1 and 2, so that what a worker or pip writes is caught as well."""
    before = sys.stdin, sys.stdout, sys.stderr
    kept = [os.dup(number) for number in range(3)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(input.encode())
        given.seek(0)
        for number, file in enumerate((given, out, err)):
            os.dup2(file.fileno(), number)
        try:
            with _text_of(0, "r") as sys.stdin, _text_of(1, "w") as sys.stdout, _text_of(2, "w") as sys.stderr:
                yield out, err
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
            for number, old in enumerate(kept):
                os.dup2(old, number)
                os.close(old)


def _text_of(number: int, mode: str) -> Any:
    return open(number, mode, encoding="utf-8", closefd=False)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@contextlib.contextmanager
def _variables(wanted: Mapping[str, str]) -> Iterator[None]:
    before, wanted = dict(os.environ), dict(wanted)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _arguments(words: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before


@contextlib.contextmanager
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
