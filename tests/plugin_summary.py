"""What a test run says at its end: what was skipped and why, in a few lines, and which tests took longest.

No time is ever asserted: a machine may be busy. Tests that take long without a mark that says why are named.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

REASONS = 10
SLOWEST = 20
LONG_S = 10.0
IMPORT = re.compile(r"could not import '([^']*)'")
NOT_INSTALLED = "not installed: "
# Folders, addresses, versions and names in quotes differ where the reason is the same.
PARTICULAR = re.compile(r"'[^']*'|`[^`]*`|/\S+|\d+(?:\.\d+)*")
SKIPPED_MODULES = "mlmodelscope_skipped_modules"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Summary(config), "mlmodelscope-summary")


class Summary:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.modules: dict[str, str] = {}
        """Why modules were skipped as a whole, by name. Workers of xdist do not tell this by themselves."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.modules[report.nodeid] = reason_of(report)

    def pytest_sessionfinish(self) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[SKIPPED_MODULES] = self.modules

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of xdist is done; this runs in the process that prints."""
        self.modules.update(getattr(node, "workeroutput", {}).get(SKIPPED_MODULES, {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        stats = terminalreporter.stats
        reasons = [reason_of(each) for each in stats.get("skipped", []) if each.nodeid not in self.modules]
        _write(terminalreporter, "skipped, and why", skip_lines([*reasons, *self.modules.values()]))
        tests = list(_tests(stats.values()))
        seconds = seconds_of(tests)
        if len(seconds) > SLOWEST:  # not after a run of a file or two
            _write(terminalreporter, f"the {SLOWEST} slowest tests", slow_lines(seconds))
        marked = {each.nodeid for each in tests if "slow" in each.keywords}
        # What several tests need is set up for whichever comes first: that is not the test's own time.
        own = seconds_of(each for each in tests if each.when == "call" and each.nodeid not in marked)
        unmarked = {name: taken for name, taken in own.items() if taken > LONG_S}
        _write(terminalreporter, f"over {LONG_S:g} s without a mark `slow` that says why", slow_lines(unmarked))


def reason_of(report: Any) -> str:
    found = report.longrepr
    text = found[2] if isinstance(found, tuple) else str(found)
    return text.removeprefix("Skipped: ").strip()


def skip_lines(reasons: Sequence[str]) -> list[str]:
    """A line for each kind of reason, the most frequent first; the rest is counted."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for reason in reasons:
        imported = IMPORT.match(reason)
        kinds[NOT_INSTALLED if imported else PARTICULAR.sub("…", reason)].append(imported[1] if imported else reason)
    ordered = sorted(kinds.items(), key=lambda each: (-len(each[1]), each[0]))
    shown = ordered if len(ordered) <= REASONS else ordered[: REASONS - 1]
    lines = [f"{len(found):4}  {_told(kind, found)}" for kind, found in shown]
    left = sum(len(found) for _, found in ordered[len(shown) :])
    return lines + ([f"{left:4}  {len(ordered) - len(shown)} other reasons: see pytest -rs"] if left else [])


def _told(kind: str, found: Sequence[str]) -> str:
    """The reason itself where there is one, the first and how many others there are where they differ."""
    different = sorted(set(found))
    if kind == NOT_INSTALLED:
        return _cut(NOT_INSTALLED + ", ".join(different), 200)
    first = _cut(" ".join(different[0].split()), 160)
    return first if len(different) == 1 else f"{first} (and {len(different) - 1} like it)"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def seconds_of(reports: Iterable[Any]) -> dict[str, float]:
    """What each test took: setting up, running and tidying up added."""
    found: Counter[str] = Counter()
    for each in reports:
        found[each.nodeid] += each.duration
    return dict(found)


def slow_lines(seconds: dict[str, float]) -> list[str]:
    ordered = sorted(seconds.items(), key=lambda each: -each[1])
    return [f"{taken:7.2f} s  {name}" for name, taken in ordered[:SLOWEST]]


def _tests(kinds: Iterable[Sequence[Any]]) -> Iterator[pytest.TestReport]:
    for reports in kinds:
        yield from (each for each in reports if isinstance(each, pytest.TestReport))


def _write(terminal: Any, title: str, lines: Sequence[str]) -> None:
    if lines:
        terminal.section(title)
        for line in lines:
            terminal.write_line(line)
