"""How long somebody waits for the catalogue of 500 models to be narrowed down: by a word, and by a facet.

In a real browser, from the change to the moment the list on the page is another one; beside it the same question asked
from the same page without anything being drawn, in turns.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import harness
from playwright.sync_api import sync_playwright
from predict_server import serving

MODELS = 500
WORDS = ["resnet", "vgg", "mobile", "dense", "incept", "squeeze", "alex", "net", "detect", "segment"]
TASKS = ["classification", "object_detection", "semantic_segmentation"]
FLAGS = ["--no-sandbox", "--disable-gpu"]
WATCH = """(limit) => new Promise((resolve) => {
  const list = document.querySelector("main [aria-live]");
  const before = list.textContent, started = performance.now();
  const look = () => {
    if (list.textContent !== before) requestAnimationFrame(() => resolve(performance.now() - started));
    else if (performance.now() - started > limit) resolve(null);
    else requestAnimationFrame(look);
  };
  window.begin();
  look();
})"""
TYPE = """(word) => { window.begin = () => {
  const box = document.querySelector("input[type=search]");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, word);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}; }"""
ASK = """async (query) => { const started = performance.now();
  await (await fetch("/api/v1/models?limit=60&" + query)).json(); return performance.now() - started; }"""


def write_catalogue(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    for number in range(count):
        manifest = {
            "name": f"{WORDS[number % len(WORDS)]}-{number:03d}",
            "version": "1.0.0",
            "task": TASKS[number % 3],
            "licence": ["MIT", "Apache-2.0", "BSD-3-Clause"][number % 3],
            "description": f"Model {number}, one of many, with a description as long as such descriptions are.",
            "framework": {"name": ["onnxruntime", "pytorch", "tensorflow"][number % 3], "version": "*"},
            "inputs": [{"type": "image", "processing": {"decode": None, "resize": {"dimensions": [224, 224]}}}],
            "outputs": [{"type": "logits"}],
            "source": {"graph_path": "no.onnx"},
        }
        (folder / f"{number}.yml").write_text(json.dumps(manifest))


def measure(page: Any, url: str, rounds: int) -> dict[str, list[float]]:
    page.goto(f"{url}/models")
    page.wait_for_selector("main li")
    seen: dict[str, list[float]] = {"page": [], "question": []}
    for turn in range(rounds):
        word = WORDS[turn % len(WORDS)]
        page.evaluate(TYPE, f"{word}-{turn % 10}")
        took = page.evaluate(WATCH, 5000)
        if took is not None:
            seen["page"].append(took)
        page.evaluate(TYPE, "")
        page.evaluate(WATCH, 5000)
        seen["question"].append(page.evaluate(ASK, f"q={word}-{turn % 10}&task={TASKS[turn % 3]}"))
    return seen


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        place = Path(folder)
        write_catalogue(place / "manifests", MODELS)
        with serving(place) as (port, _):
            found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
            browser = running.chromium.launch(executable_path=found, args=FLAGS)
            page = browser.new_page()
            seen = measure(page, f"http://127.0.0.1:{port}", 10 if arguments.quick else 60)
            browser.close()
    rows = [(name, len(raw), *(f"{_at(raw, share):.0f}" for share in (0.5, 0.9, 1))) for name, raw in seen.items()]
    harness.print_table(("milliseconds", "times", "p50", "p90", "most"), rows)
    faults = (
        [] if _at(seen["page"], 0.9) < 100 else [f"p90 of the page is {_at(seen['page'], 0.9):.0f} ms, not below 100"]
    )
    ratio = _at(seen["page"], 0.5) / _at(seen["question"], 0.5)
    meaning = f"p50 until the page shows another list of {MODELS} models / until the bare question is answered"
    harness.finish("web_catalogue", ratio, meaning, arguments.quick, seen, faults)


def _at(raw: list[float], share: float) -> float:
    return sorted(raw)[int(share * (len(raw) - 1))]


if __name__ == "__main__":
    main()
