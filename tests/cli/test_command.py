"""The command inside this process is the command: the same words, and nothing of it stays behind."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import mlmodelscope.cli.verbs
from mlmodelscope.cli import server_choice

from .command import Run, run_command


@pytest.mark.parametrize("words", [("records", "show", "nothing"), ("schema", "log"), ("check", "-")])
def test_it_says_and_ends_as_a_process_does(run: Run, environment: dict[str, str], words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "mlmodelscope", *words]
    real = subprocess.run(command, env=environment, input="name: [", capture_output=True, text=True, check=False)
    done = run(*words, input="name: [")
    assert (done.returncode, done.stdout, done.stderr) == (real.returncode, real.stdout, real.stderr)


def state() -> list[Any]:
    streams = (sys.stdin, sys.stdout, sys.stderr)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    files = [os.fstat(number).st_ino for number in range(3)]
    return [dict(os.environ), os.getcwd(), sys.argv, streams, handlers, files, list(warnings.filters)]


def test_nothing_stays_behind(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(code: int) -> None:
        os.environ["LEFT"] = "behind"
        os.chdir("/")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        warnings.simplefilter("ignore")
        os.write(1, b"from below")
        raise ValueError("surprise") if code else SystemExit("a reason")

    before = state()
    for code, said in ((1, "ValueError: surprise"), (0, "a reason")):
        monkeypatch.setattr(mlmodelscope.cli.verbs, "make_app", lambda _, code=code: lambda: bad(code))
        done = run_command("records", "--server", "http://127.0.0.1:9", cwd=tmp_path, environment=environment)
        assert done.returncode == 1 and done.stdout == "from below" and said in done.stderr
        assert state() == before and server_choice.remote.cache_info().currsize == 0
