"""The report in a real browser: nothing sticks out, nothing is fetched, nothing runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser import sticks_out
from mlmodelscope import Record


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_every_screen_and_stays_at_home(
    evaluated: Record, report: Callable[..., str], browser: Any, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "report.html"
    path.write_text(report(evaluated), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    assert sticks_out(page) == []
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    assert complaints == []
    assert page.locator("img").first.evaluate("image => image.naturalWidth") > 0


def test_the_keyboard_reaches_details_and_opens_them(
    evaluated: Record, report: Callable[..., str], browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(report(evaluated), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the numbers"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "The complete plan":
            break
    page.keyboard.press("Enter")
    assert page.locator("pre.plan").is_visible()
