import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import mlmodelscope_worker
from mlmodelscope.provision.stack import describe_current, worker_digest


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the worker's source that may be changed."""
    copy = tmp_path / "worker"
    shutil.copytree(Path(mlmodelscope_worker.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(mlmodelscope_worker, "__file__", str(copy / "__init__.py"))
    worker_digest.cache_clear()
    yield copy
    worker_digest.cache_clear()


def digest() -> str:
    worker_digest.cache_clear()
    return worker_digest()


def test_a_worker_is_the_same_wherever_it_lies(worker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = digest()
    monkeypatch.undo()
    assert digest() == copied


def test_every_change_of_the_workers_source_changes_its_digest(worker: Path) -> None:
    seen = {digest()}
    step = next(worker.rglob("decode.py"))
    step.write_text(step.read_text() + "#\n")
    seen.add(digest())
    step.rename(step.with_name("decode_again.py"))
    seen.add(digest())
    (worker / "new.py").write_text("")
    seen.add(digest())
    assert len(seen) == 4


def test_what_python_leaves_behind_does_not_count(worker: Path) -> None:
    before = digest()
    (worker / "__pycache__").mkdir()
    (worker / "__pycache__/main.cpython-311.pyc").write_bytes(b"x")
    assert digest() == before


def test_the_interpreter_that_runs_us_is_a_stack() -> None:
    stack = describe_current()
    assert stack.name == "current" and "pydantic" in stack.packages
