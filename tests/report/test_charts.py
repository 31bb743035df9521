"""Charts are well-formed, and put things where they belong."""

import xml.etree.ElementTree as ElementTree

import pytest

from mlmodelscope.report import charts
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.types import Interval


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def place(element: ElementTree.Element, name: str) -> float:
    return float(element.attrib[name].removesuffix("%"))


@pytest.mark.parametrize("published", [None, "75.1", "0", "100", "999"])
@pytest.mark.parametrize("interval", [wilson(58, 70), wilson(0, 1), wilson(50_000, 50_000), wilson(25_000, 50_000)])
def test_an_interval_is_drawn_inside_its_axis(interval: Interval, published: str | None) -> None:
    drawing = parse(charts.interval_bar(interval, published))
    assert drawing.attrib["role"] == "img" and drawing.attrib["aria-label"]
    band, dot = drawing.find("rect"), drawing.find("circle")
    assert band is not None and dot is not None
    assert 0 <= place(band, "x") <= place(dot, "cx") <= place(band, "x") + place(band, "width") + 0.01 <= 100.01


def test_the_published_number_lies_where_the_axis_says() -> None:
    drawing = parse(charts.interval_bar(wilson(58, 70), "75.1"))
    ticks = {text.text: place(text, "x") for text in drawing.findall("text") if text.attrib["class"] == "scale"}
    (mark,) = (line for line in drawing.findall("line") if line.attrib["class"] == "claim")
    low, high = ticks["70"], ticks["80"]
    assert place(mark, "x1") == pytest.approx(low + 0.51 * (high - low), abs=0.02)


def test_every_run_is_in_the_histogram() -> None:
    values = [10 + 0.01 * index for index in range(100)]
    drawing = parse(charts.histogram(values, [("p50", 10.5), ("p99", 10.98)], "ms"))
    titles = [title.text or "" for title in drawing.iter("title")]
    assert sum(int(title.rpartition(": ")[2]) for title in titles) == 100


def test_one_slow_run_does_not_squeeze_the_others() -> None:
    values = [10 + 0.01 * index for index in range(100)] + [5000.0]
    titles = [title.text or "" for title in parse(charts.histogram(values, [], "ms")).iter("title")]
    assert "and more: 1" in titles[-1]
    assert sum(not title.endswith(": 0") for title in titles) > 5


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0], [0.0, 0.0]])
def test_equal_durations_can_be_drawn(values: list[float]) -> None:
    assert len(parse(charts.histogram(values, [("p50", values[0])], "ms")))


def test_a_bin_of_confidence_is_as_high_as_its_accuracy() -> None:
    filled = {"low": 0.8, "high": 1.0, "count": 10, "confidence": 0.9, "accuracy": 0.5}
    drawing = parse(charts.reliability([filled]))
    column = next(each for each in drawing.iter("rect") if each.attrib["class"] == "column")
    assert float(column.attrib["height"]) == pytest.approx(120)
    assert len(parse(charts.reliability([])))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (60, 100), (98.6, 99.9), (0, 0), (12345, 12346)])
def test_ticks_are_few_round_and_cover_everything(low: float, high: float) -> None:
    ticks = charts.nice_ticks(low, high)
    assert 2 <= len(ticks) <= 8 and ticks[0] <= low + 1e-6 and ticks[-1] >= high - 1e-6
    assert ticks == sorted(set(ticks))


def test_a_stacked_bar_is_whole() -> None:
    widths = [place(each, "width") for each in parse(charts.stacked_bar([("a", 1), ("b", 2), ("c", 0)])).iter("rect")]
    assert sum(widths) == pytest.approx(100, abs=0.1)
