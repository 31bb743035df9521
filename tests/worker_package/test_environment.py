"""What a stack consists of, read without importing it."""

import sys
import time
from pathlib import Path

import pytest

from mlmodelscope_worker import clock, environment


def test_packages_are_found_by_their_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("onnxruntime_gpu-1.17.3.dist-info", "Pillow-8.4.0-py3.6.egg-info", "six-1.16.0.egg-info", "notes.txt"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    assert environment.installed_packages() == {"onnxruntime-gpu": "1.17.3", "pillow": "8.4.0", "six": "1.16.0"}


def test_the_first_on_the_path_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("a", "1.0"), ("b", "2.0")):
        (tmp_path / folder / f"thing-{version}.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "b"), str(tmp_path / "a")])
    assert environment.installed_packages() == {"thing": "2.0"}


def test_this_stack_describes_itself() -> None:
    described = environment.describe()
    assert described["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"numpy", "pillow"} <= set(described["packages"])


def test_the_clock_counts_nanoseconds_even_in_python_3_6() -> None:
    for count in (clock.nanoseconds, clock._from_seconds):
        assert isinstance(count(), int) and count() <= count()
    assert abs(clock._from_seconds() - time.perf_counter() * 1e9) < 60e9
