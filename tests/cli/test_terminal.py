"""Tables on a terminal and in a file."""

from __future__ import annotations

import io
import re
import sys

import pytest

from mlmodelscope.cli.terminal import print_table

ROWS = [
    ["one", "a sentence that is long enough to be folded where there is no room", "7"],
    ["tw[o]", "é", "1234"],
]


def test_a_table_that_fits_has_its_columns_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["name", "说", "n"], ROWS, [False, False, True])
    lines = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in lines] == lines and len(lines) == 3
    assert lines[1].startswith("one    a sentence") and lines[2].startswith("tw[o]  é ")
    assert {len(line) for line in lines[1:]} == {len(lines[1])} and lines[0].endswith("     n")


def test_what_is_wider_than_the_terminal_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    print_table(["name", "what", "n"], ROWS, [False, False, True])
    lines = re.sub(r"\x1b\[\d*m", "", shown.getvalue()).splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= 40 and "1234" in shown.getvalue()
