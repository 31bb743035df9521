"""The timeline of a trace of 100,000 spans in a real browser: zoomed and moved in every frame, beside an empty canvas.

Frames are counted as the browser draws them; the server's answers are those that the page waited for meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import harness
import httpx

from mlmodelscope.trace.merge import Taken, number
from mlmodelscope.trace.otlp import as_json
from mlmodelscope.trace.span import Trace

GOAL = 1.5
IDENTITY = "1f" * 16
LAYERS, CALLS, AT_ONCE = 100, 9, 10_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# Closer, along, and out again: what somebody does who looks for something.
MOVES = """
async (frames) => {
  const place = document.querySelector("canvas[data-drawn]") ?? document.querySelector("canvas");
  const pen = place.dataset.drawn === undefined ? place.getContext("2d") : null;
  const { left, top, width } = place.getBoundingClientRect();
  const times = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let last = await frame();
  for (let number = 0; number < frames; number += 1) {
    const phase = number % 120;
    const how = phase < 45 ? { deltaY: -40 } : phase < 75 ? { deltaX: 25 } : { deltaY: 40 };
    const at = { clientX: left + width * 0.4, clientY: top + 40, bubbles: true, cancelable: true };
    place.dispatchEvent(new WheelEvent("wheel", { ...at, ...how }));
    if (pen) pen.fillRect(0, 0, place.width, place.height);
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  const answers = performance.getEntriesByType("resource").filter((each) => each.name.includes("/timeline?"));
  return { times, answers: answers.map((each) => each.duration), drawn: Number(place.dataset.drawn ?? 0) };
}
"""


def make_trace(count: int) -> Trace:
    """Batches of a run of a hundred layers, which start nine kernels each on a stream of their own."""
    spans = [Taken("application", "application", 0, 0, None)]
    moment = 0
    while len(spans) < count:
        batch, began = len(spans), moment
        spans += [Taken("batch", "application", 0, 0, 0), Taken("run", "model", 0, 0, batch)]
        for layer in range(LAYERS):
            above, length = len(spans), 20_000 + 3700 * (layer % 13)
            about = {"kind": "Conv", "index": layer}
            spans.append(Taken(f"conv{layer}", "framework", moment, moment + length, batch + 1, about))
            for call in range(CALLS):
                at = moment + call * length // CALLS
                kernel = {"kind": "kernel", "lane": "stream 7"}
                spans.append(Taken(f"kernel{call}", "library", at, at + length // 12, above, kernel))
            moment += length
        spans[batch : batch + 2] = [
            Taken("batch", "application", began, moment + 9000, 0),
            Taken("run", "model", began, moment, batch),
        ]
        moment += 10_000
    spans[0] = Taken("application", "application", 0, moment, None)
    return Trace(IDENTITY, 1_700_000_000_000_000_000, number(spans, IDENTITY), resource={"service.name": "benchmark"})


@contextlib.contextmanager
def server(place: Path) -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    config = place / "server.yml"
    config.write_text(json.dumps({"port": port, "executor": "none", "largest_body": 1 << 28}))
    command = [sys.executable, "-m", "mlmodelscope", "serve", "--config", str(config)]
    environment = {**os.environ, "MLMODELSCOPE_HOME": str(place / "home"), "MLMODELSCOPE_CACHE": str(place / "cache")}
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 120
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit((place / "log").read_text())
            time.sleep(0.2)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v1/ready").status_code == 200
    except httpx.HTTPError:
        return False


def send(url: str, trace: Trace) -> None:
    for start in range(0, len(trace.spans), AT_ONCE):
        document = as_json(trace, trace.spans[start : start + AT_ONCE])
        httpx.post(f"{url}/api/v1/otlp/v1/traces", json=document, timeout=120).raise_for_status()


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as running:
        opened = running.chromium.launch(executable_path=found, args=FLAGS)
        yield opened
        opened.close()


def share(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, frames, rounds = (10_000, 120, 2) if arguments.quick else (100_000, 360, 4)
    trace = make_trace(count)
    with tempfile.TemporaryDirectory() as place, server(Path(place)) as url, browser() as opened:
        send(url, trace)
        page, empty = (opened.new_page(viewport={"width": 1280, "height": 900}) for _ in range(2))
        page.goto(f"{url}/traces/{IDENTITY}")
        page.wait_for_selector("canvas[data-waiting='0']")
        empty.set_content("<canvas width=1200 height=400></canvas>")

        def moved(which: Any) -> dict[str, Any]:
            which.bring_to_front()
            found: dict[str, Any] = which.evaluate(MOVES, frames)
            return found

        seen = harness.interleave({"timeline": lambda: moved(page), "empty": lambda: moved(empty)}, rounds)
    times = {name: [time for each in found for time in each["times"]] for name, found in seen.items()}
    answers = seen["timeline"][-1]["answers"]
    rows = [
        (name, *(f"{value:.1f}" for value in (share(found, 0.5), share(found, 0.95), max(found))), _slow(found))
        for name, found in times.items()
    ]
    rows.append(
        ("server's answers", f"{share(answers, 0.5):.1f}", f"{share(answers, 0.95):.1f}", f"{max(answers):.1f}", "")
    )
    harness.print_table(("ms", "median", "p95", "longest", "frames > 33 ms"), rows)
    print()
    ratio = share(times["timeline"], 0.95) / share(times["empty"], 0.95)
    meaning = (
        f"p95 of the time from frame to frame while a timeline of {len(trace.spans):,} spans is zoomed and moved "
        f"/ an empty canvas; goal: <= {GOAL}"
    )
    results = {"spans": len(trace.spans), "frames_ms": times, "answers_ms": answers}
    faults = [] if seen["timeline"][-1]["drawn"] else ["nothing was drawn"]
    harness.finish("web_trace", ratio, meaning, arguments.quick, results, faults)


def _slow(times: Sequence[float]) -> str:
    return f"{100 * sum(time > 33 for time in times) / len(times):.1f} %"


if __name__ == "__main__":
    main()
