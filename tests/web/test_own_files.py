"""A manifest that names files is written, saved and checked in the browser."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .conftest import ROOT, Visit
from .test_editor import GRAPH, MINE, Written

LONG = 600_000
STORY = ROOT / "docs" / "examples" / "wrong-colours.yml"
FILES = "Files it needs"


@pytest.mark.slow(reason="a real model on seventy pictures, in fifty variants")
def test_the_whole_story_of_a_mistake(visit: Visit) -> None:
    """Paste the manifest, save it, have its claim checked, read the cause."""
    page = visit.to("/manifests/edit")
    editor = Written(page)
    editor.fill(STORY.read_text())
    expect(page.get_by_role("list", name=FILES)).to_contain_text("on this server")
    expect(page.get_by_text("No issues.").or_(page.get_by_role("list", name="Problems"))).to_be_visible()
    page.get_by_role("button", name="Save wrong-colours@1.0.0").click()
    expect(page.get_by_role("status")).to_contain_text("wrong-colours@1.0.0 is on the server")
    expect(editor.text).to_contain_text(f"graph_path: artifact:sha256:{hashlib.sha256(GRAPH.read_bytes()).hexdigest()}")
    page.get_by_role("link", name="Check its claims").click()
    page.get_by_role("button", name="Check it").click()
    expect(page).to_have_url(re.compile("/replications/e"))
    expect(page.get_by_text("not reproduced", exact=True)).to_be_visible(timeout=LONG)
    lines = page.get_by_role("list", name="Change of the manifest").get_by_role("listitem")
    expect(lines).to_have_text([re.compile("color_layout: BGR"), re.compile("color_layout: RGB")])


def test_a_copy_of_a_shipped_model_is_saved_under_a_name_of_its_own(visit: Visit) -> None:
    page = visit.to("/manifests/edit?kind=model&name=efficientnet-lite0")
    expect(page.get_by_text("The name efficientnet-lite0 belongs to the server.")).to_be_visible()
    page.get_by_role("button", name="Save a copy as efficientnet-lite0-local").click()
    expect(page.get_by_role("status")).to_contain_text("efficientnet-lite0-local@1.0.0 is on the server")


def test_a_file_that_only_its_author_has_is_uploaded(visit: Visit, tmp_path: Path) -> None:
    page = visit.to("/manifests/edit")
    model = tmp_path / "my model.json"
    model.write_text("a model of my own")
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    text = MINE.replace("resise", "resize").replace("name: mine", "name: uploaded")
    text = text.replace("https://x.example/model.json", f"model.json, graph_checksum: 'sha256:{digest}'")
    Written(page).fill(text)
    expect(page.get_by_role("list", name=FILES)).to_contain_text("not on this server yet")
    expect(page.get_by_text("No issues.")).to_have_count(0)
    save = page.get_by_role("button", name="Save uploaded@1.0.0")
    expect(save).to_be_disabled()
    expect(page.get_by_text("Upload the file below to save it.")).to_be_visible()
    page.get_by_label("File for source.graph_path").set_input_files(GRAPH)
    expect(page.get_by_role("alert")).to_contain_text("efficientnet-lite0.onnx is another file")
    page.get_by_label("File for source.graph_path").set_input_files(model)
    expect(page.get_by_role("list", name=FILES)).to_have_count(0)
    assert not visit.violations()
    save.click()
    expect(page.get_by_role("status")).to_contain_text("uploaded@1.0.0 is on the server")


def test_what_saving_refuses_is_said_before(visit: Visit) -> None:
    page = visit.to("/manifests/edit")
    editor = Written(page)
    editor.fill(MINE.replace("resise", "resize").replace("https://x.example/", "https://example.org/"))
    expect(editor.problems.filter(has_text="an address for examples")).to_be_visible()
    expect(page.get_by_role("button", name="Save mine@1.0.0")).to_be_disabled()
    expect(page.get_by_text("Fix the errors below to save it.")).to_be_visible()
