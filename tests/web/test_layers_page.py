"""A model's layers as a graph that unfolds, and as a list; nothing of the model runs for it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import MODEL, PHONE, Site, Visit, visiting

NARROW, WIDE = {"width": 320, "height": 800}, {"width": 1440, "height": 900}
PAGE = f"/models/{MODEL}/layers"


def test_blocks_are_folded_and_open_to_layers_with_shapes(visit: Visit) -> None:
    page = visit.to(f"/models/{MODEL}")
    page.get_by_role("link", name="Look at its layers").click()
    expect(page).to_have_url(re.compile(re.escape(PAGE)))
    graph = page.get_by_role("region", name="Graph of the layers")
    expect(graph.get_by_role("button", name="Open block blocks.0, 5 layers")).to_be_visible()
    expect(graph.get_by_role("button", name=re.compile("^Layer Conv"))).to_have_count(0)
    expect(graph).to_contain_text("1 × 32 × 112 × 112")
    graph.get_by_role("button", name="Open block stem, 3 layers").click()
    expect(graph.get_by_role("button", name=re.compile("^Layer Conv"))).to_be_visible()
    page.get_by_role("button", name="Fold stem").click()
    expect(graph.get_by_role("button", name=re.compile("^Layer Conv"))).to_have_count(0)


def test_a_layer_shows_its_weights_and_attributes_and_has_an_address(visit: Visit) -> None:
    page = visit.to(PAGE)
    graph = page.get_by_role("region", name="Graph of the layers")
    graph.get_by_role("button", name="Open block stem, 3 layers").focus()
    page.keyboard.press("Enter")
    graph.get_by_role("button", name=re.compile("^Layer Conv")).click()
    facts = page.locator("section").filter(has=page.get_by_role("heading", name="Conv"))
    for told in ("strides", "[2, 2]", "32 × 3 × 3 × 3 float32", "864", "1 × 32 × 112 × 112"):
        expect(facts).to_contain_text(told)
    expect(page).to_have_url(re.compile("layer=(%22)?0"))
    page.reload()
    expect(page.get_by_role("heading", name="Conv")).to_be_visible()


def test_all_layers_open_and_only_those_in_sight_are_drawn(visit: Visit) -> None:
    page = visit.to(PAGE)
    page.get_by_role("button", name="Open all").click()
    graph = page.get_by_role("region", name="Graph of the layers")
    seen = graph.get_by_role("button")
    expect(seen.first).to_be_visible()
    assert seen.count() < 60
    graph.evaluate("it => { it.scrollTop = it.scrollHeight; }")
    expect(graph.get_by_role("button", name=re.compile("^Layer Gemm|^Layer MatMul"))).to_be_visible()


def test_a_list_of_layers_is_searched(visit: Visit) -> None:
    page = visit.to(f"{PAGE}?view=list")
    layers = page.get_by_role("list", name="Layers")
    expect(page.get_by_text("143 of 143")).to_be_visible()
    assert layers.get_by_role("listitem").count() < 60
    page.get_by_placeholder("Search layers").fill("conv stem")
    expect(layers.get_by_role("listitem")).to_have_count(1)
    layers.get_by_role("button").click()
    expect(page.get_by_role("heading", name="Conv")).to_be_visible()


def test_a_model_whose_file_is_not_here_says_so(visit: Visit, site: Site) -> None:
    text = (site.place / "manifests" / "toy.yml").read_text().replace("name: toy", "name: not-here")
    text = text.replace("graph_path: toy.json", "graph_path: 'https://github.com/c3sr/none/net.onnx'")
    assert site.http.post("/manifests", json={"text": text}).status_code in (200, 201)
    page = visit.to("/models/not-here/layers")
    expect(page.get_by_role("alert")).to_contain_text("is not on this server")
    visit.to("/models/not-here")
    expect(page.get_by_role("link", name="Look at its layers")).to_have_count(0)


@pytest.mark.parametrize("viewport", [NARROW, PHONE, WIDE], ids=["320", "390", "1440"])
def test_layers_fit_and_keep_nobody_out(browser: Any, site: Site, viewport: dict[str, int]) -> None:
    for scheme in ("light", "dark"):
        with visiting(browser, site, viewport=viewport, color_scheme=scheme) as visit:
            for path in (f"{PAGE}?layer=20", f"{PAGE}?view=list"):
                page = visit.to(path)
                expect(page.get_by_role("heading", name="In numbers").first).to_be_visible()
                expect(page.get_by_role("button", name="Graph")).to_be_visible()
                assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
                assert not visit.violations()
