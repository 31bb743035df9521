"""Asking models in a browser: files, what was copied, addresses, samples, texts; boxes, masks; and what goes wrong."""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import MODEL, Site, Visit

CODE = """\
name: {name}
version: 1.0.0
task: {task}
run:
  code: |
    def run(ctx, data):
        return [open(path, "rb").read() for paths in data.values() for path in paths]
postprocess:
  code: |
    def postprocess(ctx, data):
        return [{answer} for each in data]
"""
MODELS = {
    "finder": ("object_detection", '[{"box": [0.1, 0.2, 0.6, 0.9], "label": "dog", "score": 0.91}]'),
    "painter": ("semantic_segmentation", '{"mask": [[0, 1], [2, 1]], "labels": ["", "dog", "grass"]}'),
    "shouter": ("text_generation", '{"text": each.decode().upper()}'),
    "listener": ("speech_recognition", '{"text": "%d bytes of sound" % len(each)}'),
}


def picture(side: int = 120) -> bytes:
    from PIL import Image

    made = BytesIO()
    Image.effect_mandelbrot((side, side), (-2, -1.5, 1, 1.5), 50).convert("RGB").save(made, "JPEG")
    return made.getvalue()


def file(name: str, content: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "image/jpeg", "buffer": content}


@pytest.fixture(scope="module")
def models(site: Site) -> None:
    for name, (task, answer) in MODELS.items():
        site.client().put_manifest(CODE.format(name=name, task=task, answer=answer))


@pytest.fixture
def address() -> Iterator[str]:
    """Where a picture is, for the agent to fetch."""
    content = picture()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}/a.jpg"
    http.shutdown()
    http.server_close()
    thread.join()


def give(page: Any, name: str, content: bytes) -> None:
    page.locator("input[type=file]").set_input_files(file(name, content))


def answers(place: Any) -> Any:
    return place.get_by_role("list", name="Answers").get_by_role("listitem")


def test_a_picture_is_answered_with_the_time_of_each_stage(visit: Visit) -> None:
    page = visit.to(f"/models/{MODEL}")
    give(page, "mandelbrot.jpg", picture())
    expect(answers(page)).to_have_count(5)
    expect(page.get_by_role("img", name=re.compile(r"load .*, decode .*, run .*, post .*, around it "))).to_be_visible()
    expect(page.get_by_role("img", name="mandelbrot.jpg")).to_be_visible()
    assert not visit.violations()


def test_what_was_copied_is_pasted(visit: Visit) -> None:
    page = visit.to(f"/models/{MODEL}")
    page.evaluate(
        """(content) => {
            const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
            const copied = new DataTransfer();
            copied.items.add(new File([bytes], "copied.jpg", { type: "image/jpeg" }));
            dispatchEvent(new ClipboardEvent("paste", { clipboardData: copied }));
        }""",
        base64.b64encode(picture()).decode(),
    )
    expect(answers(page)).to_have_count(5)


def test_what_is_dropped_is_asked_about(visit: Visit) -> None:
    page = visit.to(f"/models/{MODEL}")
    transfer = page.evaluate_handle(
        """(content) => {
            const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
            const dragged = new DataTransfer();
            dragged.items.add(new File([bytes], "dropped.jpg", { type: "image/jpeg" }));
            return dragged;
        }""",
        base64.b64encode(picture()).decode(),
    )
    page.get_by_text("Drop a picture here").dispatch_event("drop", {"dataTransfer": transfer})
    expect(answers(page)).to_have_count(5)


def test_an_address_is_fetched_by_the_agent(visit: Visit, address: str) -> None:
    page = visit.to(f"/models/{MODEL}")
    page.get_by_label("Address").fill("not an address")
    expect(page.get_by_text("An address begins with https://")).to_be_visible()
    page.get_by_label("Address").fill(address)
    page.keyboard.press("Enter")
    expect(answers(page)).to_have_count(5)


def test_a_sample_of_a_dataset_is_taken(visit: Visit, record: str) -> None:
    page = visit.to(f"/models/{MODEL}")
    page.get_by_role("button", name="Take a sample").click()
    expect(page.get_by_label("Dataset")).to_have_value("imagenet-70")  # what it was measured on, not the first of all
    page.get_by_role("button", name=re.compile("^folding chair, foolbox")).click()
    expect(answers(page).first).to_contain_text("folding chair")
    page.get_by_role("button", name="Next samples").click()
    expect(page.get_by_role("list", name="Samples").get_by_role("button")).to_have_count(12)
    expect(page.get_by_role("button", name=re.compile("^folding chair"))).to_have_count(0)


def test_a_dataset_that_is_not_cached_has_a_way_to_fetch_it(visit: Visit, site: Site) -> None:
    source = "sources: [{url: 'https://far.example/a.zip#in/'}]"
    text = f"name: far-away\nversion: 1.0.0\ntask: classification\nformat: folder\n{source}\n"
    (site.place / "manifests" / "far-away.yml").write_text(text)
    page = visit.to(f"/models/{MODEL}")
    page.get_by_role("button", name="Take a sample").click()
    page.get_by_label("Dataset").select_option("far-away")
    expect(page.get_by_text("far-away is not cached on this server.")).to_be_visible()
    assert not visit.violations()
    page.get_by_role("link", name="Evaluate the model on one sample of it").click()
    expect(page.get_by_label("Dataset")).to_have_value("far-away")


def test_beside_other_models_the_picture_is_kept(visit: Visit) -> None:
    page = visit.to(f"/models/{MODEL}")
    give(page, "a.jpg", picture())
    expect(answers(page)).to_have_count(5)
    page.get_by_role("link", name="beside other models").click()
    expect(answers(page.get_by_role("region", name=MODEL))).to_have_count(5)
    page.get_by_role("navigation").get_by_role("link", name="Models").click()
    page = visit.to(f"/try?models={MODEL}")
    expect(page.get_by_text("The answer comes here.")).to_be_visible()


def test_several_models_stand_side_by_side(visit: Visit) -> None:
    page = visit.to(f"/try?models={MODEL}")
    page.get_by_label("Add a model").select_option("toy")
    expect(page).to_have_url(f"{visit.url}/try?models={MODEL}%2Ctoy")
    give(page, "a.jpg", picture())
    for name in (MODEL, "toy"):
        expect(answers(page.get_by_role("region", name=name, exact=True))).to_have_count(5)
    table = page.get_by_role("region", name="Answers side by side")
    expect(table.get_by_role("columnheader", name="2. toy")).to_be_visible()
    expect(page.get_by_text("different first answers", exact=True)).to_be_visible()
    assert table.locator("mark").count() and not visit.violations() and not visit.sticks_out()
    page.get_by_label(f"Stack for {MODEL}").select_option("current")
    page.get_by_label("Machine for toy").select_option(index=1)
    expect(page).to_have_url(re.compile(r"models=efficientnet-lite0%7Ecurrent%2Ctoy%7E%7E"))
    expect(page.get_by_role("region", name=MODEL).get_by_text("was open")).to_be_visible()
    page.get_by_role("button", name="Remove toy").click()
    expect(page.get_by_role("region", name="toy")).to_have_count(0)


def test_one_that_fails_leaves_the_others_alone(visit: Visit) -> None:
    page = visit.to(f"/try?models={MODEL},nobody-knows-it")
    give(page, "a.jpg", picture())
    expect(answers(page.get_by_role("region", name=MODEL))).to_have_count(5)
    expect(page.get_by_role("region", name="nobody-knows-it").get_by_role("alert")).to_be_visible()


def test_boxes_and_masks_are_laid_over_the_picture(visit: Visit, site: Site, models: None) -> None:
    visit.sign_in(site, "read", "run", "trust")
    page = visit.to("/try?models=finder,painter")
    for box in page.get_by_label("own code run").all():
        box.check()
    give(page, "a.jpg", picture())
    expect(page.get_by_role("img", name="1 boxes: dog 91 %")).to_be_visible()
    expect(page.get_by_role("img", name="A mask with 2 classes")).to_be_visible()
    painted = page.locator("canvas").evaluate("(each) => each.getContext('2d').getImageData(1, 0, 1, 1).data[3]")
    assert painted > 0
    expect(page.get_by_role("list", name="Classes of the mask")).to_have_text("doggrass")
    assert not visit.violations()


def test_a_text_and_a_recording_are_answered(visit: Visit, site: Site, models: None) -> None:
    visit.sign_in(site, "read", "run", "trust")
    page = visit.to("/models/shouter")
    page.get_by_label("own code run").check()
    page.get_by_role("textbox", name="Text").fill("hello there")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("region", name="What it says")).to_have_text("HELLO THERE")
    page = visit.to("/models/listener")
    page.get_by_label("own code run").check()
    give(page, "a.wav", b"RIFF" + bytes(96))
    expect(page.get_by_role("region", name="What it says")).to_have_text("100 bytes of sound")


def test_code_does_not_run_for_who_may_not(visit: Visit, models: None) -> None:
    page = visit.to("/models/shouter")
    expect(page.get_by_text("That needs a token with the scope “trust”")).to_be_visible()


BAD = {
    "drawing.svg": (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "may hold scripts"),
    "page.jpg": (b"<!doctype html><script>alert(1)</script>", "may hold scripts"),
    "notes.txt": (b"only words", "unsupported file type"),
    "none.jpg": (b"", "is empty"),
    "large.jpg": (b"\xff\xd8\xff" + bytes(17 << 20), "this server takes 16.0 MiB at most"),
    "half.jpg": (picture(400)[:2000], "truncated"),
}


def test_a_bad_file_is_explained_and_the_next_one_works(visit: Visit, tmp_path: Path) -> None:
    page = visit.to(f"/models/{MODEL}")
    for name, (content, reason) in BAD.items():
        place = tmp_path / name
        place.write_bytes(content)
        page.locator("input[type=file]").set_input_files(place)
        expect(page.get_by_role("alert")).to_contain_text(reason)
    assert not visit.violations()
    give(page, "good.jpg", picture())
    expect(answers(page)).to_have_count(5)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_server_that_is_gone_is_asked_again_when_it_is_back(visit: Visit) -> None:
    page = visit.to(f"/models/{MODEL}")
    page.route("**/api/v1/predictions", lambda route: route.abort())
    give(page, "a.jpg", picture())
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute("**/api/v1/predictions")
    page.get_by_role("button", name="Try again").click()
    expect(answers(page)).to_have_count(5)


def test_who_may_not_run_is_not_offered_it(visit: Visit, site: Site) -> None:
    visit.sign_in(site, "read")
    page = visit.to(f"/models/{MODEL}")
    expect(page.get_by_role("heading", name="Try it")).to_have_count(0)
    page = visit.to(f"/try?models={MODEL}")
    expect(page.get_by_text("Asking models needs a token that may run.")).to_be_visible()


def test_everybody_can_use_it_in_any_light_and_on_a_phone(visit: Visit) -> None:
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        visit.to(f"/try?models={MODEL},toy")
        give(visit.page, "a.jpg", picture())
        expect(answers(visit.page)).to_have_count(10)
        assert not visit.violations(), scheme
    assert visit.sticks_out() == []
