"""Stacks by framework: searched, opened to packages and lock, and two side by side."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import PHONE, Site, Visit, visiting

NARROW, WIDE = {"width": 320, "height": 800}, {"width": 1440, "height": 900}


def test_stacks_are_grouped_by_framework_and_searched(visit: Visit) -> None:
    page = visit.to("/stacks")
    expect(page.get_by_role("heading", name="onnxruntime", level=2)).to_be_visible()
    expect(page.get_by_role("list", name="pytorch")).to_contain_text("pytorch-1.12")
    page.get_by_role("searchbox").fill("onnxruntime 1.17")
    expect(page.get_by_role("heading", name="pytorch", level=2)).to_have_count(0)
    expect(page.get_by_role("list", name="onnxruntime")).to_contain_text("onnxruntime-1.17")
    page.get_by_role("searchbox").fill("no such stack")
    expect(page.get_by_text("No matches. Broaden your search.")).to_be_visible()


def test_a_stack_opens_to_its_packages_and_its_lock(visit: Visit) -> None:
    page = visit.to("/stacks?q=onnxruntime-1.17")
    row = page.get_by_role("listitem").filter(has_text="onnxruntime-1.17").first
    expect(row).to_contain_text("Python 3.11")
    expect(row).to_contain_text(re.compile("built at|will build it when needed|no agent online"))
    expect(page.get_by_role("table")).to_have_count(0)
    row.get_by_text("Packages and lock").click()
    expect(row).to_contain_text("every package by version and hash")
    packages = row.get_by_role("table", name="Packages of onnxruntime-1.17").get_by_role("row")
    expect(packages.filter(has_text="numpy")).to_contain_text("1.26.4")
    expect(row.get_by_role("button", name="Copy: lock of onnxruntime-1.17")).to_be_visible()


def test_two_stacks_are_set_side_by_side(visit: Visit) -> None:
    page = visit.to("/stacks?q=onnxruntime")
    page.get_by_role("checkbox", name="Compare onnxruntime-1.17").check()
    expect(page.get_by_text("Choose another stack")).to_be_visible()
    page.get_by_role("checkbox", name="Compare onnxruntime-1.31").check()
    table = page.get_by_role("table", name="Differences")
    row = table.get_by_role("row").filter(has=page.get_by_role("cell", name="onnxruntime", exact=True))
    expect(row).to_contain_text("1.17.3")
    expect(page).to_have_url(re.compile("compare="))
    page.get_by_role("button", name="Close").click()
    expect(table).to_have_count(0)


def test_a_stack_that_is_not_there_is_a_sentence(visit: Visit) -> None:
    page = visit.to("/stacks?compare=nothing,onnxruntime-1.17")
    expect(page.get_by_role("alert")).to_contain_text("there is no software")


@pytest.mark.parametrize("viewport", [NARROW, PHONE, WIDE], ids=["320", "390", "1440"])
def test_stacks_fit_and_keep_nobody_out(browser: Any, site: Site, viewport: dict[str, int]) -> None:
    for scheme in ("light", "dark"):
        with visiting(browser, site, viewport=viewport, color_scheme=scheme) as visit:
            page = visit.to("/stacks?compare=onnxruntime-1.17,onnxruntime-1.31&q=onnxruntime-1.17")
            expect(page.get_by_role("table", name="Differences")).to_be_visible()
            page.get_by_text("Packages and lock").first.click()
            expect(page.get_by_role("table", name=re.compile("Packages of"))).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            assert not visit.violations()
