"""Traces in a browser: a timeline that is zoomed and moved by wheel, pointer and keys, and what else is told of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import PHONE, Site, Visit

FIXTURES = Path(__file__).parents[1] / "trace" / "fixtures"


@pytest.fixture(scope="module")
def traces(site: Site) -> Iterator[dict[str, str]]:
    """Ids of real profiles of a GPU, by who made them."""
    records = {name: site.adopted(FIXTURES / f"resnet50{name}h200-batch1") for name in ("-", "-jax-")}
    listed = {each["record"]: each["id"] for each in site.client().get("/traces", {"limit": 100})["items"]}
    yield {"torch": listed[records["-"]], "jax": listed[records["-jax-"]]}


class Timeline:
    """The canvas, and the window that the address says it shows."""

    def __init__(self, visit: Visit, trace: str, more: str = "") -> None:
        self.page = visit.to(f"/traces/{trace}{more}")
        self.place = self.page.get_by_role("application").first
        self.canvas = self.place.locator("canvas")
        self.shows(lambda low, high: low < high)

    def settled(self) -> None:
        """All pieces are there and drawn."""
        expect(self.canvas).to_have_attribute("data-waiting", "0")

    def shows(self, window: Callable[[int, int], bool]) -> None:
        """Wait until it shows such a window: the address follows when it has come to rest."""
        self.page.wait_for_url(lambda url: (found := window_of(url)) is not None and window(*found))
        self.settled()

    def window(self) -> tuple[int, int]:
        found = window_of(self.page.url)
        assert found is not None, self.page.url
        return found

    def wide(self) -> int:
        low, high = self.window()
        return high - low

    def drawn(self) -> int:
        return int(self.canvas.get_attribute("data-drawn"))

    def middle(self) -> tuple[float, float]:
        box = self.canvas.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + 60


def window_of(url: str) -> tuple[int, int] | None:
    found = {name: int(value) for name, value in re.findall(r"\b(from|to)=(\d+)", url)}
    return (found["from"], found["to"]) if len(found) == 2 else None


def test_traces_are_listed_and_opened(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to("/traces")
    expect(page.get_by_role("table", name="Traces")).to_contain_text("2,787")
    page.get_by_role("link", name="resnet50-script").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("resnet50-script")
    expect(page.get_by_role("application", name="Timeline of resnet50-script")).to_be_visible()


def test_a_profiles_record_leads_to_its_timeline(visit: Visit, site: Site, traces: dict[str, str]) -> None:
    record = site.client().get(f"/traces/{traces['torch']}")["record"]
    page = visit.to(f"/records/{record}")
    page.get_by_role("link", name="See where the time goes").click()
    expect(page.get_by_role("application")).to_be_visible()


def test_it_begins_where_the_layers_are(visit: Visit, traces: dict[str, str]) -> None:
    timeline = Timeline(visit, traces["torch"])
    low, high = timeline.window()
    assert 0 < low < high and timeline.wide() < 50_000_000 and timeline.drawn() > 500


def test_wheel_drag_keys_and_buttons_move_it_and_the_address_follows(visit: Visit, traces: dict[str, str]) -> None:
    timeline = Timeline(visit, traces["torch"])
    page, start = timeline.page, timeline.wide()
    page.mouse.move(*timeline.middle())
    page.mouse.wheel(0, -300)
    timeline.shows(lambda low, high: high - low < start)
    closer, low = timeline.wide(), timeline.window()[0]
    page.mouse.down()
    x, y = timeline.middle()
    page.mouse.move(x - 200, y, steps=4)
    page.mouse.up()
    timeline.shows(lambda moved, _: moved > low)
    assert abs(timeline.wide() - closer) < 10
    timeline.place.focus()
    page.keyboard.press("+")
    timeline.shows(lambda low, high: high - low < closer - 10)
    at = timeline.window()[0]
    page.keyboard.press("ArrowLeft")
    timeline.shows(lambda moved, _: moved < at)
    page.get_by_role("button", name="Whole").click()
    timeline.shows(lambda low, _: low == 0)
    whole = timeline.wide()
    page.get_by_role("button", name="Zoom in").click()
    timeline.shows(lambda low, high: high - low < whole)
    shown = timeline.window()
    page.reload()
    timeline.settled()
    assert timeline.window() == shown


def test_pointing_and_clicking_show_what_a_span_is(visit: Visit, traces: dict[str, str]) -> None:
    timeline = Timeline(visit, traces["torch"])
    box = timeline.canvas.bounding_box()
    page, at = timeline.page, (box["x"] + 150, box["y"] + 115)
    page.mouse.move(*at)
    expect(page.get_by_text("· from")).to_be_visible()
    page.mouse.click(*at)
    facts = page.locator("section", has=page.get_by_role("button", name="Zoom to it"))
    expect(facts).to_contain_text("Model and its steps")
    before = timeline.wide()
    facts.get_by_role("button", name="Zoom to it").click()
    timeline.shows(lambda low, high: high - low < before)
    assert "span=" in page.url
    facts.get_by_role("button", name="Close").click()
    expect(facts).to_have_count(0)


def test_a_search_steps_everything_else_back_and_lists_what_fits(visit: Visit, traces: dict[str, str]) -> None:
    timeline = Timeline(visit, traces["torch"])
    page = timeline.page
    page.get_by_role("searchbox").fill("layer1.0.conv1")
    table = page.get_by_role("table", name="Spans in view")
    expect(table.get_by_role("row")).to_have_count(3)  # the head, and once in each of two runs
    assert "q=layer1.0.conv1" in page.url
    table.get_by_role("button", name="layer1.0.conv1").first.click()
    facts = page.locator("section", has=page.get_by_role("button", name="Zoom to it"))
    expect(facts).to_contain_text("1×64×56×56")
    page.get_by_role("searchbox").fill("nothing is called so")
    expect(page.get_by_text("No matches. Zoom out or broaden your search.")).to_be_visible()


def test_a_level_hides_what_is_below_it(visit: Visit, traces: dict[str, str]) -> None:
    timeline = Timeline(visit, traces["torch"])
    all_of_it = timeline.drawn()
    timeline.page.get_by_label("Down to").select_option("framework")
    expect(timeline.page).to_have_url(re.compile("level=framework"))
    expect(timeline.canvas).not_to_have_attribute("data-drawn", str(all_of_it))
    timeline.settled()
    assert timeline.drawn() < all_of_it


def test_the_flame_graph_is_walked_and_taken_along(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to(f"/traces/{traces['torch']}?tab=flames")
    where = page.get_by_role("navigation", name="Where one is")
    expect(where).to_contain_text("run")
    page.locator("g[data-node='compute']").click()
    expect(where).to_contain_text("compute")
    expect(page.get_by_role("table", name="Self time")).to_contain_text("layer1.0.conv1")
    where.get_by_role("button", name="all").click()
    expect(where).to_have_text(re.compile("all, "))
    with page.expect_download() as caught:
        page.get_by_role("button", name="SVG").click()
    assert Path(caught.value.path()).read_text().startswith("<svg")


def test_most_time_is_told_by_layer_and_by_kernel(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to(f"/traces/{traces['torch']}?tab=top")
    expect(page.get_by_role("table", name="Layers by time")).to_contain_text("layer1.0.conv1")
    expect(page.get_by_text("Time in one run, each layer at its median over the runs, as in Analyses.")).to_be_visible()
    page.get_by_role("button", name="Library calls and kernels").click()
    expect(page.get_by_role("table", name="Library calls and kernels by time")).to_contain_text("gemm")


def test_the_roofline_is_drawn_and_what_is_missing_is_said(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to(f"/traces/{traces['torch']}?tab=analyses")
    expect(page.get_by_role("img", name="Roofline of kernels")).to_be_visible()
    expect(page.get_by_role("table", name="Layers", exact=True)).to_contain_text("layer4.2.conv2")
    visit.to(f"/traces/{traces['jax']}?tab=analyses")
    missing = page.locator("section", has=page.get_by_role("heading", name="What is missing"))
    expect(missing).to_contain_text("mlmodelscope profile")


def test_two_traces_share_one_zoom(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to("/traces")
    for name in ("resnet50-script", "resnet50-jax"):
        page.get_by_role("checkbox", name=f"Choose {name}").first.check()
    page.get_by_role("button", name="Two side by side").click()
    both = page.get_by_role("application")
    expect(both).to_have_count(2)
    for each in (0, 1):
        expect(both.nth(each).locator("canvas")).to_have_attribute("data-waiting", "0")
    before = [both.nth(each).locator("canvas").get_attribute("data-drawn") for each in (0, 1)]
    box = both.nth(0).bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 60)
    page.mouse.wheel(0, -600)
    for each in (0, 1):
        expect(both.nth(each).locator("canvas")).not_to_have_attribute("data-drawn", before[each])


def test_a_trace_is_taken_along_in_every_form(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to(f"/traces/{traces['jax']}")
    for form, key in (("Perfetto", "traceEvents"), ("OTLP", "resourceSpans"), ("speedscope", "profiles")):
        with page.expect_download() as caught:
            page.get_by_role("button", name="Export").click()
            page.get_by_role("dialog", name="Formats of the trace").get_by_role("button", name=form).click()
        assert key in json.loads(Path(caught.value.path()).read_text())
    with page.expect_download() as caught:
        page.get_by_role("button", name="Export").click()
        page.get_by_role("dialog", name="Formats of the trace").get_by_role("button", name="CSV").click()
    assert "conv" in Path(caught.value.path()).read_text()


def test_what_is_not_there_or_cannot_be_had_is_said_and_comes_back(visit: Visit, traces: dict[str, str]) -> None:
    page = visit.to(f"/traces/{'0' * 31}1")
    expect(page.get_by_role("alert")).to_contain_text("there is no trace")
    timeline = Timeline(visit, traces["torch"])
    page.route("**/timeline?**", lambda route: route.abort())
    page.mouse.move(*timeline.middle())
    page.mouse.wheel(0, -600)
    expect(page.get_by_role("alert").first).to_contain_text("The server does not answer")
    page.unroute("**/timeline?**")
    page.get_by_role("button", name="Try again").first.click()
    timeline.settled()
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out_by_how_it_is_made(visit: Visit, traces: dict[str, str], scheme: Any) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    for path in pages(traces):
        visit.to(path)
        assert not visit.violations(), path


def test_it_fits_a_phone(visit: Visit, traces: dict[str, str]) -> None:
    visit.page.set_viewport_size(PHONE)
    for path in pages(traces):
        visit.to(path)
        assert visit.sticks_out() == [], path


def pages(traces: dict[str, str]) -> list[str]:
    one = f"/traces/{traces['torch']}"
    tabs = [f"{one}?tab={tab}" for tab in ("flames", "top", "analyses")]
    return ["/traces", one, *tabs, f"/traces/compare?left={traces['torch']}&right={traces['jax']}"]
