"""Tables on a terminal and in a file."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable

import pytest

from mlmodelscope.cli.sensitivity import _show as show_costs
from mlmodelscope.cli.terminal import console, print_facts, print_fitting, print_note, print_table
from mlmodelscope.replicate.finding import Measured
from mlmodelscope.replicate.sensed import Cost, Sensed

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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown_by(work: Callable[[], None], monkeypatch: pytest.MonkeyPatch, columns: int = 40) -> list[str]:
    """What a terminal shows, without colors."""
    screen = Terminal()
    with monkeypatch.context() as changed:
        changed.setenv("COLUMNS", str(columns))
        changed.setenv("TERM", "xterm")
        changed.setattr(sys, "stdout", screen)
        work()
    return re.sub(r"\x1b\[\d*m", "", screen.getvalue()).splitlines()


def test_facts_are_wrapped_on_a_terminal_and_whole_in_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = [("name", ROWS[0][1]), ("a [b]", "[c]")]
    lines = shown_by(lambda: print_facts(facts), monkeypatch)
    assert max(map(len, lines)) <= 40 and len(lines) > 2 and lines[1].startswith("       ")
    print_facts(facts)
    assert capsys.readouterr().out.splitlines() == [f"name   {ROWS[0][1]}", "a [b]  [c]"]


def test_a_terminal_gets_the_columns_that_fit_and_the_names_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    titles, rows = ["name", "first", "second", "third"], [["a", "123456789012", "2", "123456789012"]]
    right = [False, True, True, True]
    lines = shown_by(lambda: print_fitting(titles, rows, right), monkeypatch, 30)
    assert max(map(len, lines)) <= 30 and "123456789012" in lines[1] and "third" not in lines[0]
    assert " ".join(lines[2:]).startswith("no room for third: ")
    assert "third" in shown_by(lambda: print_fitting(titles, rows, right), monkeypatch, 80)[0]


def test_a_file_gets_every_column_and_no_padding(capsys: pytest.CaptureFixture[str]) -> None:
    wide = [[f"column {number}" for number in range(60)]]
    print_fitting(wide[0], wide, [False] * 60)
    console().print("a short line   \nanother  ", soft_wrap=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("column 59") and lines[-2:] == ["a short line", "another"]


def test_a_note_is_wrapped_between_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown_by(lambda: print_note(ROWS[0][1], "note:"), monkeypatch)
    assert " ".join(line.strip() for line in lines) == f"note: {ROWS[0][1]}" and max(map(len, lines)) <= 40
    print_note(ROWS[0][1])
    assert capsys.readouterr().out == f"{ROWS[0][1]}\n"


def test_what_is_wider_than_the_terminal_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown_by(lambda: print_table(["name", "what", "n"], ROWS, [False, False, True]), monkeypatch)
    assert len(lines) > 3 and max(map(len, lines)) <= 40
    assert any(line.endswith("1234") for line in lines)  # numbers stay whole


def test_the_cost_of_pitfalls_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Cost(
        pitfall="interpolation",
        title="Interpolation",
        words="pillow's bilinear without antialiasing instead of opencv's area interpolation",
        value=0.6143,
        others={"top5": 0.8571},
        difference=-0.1,
        difference_low=-0.183,
        difference_high=-0.017,
        gained=1,
        lost=8,
        flips=14,
        failed=0,
        samples=70,
        p_value=0.0391,
    )
    number = Measured(value=0.7143, low=0.6, high=0.8)
    found = Sensed(
        model="m@1.0.0",
        dataset="d@1.0.0",
        record="r",
        samples=70,
        metric="top1",
        titles={"top1": "top-1", "top5": "top-5"},
        unit="share",
        numbers={"top1": number, "top5": number},
        effects=(cost,),
    )
    lines = shown_by(lambda: show_costs(found), monkeypatch, 80)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= 80 and "…" not in text
    assert "61.4 %" in text and "failed" not in text and " ".join(text.split()).count("interpolation") >= 1
