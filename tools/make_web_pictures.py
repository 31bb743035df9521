"""Takes the pictures of docs/web.md from a running server that has something to show.

mlmodelscope serve &
mlmodelscope evaluate efficientnet-lite0 imagenet-70 --server http://127.0.0.1:8642   # and lite1, a profile, a bench
mlmodelscope replicate wrong-colours.yml imagenet-70 --server http://127.0.0.1:8642
python tools/make_web_pictures.py http://127.0.0.1:8642 PHOTO.jpg
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import browser

PLACE = Path(__file__).parents[1] / "docs" / "images" / "web"
MODEL = "efficientnet-lite0"
PAPER = "framework=tensorflow&frameworkVersion=%3E%3D1.10.x%20and%20%3C%3D1.13.0&vendor=Intel&interconnect=NVLink"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("photograph", type=Path)
    given = parser.parse_args()
    records = ask(given.url, "records?limit=50")
    kept = {each["kind"]: each["id"] for each in reversed(records) if each["model"] == MODEL}
    others = [each["id"] for each in records if each["kind"] == "evaluation" and each["model"] != MODEL][:2]
    compared = ",".join([kept["evaluation"], *others, *([kept["bench"]] if "bench" in kept else [])])
    trace = ask(given.url, f"traces?record={kept['profile']}")[0]["id"]
    replication = ask(given.url, "replications?state=finished")[0]["id"]
    pages = {
        "models": ("/models", "light", 720),
        "new": (f"/new?model={MODEL}&dataset=imagenet-70&{PAPER}", "light", 900),
        "record": (f"/records/{kept['evaluation']}", "light", 1010),
        "replication": (f"/replications/{replication}", "light", 1160),
        "compare": (f"/compare?records={compared}", "light", 1500),
        "trace": (f"/traces/{trace}", "dark", 900),
        "editor": (f"/manifests/edit?kind=model&name={MODEL}&version=1.0.0", "dark", 900),
    }
    with browser.opened(browser.find_chromium()) as shown:
        for name, (path, scheme, height) in pages.items():
            page = opened(shown, scheme, height)
            page.goto(given.url + path)
            take(page, name)
        page = opened(shown, "light", 1180)
        page.goto(f"{given.url}/try?models={MODEL},efficientnet-lite1")
        page.wait_for_timeout(2000)
        page.locator("input[type=file]").first.set_input_files(given.photograph)
        page.wait_for_timeout(8000)
        take(page, "try")


def opened(shown: Any, scheme: Any, height: int) -> Page:
    page: Page = shown.new_page(viewport={"width": 1280, "height": height}, color_scheme=scheme)
    return page


def take(page: Page, name: str) -> None:
    page.wait_for_timeout(3000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    PLACE.mkdir(parents=True, exist_ok=True)
    # A picture of a page has few colours: a palette is a third of the size.
    picture.quantize(256, dither=Image.Dither.NONE).save(PLACE / f"{name}.png", optimize=True)
    print(PLACE / f"{name}.png")


def ask(url: str, path: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/api/v1/{path}") as answer:
        items: list[dict[str, Any]] = json.load(answer)["items"]
        return items


if __name__ == "__main__":
    main()
