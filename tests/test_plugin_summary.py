"""The end of a test run: skips in a few lines, and the slowest tests."""

from pathlib import Path

import pytest

from plugin_summary import REASONS, skip_lines, slow_lines

pytest_plugins = ["pytester"]

STORY = """
import pytest

def test_fine(): pass

@pytest.mark.parametrize("number", range(3))
def test_skipped(number): pytest.skip(f"there is no machine {number}")

@pytest.mark.slow(reason="it is a long story")
def test_marked(lasts): pass

def test_unmarked(lasts): pass
"""
LASTING = """
import pytest
pytest_plugins = ["plugin_summary"]

@pytest.fixture
def lasts(): pass

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if "lasts" in item.fixturenames and report.when == "call":
        report.duration = 11.0
    return report
"""


@pytest.mark.parametrize("flags", [(), ("-n", "2")], ids=["alone", "side by side"])
def test_a_run_ends_with_reasons_and_what_took_long(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plugins take seconds to load
    pytester.makeini("[pytest]\nmarkers = slow: takes long")
    pytester.makeconftest(LASTING)
    modules = {name: f"import pytest\npytest.importorskip('no_{name}')" for name in ("jax", "torch")}
    pytester.makepyfile(test_story=STORY, **{f"test_{name}": text for name, text in modules.items()})
    done = pytester.runpytest_subprocess("-q", "-p", "xdist", *flags)
    done.stdout.fnmatch_lines(
        [
            "*skipped, and why*",
            "   3  there is no machine 0 (and 2 like it)",
            "   2  not installed: no_jax, no_torch",
            "*over 10 s without a mark*",
            "*11.?? s  test_story.py::test_unmarked",
        ]
    )
    done.stdout.no_fnmatch_line("*test_story.py::test_marked")
    assert done.ret == 0


def test_many_reasons_take_few_lines() -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    lines = skip_lines([f"no {word} here" for word in words] + ["no twelve here"])
    assert len(lines) == REASONS and lines[0] == "   2  no twelve here"
    assert lines[-1] == "   3  3 other reasons: see pytest -rs"


def test_the_slowest_come_first() -> None:
    assert slow_lines({"a": 1.0, "b": 12.345}) == ["  12.35 s  b", "   1.00 s  a"]
