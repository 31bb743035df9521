"""Plots are whole SVG files, whatever they are made of."""

from xml.etree import ElementTree

from mlmodelscope.study.plot import Bar, Series, bars, lines


def test_bars_show_value_spread_and_the_papers_number() -> None:
    drawn = ElementTree.fromstring(
        bars("a < b", "x & y", [Bar("one", -3.0, -4.0, -2.0, -2.5), Bar("two", 1.0)], "points")
    )
    assert len(drawn.findall(".//{*}rect[@class='bar loss']")) == 1
    assert len(drawn.findall(".//{*}line[@class='whisker']")) == 3
    assert len(drawn.findall(".//{*}circle[@class='paper']")) == 1


def test_curves_have_a_dot_for_each_point() -> None:
    drawn = ElementTree.fromstring(lines("t", "a", [Series("s", ((1, 3.0), (2, 2.0), (16, 5.0)))], "threads", "ms"))
    assert len(drawn.findall(".//{*}circle/{*}title")) == 3


def test_nothing_at_all_is_said() -> None:
    assert "nothing to show" in bars("t", "a", [], "points") and "nothing to show" in lines("t", "a", [], "x", "y")


def test_bars_that_are_all_zero_can_be_drawn() -> None:
    ElementTree.fromstring(bars("t", "a", [Bar("none", 0.0, 0.0, 0.0)], "points"))
