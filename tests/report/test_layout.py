"""Pages of other records than evaluations fit every screen, too, whatever they are about and however wide the font."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser import sticks_out
from mlmodelscope import Record
from mlmodelscope.record.bench import BenchRecord, LoadRecord, Stability, SweepRecord
from mlmodelscope.record.record import CurvePoint, TrainedFile, TrainingRecord
from mlmodelscope.report.plot import Axis, bars
from mlmodelscope.report.sheet import Section, write_sheet
from mlmodelscope.types import Interval

Make = Callable[..., Record]
LONG = "a-model-with-a-name-that-nobody-can-remember"


def swept(make_record: Make) -> Record:
    def run(batch_size: int) -> LoadRecord:
        return LoadRecord(
            scenario="sweep",
            batch_size=batch_size,
            samples_per_query=batch_size,
            queries=12_345,
            duration_s=1.0,
            samples_per_s=123_456.7,
            percentiles_s={name: Interval(0.0123, 0.0111, 0.0133) for name in ("p50", "p90", "p99")},
            mean_s=0.0123,
            trimmed_mean_s=0.0123,
            cpu_s_per_sample=0.0123,
            peak_memory_bytes=12_345_678_901,
        )

    bench = BenchRecord(
        scenario="sweep",
        budget_s=1.0,
        seed=0,
        runs=tuple(run(2**power) for power in range(8)),
        sweep=SweepRecord(optimal_batch=128, gain=0.05, ended="enough"),
        stability=Stability(verdict="unstable", because=(f"{LONG} took 1.56 of 2 processors (limit 0.2)",)),
    )
    return make_record(metrics={}, latency=None, bench=bench)


def trained(make_record: Make) -> Record:
    points = tuple(
        CurvePoint(progress=share / 4, wall_s=share, metrics={LONG: 1234.5 / (share + 1)}) for share in range(5)
    )
    made = (TrainedFile(name=f"{LONG}.npz", sha256="1" * 64, size_bytes=408_046),)
    training = TrainingRecord(curve=points, artifacts=made, metrics={LONG: 0.123456789}, wall_s=12.3)
    return make_record(metrics={}, latency=None, training=training)


def sheet() -> str:
    plot = bars("How fast", [(LONG, 123_456.7, ""), ("b", 2.0, ""), ("c", 3.0, "")], Axis("samples/s"))
    head = ["model", "dataset", "samples/s", "latency", "top-1", "what is missing"]
    rows = [[LONG, LONG, "123,456.7", "12.3 ms", "82.86 %", "mlmodelscope bench --scenario sweep"]] * 3
    return write_sheet(LONG, f"{LONG} beside {LONG}.", [Section("All of them", LONG, [plot], head, rows, [LONG])])


@pytest.mark.parametrize("kind", ["bench", "training", "sheet"])
def test_nothing_sticks_out_of_a_screen(
    kind: str, make_record: Make, report: Callable[..., str], browser: Any, tmp_path: Path
) -> None:
    makers = {
        "bench": lambda: report(swept(make_record)),
        "training": lambda: report(trained(make_record)),
        "sheet": sheet,
    }
    path = tmp_path / "page.html"
    path.write_text(makers[kind](), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert sticks_out(page) == []
    page.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fonts are chosen by fontconfig on Linux alone")
@pytest.mark.parametrize("family", ["Inter, sans-serif", "ui-monospace, monospace", "Arial", "serif"])
def test_the_font_of_these_tests_is_a_wide_one(family: str, browser: Any) -> None:
    page = browser.new_page()
    page.set_content(f'<span style="font: 100px {family}">illicitly.</span>')
    assert page.locator("span").bounding_box()["width"] == pytest.approx(720)
    page.close()
