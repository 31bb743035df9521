"""The worker as a process: nothing of it is left behind, and its end is told plainly."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from mlmodelscope.errors import WorkerError
from mlmodelscope.provision.stack import CurrentStack, Needs
from mlmodelscope.worker.process import WorkerDied, WorkerProcess


@pytest.fixture(autouse=True)
def place(plain_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that is only ours, with a short name, as sockets need one."""
    monkeypatch.setattr(tempfile, "tempdir", str(plain_path))
    return plain_path


def test_a_worker_leaves_no_files_and_no_process(place: Path) -> None:
    with WorkerProcess(CurrentStack(), Needs()) as worker:
        pid = worker.pid
        assert list(place.iterdir())
    assert not list(place.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_temporary_folder_with_a_long_name_is_no_obstacle(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = place / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with WorkerProcess(CurrentStack(), Needs()):
        assert not list(long.iterdir())


def test_what_a_killed_host_left_is_removed_by_the_next(place: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    (place / f"mlmodelscope-worker-{dead.pid}-x").mkdir()
    (place / f"mlmodelscope-worker-{os.getpid()}-mine").mkdir()
    (place / "mlmodelscope-worker-strange").mkdir()
    with WorkerProcess(CurrentStack(), Needs()):
        left = {path.name for path in place.iterdir()}
    assert f"mlmodelscope-worker-{dead.pid}-x" not in left
    assert {f"mlmodelscope-worker-{os.getpid()}-mine", "mlmodelscope-worker-strange"} <= left


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGKILL, "SIGKILL"),
        (signal.SIGSEGV, "SIGSEGV"),
        (signal.SIGRTMIN + 3, f"signal {signal.SIGRTMIN + 3}"),  # those for real time have no names
    ],
)
def test_a_signal_that_ended_the_worker_is_named(number: int, name: str) -> None:
    with pytest.raises(WorkerDied, match=rf"killed by {name}\b"), WorkerProcess(CurrentStack(), Needs()) as worker:
        os.kill(worker.pid, number)
        worker.receive("opened")


def test_an_interpreter_that_is_not_there_or_is_none_is_said(place: Path) -> None:
    (place / "program").write_text("no program")
    wrong = {
        "/bin/false": "the worker ended with exit code 1",
        str(place / "missing"): f"the worker cannot be started: No such file or directory: {place}/missing",
        str(place / "program"): f"the worker cannot be started: Permission denied: {place}/program",
    }
    for python, words in wrong.items():
        with pytest.raises(WorkerError, match=words):
            WorkerProcess(CurrentStack(python), Needs())
    assert [path.name for path in place.iterdir()] == ["program"]


def test_a_module_of_the_same_name_in_the_current_folder_is_not_the_worker(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "mlmodelscope_worker.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(place)
    with WorkerProcess(CurrentStack(), Needs()):
        pass
