"""Plots that stand alone: well-formed, labelled, and honest about what they cannot show."""

import builtins
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.report.plot import (
    Axis,
    Line,
    Mark,
    Piece,
    bars,
    grouped_bars,
    heat_map,
    lanes,
    roofline,
    scatter,
    shares,
    stacked_bars,
    to_png,
)
from mlmodelscope.report.plot.axis import scale, short, tick_labels
from mlmodelscope.report.plot.ink import cut, wide
from mlmodelscope.report.plot.place import Box, place_names

SVG = "{http://www.w3.org/2000/svg}"
TIME = Axis("time", "ms")
MARKS = [Mark(10.0**place, 50 + place, f"model {place}", "a <b>", place + 1) for place in range(4)]
PLOTS = {
    "bars": bars("Bars & more", [("a<b", 1.5, "told <here>"), ("c", 0.0, "")], TIME),
    "many bars": bars("Many", [(f"layer {place}", place % 7, "") for place in range(500)], TIME, ["x", "y"] * 250),
    "grouped": grouped_bars("Grouped", ["one", "two"], {"first": [1.0, None], "second": [2.0, 3.0]}, TIME),
    "stacked": stacked_bars("Stacked", ["1", "2"], {f"part {place}": [place, 1.0] for place in range(12)}, TIME),
    "shares": shares("Shares", [("conv", 9.0), ("pool", 1.0)], "ms"),
    "scatter": scatter("Scatter", MARKS, Axis("x", log=True), Axis("y", "%"), [Line([(1, 50), (100, 52)], "front")]),
    "roofline": roofline("Roofline", [Mark(3.0, 1e9, "conv"), Mark(0.0, 0.0, "copy")], 1e11, 1e10),
    "heat map": heat_map("Heat", ["1", "2"], ["a", "b"], [[1.0, 2.0], [None, 0.5]], "×"),
    "lanes": lanes("Lanes", [("first", [Piece(0, 2, "conv", "Conv"), Piece(2, 2.1, "relu", "Relu")])], TIME),
}


def tips(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_a_file_of_its_own_in_light_and_dark(name: str) -> None:
    root = ElementTree.fromstring(PLOTS[name])
    assert root.tag == f"{SVG}svg" and root.get("aria-label") and "script" not in PLOTS[name]
    style = root.find(f"{SVG}style")
    assert style is not None and style.text is not None and "prefers-color-scheme:dark" in style.text


@pytest.mark.parametrize("name", PLOTS)
def test_a_style_inside_a_page_touches_nothing_else(name: str) -> None:
    """Every rule is of things inside a plot; and no class is one that the reports hide."""
    style = PLOTS[name].partition("<style>")[2].partition("</style>")[0]
    rules = re.findall(r"([^{}]+)\{", style.replace("@media (prefers-color-scheme:dark){", ""))
    assert rules and all(rule.strip().startswith(".plot ") for rule in rules)
    assert not re.search(r'class="[^"]*\b(quiet|hidden)\b', PLOTS[name])


@pytest.mark.parametrize("name", PLOTS)
def test_every_mark_has_a_tip(name: str) -> None:
    root = ElementTree.fromstring(PLOTS[name])
    marks = [each for each in root.iter() if "mark" in (each.get("class") or "").split()]
    assert marks and all(mark.find(f"{SVG}title") is not None for mark in marks)


@pytest.mark.parametrize("name", PLOTS)
def test_nothing_lies_outside_the_picture(name: str) -> None:
    root = ElementTree.fromstring(PLOTS[name])
    width, height = (float(root.get(side, "0")) for side in ("width", "height"))
    for each in root.iter(f"{SVG}text"):
        assert 0 <= float(each.get("x", "-1")) <= width and 0 <= float(each.get("y", "-1")) <= height, each.text


def test_words_are_escaped() -> None:
    assert "told <here>" in tips(PLOTS["bars"]) and "a<b" in texts(PLOTS["bars"])


@pytest.mark.parametrize(
    "svg",
    [
        bars("t", [], TIME),
        grouped_bars("t", ["a"], {"s": [None]}, TIME),
        shares("t", [("a", 0.0)], "ms"),
        scatter("t", [], TIME, TIME),
        heat_map("t", ["1"], ["a"], [[None]]),
        lanes("t", [("a", [])], TIME),
    ],
)
def test_nothing_to_show_is_said(svg: str) -> None:
    assert "nothing to show" in texts(svg)


def test_a_machine_of_unknown_peak_has_no_roof() -> None:
    assert "the machine's peak is not known" in texts(roofline("t", [], 0.0, 1.0))


def test_what_has_no_place_on_a_logarithmic_axis_is_counted() -> None:
    svg = scatter("t", [Mark(0.0, 1.0, "zero"), Mark(1.0, 1.0, "one")], Axis("x", log=True), TIME)
    assert "1 of 2 have no place on a logarithmic axis" in texts(svg) and "zero" not in texts(svg)
    assert "1 of 2 without arithmetic or memory traffic are not shown" in texts(PLOTS["roofline"])


def test_parts_beyond_the_colours_are_one() -> None:
    found = texts(PLOTS["stacked"])
    assert "other (5)" in found and "part 11" in found and "part 1" not in found
    several = shares("t", [(f"kind {place}", 20.0 - place) for place in range(20)], "ms")
    assert "other (13)" in texts(several)


def test_shares_are_of_the_whole() -> None:
    assert {"90.0 %", "10.0 %", "10 ms"} <= set(texts(PLOTS["shares"]))


def test_a_part_that_is_all_is_still_drawn() -> None:
    assert any(tip.startswith("conv: 5 ms (100.0 %)") for tip in tips(shares("t", [("conv", 5.0)], "ms")))


def test_names_do_not_lie_on_each_other() -> None:
    field = Box(0, 0, 400, 300)
    marks = [("a name that is long", Box(100 + place, 100 + place, 110 + place, 110 + place)) for place in range(12)]
    drawn = place_names(marks, field)
    boxes = []
    for each in drawn:
        x, y = (float(re.search(f'{side}="([^"]+)"', each)[1]) for side in "xy")  # type: ignore[index]
        long = wide("a name that is long", 12)
        left = x - long if 'text-anchor="end"' in each else x
        boxes.append(Box(left, y - 11, left + long, y + 3))
    assert 0 < len(drawn) < 12
    assert not any(one.meets(other) for place, one in enumerate(boxes) for other in boxes[:place])
    assert all(each.left >= 0 and each.right <= 400 for each in boxes)


def test_a_long_name_loses_its_middle() -> None:
    assert cut("short", 100) == "short"
    assert cut("volta_scudnn_128x64_relu_interior_nn_v1", 120).startswith("volta")
    assert cut("volta_scudnn_128x64_relu_interior_nn_v1", 120).endswith("v1")


def test_ticks_are_round() -> None:
    linear = scale(Axis("x"), [0.3, 9.7], 0, 100)
    assert tick_labels(linear) == ["0", "2", "4", "6", "8", "10"]
    decades = scale(Axis("x", log=True), [3e6, 2e11], 0, 100)
    assert tick_labels(decades)[0] == "1\N{NO-BREAK SPACE}M" and decades.ticks[-1] == pytest.approx(1e12)
    assert tick_labels(scale(Axis("x", log=True), [1e-6, 1e-3], 0, 100))[0] == "10⁻⁶"
    assert tick_labels(scale(Axis("x"), [20000.0, 60000.0], 0, 100))[-1] == "60k"


def test_tiny_numbers_have_ticks_too() -> None:
    found = scale(Axis("x"), [1e-12, 5e-12], 0, 100)
    assert found.high > found.low > -1e-12 and found(5e-12) == pytest.approx(100.0)


@pytest.mark.parametrize(("value", "words"), [(0.00123, "0.00123"), (999.0, "999"), (1234.0, "1234"), (2.5e9, "2.5 G")])
def test_numbers_are_short(value: float, words: str) -> None:
    assert short(value).replace("\N{NO-BREAK SPACE}", " ") == words


def test_a_plot_becomes_a_png() -> None:
    pytest.importorskip("resvg_py", reason="the optional package resvg-py is not installed")
    made = to_png(PLOTS["bars"], width=400)
    assert made[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(made[16:20], "big") == 400


def test_png_without_its_package_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def none(name: str, *rest: Any) -> Any:
        if name == "resvg_py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", none)
    with pytest.raises(UsageError, match="PNG needs the package resvg-py"):
        to_png(PLOTS["bars"])
