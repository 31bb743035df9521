"""Code in manifests is parsed by many threads at once."""

import ast
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from budget import tries
from mlmodelscope.manifest import python_source
from mlmodelscope.manifest.kept import Kept
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.python_source import parse_python

CARRIES_CODE = Path(__file__).parent.parent.parent / "manifests" / "models" / "mnist-nearest-neighbour.yml"


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_many_threads_read_manifests_with_code(restless: None) -> None:
    trouble: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(tries(25, 400)):
                load_manifest(CARRIES_CODE)
        except BaseException as error:
            trouble.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trouble == []


def test_a_tree_that_fails_because_of_another_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: Iterator[object] = iter([SystemError("AST constructor recursion depth mismatch"), ast.parse("x = 1")])

    def parse(code: str) -> object:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(python_source.ast, "parse", parse)
    assert len(parse_python("x = 1").body) == 1


def test_what_is_kept_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path, reads = tmp_path / "a.yml", []
    kept = Kept(lambda path: reads.append(path) or path.read_text())
    path.write_text("one")
    assert [kept(path), kept(path), len(reads)] == ["one", "one", 1]
    path.write_text("two")
    assert [kept(path), len(reads)] == ["two", 2]
    path.unlink()
    with pytest.raises(FileNotFoundError):
        kept(path)
