"""The timeline page: complete in itself, and it really draws."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from timelines import IDENTITY, RESOURCE, large, toy, watched

from browser import sticks_out
from mlmodelscope.trace.merge import Taken, number
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.timeline_page import write_page

PAINTED = """canvas => {
  const box = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
  for (let at = 0; at < box.length; at += 4) seen.add(box[at] << 16 | box[at + 1] << 8 | box[at + 2]);
  return seen.size; }"""


def hostile() -> Trace:
    name = "</script><script>alert(1)</script><!-- & \" '"
    spans = [Taken(name, "application", 0, 10, None), Taken(name, "framework", 1, 9, 0, {"kind": name, "index": 0})]
    return Trace(IDENTITY, 0, number(spans, IDENTITY), (), {**RESOURCE, "model.name": name, "stack": name})


def test_the_page_allows_its_own_script_and_nothing_else() -> None:
    for page in (write_page(toy()), write_page(hostile())):
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
        scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        assert len(scripts) == 1 and page.count("<script") == 2
        digest = b64encode(sha256(scripts[0].encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'" in policy and policy.startswith("default-src 'none'")
        assert "http://" not in page and "https://" not in page


def test_counters_are_told_and_samples_have_heights() -> None:
    page = write_page(watched())
    assert "3,000 instructions, 2.00 a cycle" in page
    samples = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])["samples"]
    assert sorted(samples.values()) == [[0.5, "100 MiB"], [1.0, "12.5 W"], [1.0, "12.5 W"], *2 * [[1.0, "200 MiB"]]]


def test_names_are_shown_and_never_obeyed() -> None:
    assert "<script>alert" not in write_page(hostile()) and "\\u003c/script>" in write_page(hostile())


def open_page(browser: Any, path: Path, trace: Trace, scheme: str = "light") -> tuple[Any, list[str]]:
    path.write_text(write_page(trace), encoding="utf-8")
    page, complaints = browser.new_page(color_scheme=scheme), []
    page.on("request", lambda request: complaints.append(request.url) if request.url != path.as_uri() else None)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    while not page.evaluate("document.getElementById('spans').width > 300"):
        page.wait_for_timeout(20)  # not `wait_for_function`: its second look is one that the page's own policy forbids
    return page, complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_fits_every_screen_and_stays_at_home(browser: Any, tmp_path: Path, scheme: str) -> None:
    for trace in (toy(), hostile(), watched(), large(100_000)):
        page, complaints = open_page(browser, tmp_path / "trace.html", trace, scheme)
        assert sticks_out(page) == []
        assert page.locator("#spans").evaluate(PAINTED) > 3
        assert complaints == []
        page.close()


def test_a_click_tells_more_and_keys_move(browser: Any, tmp_path: Path) -> None:
    page, complaints = open_page(browser, tmp_path / "trace.html", toy())
    page.locator("#all").click()
    box = page.locator("#spans").bounding_box()
    page.mouse.click(
        box["x"] + box["width"] * 0.3, box["y"] + 26 + 22 * 3 + 8
    )  # the fourth row: conv of the first batch
    detail = page.locator("#detail")
    assert "conv" in detail.inner_text() and "application › batch › run" in detail.inner_text()
    assert "measured in its own run" in detail.inner_text() and "750 ns" in detail.inner_text()
    page.locator("#spans").press("ArrowUp")
    assert page.locator("#detail h3").inner_text() == "run"
    page.locator("#spans").press("Enter")
    page.locator("#spans").press("+")
    page.mouse.wheel(0, -200)
    page.locator("#find").fill("conv")
    assert page.locator("#found").inner_text() == "2 spans, 700 ns"
    page.locator("#spans").press("Escape")
    assert not detail.is_visible() and complaints == []
