"""The page and the files of analyses."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.dom.minidom import parseString

import pytest
from made_traces import subject

from browser import sticks_out
from mlmodelscope.analysis.analyse import analyse
from mlmodelscope.analysis.analyses_page import write_page
from mlmodelscope.analysis.write import check_output, write_analyses
from mlmodelscope.errors import StoreError, UsageError


def page() -> str:
    which = subject("library")
    return write_page(analyse([which]), [which])


def test_the_page_has_every_analysis_and_what_is_missing() -> None:
    text = page()
    for name in (f"A{number}" for number in range(2, 16)):
        assert f'<section id="{name}"' in text
    assert "What is missing" in text and "mlmodelscope bench MODEL DATASET --scenario sweep" in text


def test_the_page_loads_nothing_and_allows_its_own_script_alone() -> None:
    text = page()
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(script) == 1 and b64encode(sha256(script[0].encode()).digest()).decode() in text
    assert not re.findall(r'(?:src|href)="(?!#)', text) and "default-src 'none'" in text


def test_names_cannot_break_out_of_the_page() -> None:
    which = subject("library")
    assert which.trace is not None
    spans = tuple(
        span if span.name != "gemm" else type(span)(**{**_fields(span), "name": "<script>alert(1)</script>"})
        for span in which.trace.spans
    )
    which = type(which)(None, type(which.trace)(which.trace.id, 0, spans, (), which.trace.resource))
    assert "<script>alert" not in write_page(analyse([which]), [which])


def _fields(span: object) -> dict[str, object]:
    return {name: getattr(span, name) for name in span.__slots__}  # type: ignore[attr-defined]


def test_a_folder_gets_tables_and_plots(tmp_path: Path) -> None:
    which = subject("library")
    written = write_analyses(analyse([which]), [which], tmp_path / "out")
    names = {path.name for path in written}
    assert {"A2-layers.csv", "A2-layers.json", "A3-layer_latency-in-order.svg", "missing.json"} <= names
    for path in written:
        if path.suffix == ".svg":
            parseString(path.read_text())
        elif path.suffix == ".json":
            json.loads(path.read_text())


def test_a_single_file_has_a_single_table(tmp_path: Path) -> None:
    which = subject()
    target = tmp_path / "layers.csv"
    write_analyses(analyse([which], ["A2"]), [which], target)
    assert target.read_text().startswith("index,name,type,shape,time_ns,share,")
    with pytest.raises(UsageError, match="room for one table"):
        check_output(target, 2)
    with pytest.raises(UsageError, match="does not say which form"):
        check_output(tmp_path / "layers.xls", 1)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    which = subject()
    with pytest.raises(StoreError, match="cannot write"):
        write_analyses(analyse([which], ["A2"]), [which], tmp_path / "file" / "a.html")


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The page in a real browser, with what it asked for and complained about."""
    path = tmp_path / "analyses.html"
    path.write_text(page(), encoding="utf-8")
    shown = browser.new_page()
    shown.said = []
    shown.on("console", lambda message: shown.said.append(message.text))
    shown.on("pageerror", lambda error: shown.said.append(str(error)))
    shown.goto(path.as_uri())
    yield shown
    shown.close()


def test_tables_are_sorted_by_a_click(opened: Any) -> None:
    def names() -> list[str]:
        return list(opened.locator("#A2 tbody tr td:nth-child(2)").all_inner_texts())

    assert names() == ["conv", "relu", "odd"]
    head = opened.locator("#A2 th button", has_text="time")
    for expected in (["conv", "odd", "relu"], ["relu", "odd", "conv"], ["conv", "relu", "odd"]):
        head.click()
        assert names() == expected
    assert opened.said == []


def test_plots_are_switched_and_marks_have_names(opened: Any) -> None:
    plots = opened.locator("#A3 .plot-panel")
    assert [plots.nth(place).is_visible() for place in range(3)] == [True, False, False]
    opened.locator("#A3 .switch button", has_text="logarithmic").click()
    assert [plots.nth(place).is_visible() for place in range(3)] == [False, False, True]
    opened.locator('#A3 .plot-panel:not([hidden]) [data-tip*="conv"]').first.hover()
    assert "conv" in opened.locator("#tip").inner_text()
    assert opened.said == []


def test_nothing_sticks_out_of_a_screen(opened: Any) -> None:
    assert sticks_out(opened) == []
