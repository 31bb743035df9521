"""A manifest is written in the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import MODEL, ROOT, Site, Visit

GRAPH = ROOT / "manifests" / "models" / "graphs" / "efficientnet-lite0.onnx"
MINE = """\
name: mine
version: 1.0.0
task: classification
license: MIT
framework: {name: fake}
inputs:
  - type: image
    processing:
      decode: {color_layout: RGB}
      resise: {dimensions: [8, 8]}
outputs:
  - type: logits
source: {graph_path: https://x.example/model.json}
"""
OLD = """\
name: Deep Feature Flow
framework: mxnet
version: 1.0
type: cnn
input:
  type: image
  dimensions: [3, 224, 224]
output:
  type: label
graph_url: https://x.example/dff.json
weights_url: https://x.example/dff.params
"""


class Written:
    """The editor, as somebody uses it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.text = page.get_by_role("textbox", name="Manifest")

    def fill(self, text: str) -> None:
        """As somebody pastes it."""
        self.text.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text, delay=15)

    def said(self) -> str:
        return "\n".join(self.page.locator(".cm-line").all_inner_texts())

    @property
    def problems(self) -> Any:
        return self.page.get_by_role("list", name="Problems").get_by_role("listitem")


@pytest.fixture
def editor(visit: Visit) -> Written:
    return Written(visit.to("/manifests/edit"))


@pytest.fixture
def reader(browser: Any, site: Site) -> Iterator[Visit]:
    """Somebody with a token that may read only."""
    token = site.run("token", "make", "--owner", "guest", "--scope", "read")
    context = browser.new_context()
    context.add_init_script(f"sessionStorage.setItem('mlmodelscope.token', '{token}')")
    found = Visit(context, site.url)
    yield found
    context.close()
    assert not found.errors, found.errors


def test_what_is_wrong_is_said_where_it_is(editor: Written) -> None:
    page = editor.page
    editor.fill(MINE)
    wrong = editor.problems.filter(has_text="resise")
    expect(wrong).to_contain_text("10:7")
    expect(wrong).to_contain_text("did you mean `resize`?")
    expect(page.locator(".cm-lintRange-error").first).to_have_text("resise")
    expect(page.get_by_role("button", name="Save mine@1.0.0")).to_be_disabled()
    wrong.get_by_role("button", name=re.compile("10:7")).click()
    assert page.evaluate("getSelection().toString()") == "resise"
    wrong.get_by_role("button", name="Fix").click()
    expect(wrong).to_have_count(0)
    assert "resize: {dimensions" in editor.said()
    expect(page.get_by_role("button", name="Save mine@1.0.0")).to_be_enabled()


def test_keys_values_and_steps_are_offered_at_their_depth(editor: Written) -> None:
    offered = editor.page.get_by_role("listbox", name="Completions")
    editor.fill("")
    editor.type("ta")
    task = offered.get_by_role("option", name=re.compile("^task"))
    expect(task).to_contain_text("needed.")
    expect(offered.get_by_role("option", name=re.compile("graph_path"))).to_have_count(0)
    task.click()
    editor.type("classi")
    offered.get_by_role("option", name="classification", exact=True).click()
    assert editor.said() == "task: classification"
    editor.type("\ninputs:\n  - type: image\nprocessing:\n  dec")
    offered.get_by_role("option", name=re.compile("^decode(?!_)")).click()
    editor.type("{color_layout: B")
    offered.get_by_role("option", name="BGR", exact=True).click()
    assert "decode: {color_layout: BGR}" in editor.said()


def test_an_older_dialect_is_converted(editor: Written) -> None:
    editor.fill(OLD)
    expect(editor.page.get_by_text("written in an older format")).to_be_visible()
    editor.page.get_by_role("button", name="Upgrade to current format").click()
    expect(editor.page.get_by_text("written in an older format")).to_have_count(0)
    assert "inputs:" in editor.said() and "name: mxnet" in editor.said()


def test_yaml_that_cannot_be_read_has_a_place_too(editor: Written) -> None:
    editor.fill("name: mine\nversion: [1, 2\n")
    expect(editor.problems.first).to_contain_text("error")
    editor.page.get_by_role("button", name="Upgrade to current format").click()
    expect(editor.page.get_by_role("alert").first).to_be_visible()
    editor.fill("name: mine\nversion: 1.0.0\nmood: good\n")
    expect(editor.problems.filter(has_text="mood").first).to_be_visible()


def test_a_version_is_saved_and_never_changed(editor: Written, visit: Visit) -> None:
    page = editor.page
    right = MINE.replace("resise", "resize").replace("mine", "written-here")
    editor.fill(right)
    page.get_by_role("button", name="Save written-here@1.0.0").click()
    expect(page.get_by_role("status")).to_contain_text("written-here@1.0.0 is on the server")
    page.get_by_role("link", name="To its page").click()  # nothing is unsaved, so nobody asks
    page.get_by_role("link", name="Edit").click()
    expect(editor.text).to_contain_text("written-here")
    expect(page.get_by_text("1.0.0 is there already")).to_be_visible()
    editor.fill(right.replace("MIT", "Apache-2.0"))
    page.get_by_role("button", name="Save as version 1.0.1").click()
    expect(page.get_by_role("status")).to_contain_text("written-here@1.0.1 is on the server")
    assert "version: 1.0.1" in editor.said()


def test_a_clash_is_explained(editor: Written, site: Site) -> None:
    right = MINE.replace("resise", "resize").replace("mine", "clashing")
    editor.fill(right)
    button = editor.page.get_by_role("button", name="Save clashing@1.0.0")
    expect(button).to_be_enabled()
    site.client().put_manifest(right.replace("MIT", "BSD-3-Clause"))  # somebody else is quicker
    button.click()
    expect(editor.page.get_by_role("alert")).to_contain_text("is there already, and it is another one")
    editor.page.get_by_role("alert").get_by_role("button", name="Save as version 1.0.1").click()
    expect(editor.page.get_by_role("status")).to_contain_text("clashing@1.0.1 is on the server")


def test_a_manifest_begins_with_a_model_file(editor: Written, tmp_path: Path) -> None:
    page = editor.page
    page.get_by_role("button", name="From a model file").click()
    none = tmp_path / "cat.onnx"
    none.write_bytes(b"meow" * 100)
    page.get_by_label("Model file").set_input_files(none)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_role("alert")).to_contain_text("cat.onnx")
    page.get_by_label("Model file").set_input_files(GRAPH)
    page.get_by_label("Name", exact=True).fill("from-a-file")
    page.get_by_label("Task").select_option("classification")
    page.get_by_label("Colors", exact=True).select_option("RGB")
    page.get_by_label("Mean").fill("127")
    page.get_by_label("Deviation").fill("128")
    page.get_by_role("button", name=re.compile("Read it|Try again")).click()
    opened = page.get_by_role("button", name="Open it as it is")
    expect(opened.or_(editor.text.get_by_text("from-a-file"))).to_be_visible()
    if opened.is_visible():  # what the file does not say is asked
        expect(page.get_by_text("What the file does not say")).to_be_visible()
        opened.click()
    expect(editor.text).to_contain_text("name: from-a-file")
    expect(editor.text).to_contain_text("onnxruntime")


def test_a_file_that_is_too_large_is_not_even_sent(editor: Written) -> None:
    page = editor.page
    page.evaluate("Object.defineProperty(Blob.prototype, 'size', {get: () => 5 * 2 ** 30})")
    page.get_by_role("button", name="From a model file").click()
    page.get_by_label("Model file").set_input_files(GRAPH)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_role("alert")).to_contain_text("4 GiB are the most.")


def test_what_is_unsaved_survives_a_reload_and_leaving_asks(editor: Written) -> None:
    page = editor.page
    editor.fill(MINE)
    expect(editor.problems.filter(has_text="resise")).to_be_visible()
    page.reload()
    expect(editor.text).to_contain_text("resise")
    page.get_by_role("link", name="Agents").click()
    asked = page.get_by_role("dialog", name="Leave without saving?")
    asked.get_by_role("button", name="Stay").click()
    expect(asked).to_have_count(0)
    expect(editor.text).to_contain_text("resise")
    page.get_by_role("link", name="Agents").click()
    asked.get_by_role("button", name="Leave").click()
    expect(page).to_have_url(re.compile("/agents"))


def test_the_text_stays_while_the_server_is_gone(editor: Written) -> None:
    page = editor.page
    page.route("**/manifests/check", lambda route: route.abort())
    editor.fill(MINE)
    expect(page.get_by_text("The server does not answer. Your text is kept here")).to_be_visible()
    editor.type("# more")
    assert "# more" in editor.said()
    page.unroute("**/manifests/check")
    expect(editor.problems.filter(has_text="resise")).to_be_visible()
    expect(page.get_by_text("The server does not answer.")).to_have_count(0)


def test_who_may_only_read_is_offered_nothing_else(reader: Visit) -> None:
    page = reader.to(f"/manifests/edit?kind=model&name={MODEL}")
    expect(page.get_by_role("textbox", name="Manifest")).to_contain_text(MODEL)
    expect(page.get_by_text("hint").or_(page.get_by_text("No issues."))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Save|From a model file"))).to_have_count(0)


def test_a_manifest_that_is_not_there_says_so(visit: Visit) -> None:
    page = visit.to("/manifests/edit?kind=model&name=nothing")
    expect(page.get_by_role("alert")).to_contain_text("there is no model `nothing`")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_is_kept_out(visit: Visit, theme: str) -> None:
    visit.page.emulate_media(color_scheme=theme)
    written = Written(visit.to("/manifests/edit"))
    written.fill(MINE)
    expect(written.problems.first).to_be_visible()
    visit.page.get_by_role("button", name="From a model file").click()
    expect(visit.page.locator(".cm-focused")).to_have_count(0)
    expect(written.problems.filter(has_text="resise")).to_be_visible()
    assert not visit.violations()
    assert visit.sticks_out() == []


def test_a_record_has_its_manifest_even_where_the_catalog_has_none(visit: Visit, record: str) -> None:
    page = visit.to(f"/manifests/edit?kind=model&record={record}")
    expect(page.get_by_role("textbox", name="Manifest")).to_contain_text(f"name: {MODEL}")


def test_a_model_that_is_not_there_offers_a_way_on(visit: Visit) -> None:
    page = visit.to("/models/nothing")
    expect(page.get_by_role("alert")).to_contain_text("there is no model `nothing`")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.get_by_role("link", name="All models").click()
    expect(page.get_by_role("heading", name="Models")).to_be_visible()


def test_an_administrator_removes_a_manifest(visit: Visit, site: Site) -> None:
    text = MINE.replace("resise", "resize").replace("name: mine", "name: removed")
    site.client().post("/manifests", {"text": text})
    page = visit.to("/models/removed")
    expect(page.get_by_role("heading", name="removed")).to_be_visible()
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    visit.sign_in(site, "read", "run", "admin")
    page = visit.to("/models/removed")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Models")).to_be_visible()
    assert site.client().manifests("model", "removed") == []


def test_what_would_change_is_shown_against_the_saved_version(visit: Visit) -> None:
    editor = Written(visit.to("/manifests/edit?kind=model&name=toy"))
    expect(editor.text).to_contain_text("name: toy")
    expect(editor.page.get_by_text("Differences from the saved version")).to_have_count(0)
    editor.text.click()
    editor.page.keyboard.press("ControlOrMeta+Home")
    editor.type("# mine\n")
    editor.page.get_by_text("Differences from the saved version: 0 lines removed, 1 line added").click()
    expect(editor.page.get_by_role("region", name="Differences")).to_contain_text("+ # mine")
    assert not visit.violations() and not visit.sticks_out()
