"""What two reference logs say of a reproduction: the curve, single samples, the final numbers."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.reproduction.logs import judge_curve, judge_numbers, judge_samples

from .reproduction_world import write_world
from .test_reproduction import checked

LOG = """name: {name}
version: 1.0.0
manifests: {{model: {{name: m, version: 1.0.0}}}}
metrics: {{top1: {{value: {top1}, low: {low}, high: {high}}}}}
curve:
  - {{progress: 0.1, metrics: {{top1: 0.1}}}}
  - {{progress: 0.25, metrics: {{top1: {quarter}}}}}
  - {{progress: 1.0, metrics: {{top1: {top1}}}}}
outputs: {{rows: [{{sample: a, classes: [{first}]}}, {{sample: b, classes: [2]}}]}}
"""
USUAL: dict[str, Any] = {"top1": 0.9, "low": 0.89, "high": 0.91, "quarter": 0.6, "first": 1}
MANIFEST = """kind: reproduction
name: by-logs
version: 1.0.0
mine: {log: mine.yml}
original: {log: original.yml}
inputs: [{shape: [3]}]
tolerances: {numbers: 0.02}
"""


def by_logs(folder: Path, **mine: Any) -> dict[str, tuple[str, str]]:
    (folder / "mine.yml").write_text(LOG.format(**{**USUAL, **mine, "name": "mine"}))
    (folder / "original.yml").write_text(LOG.format(**USUAL, name="original"))
    found = checked(write_world(folder, manifest=MANIFEST))
    return {each.check: (each.verdict, each.words) for each in found.results}


def test_logs_alone_are_enough_for_curve_samples_and_numbers(tmp_path: Path) -> None:
    told = by_logs(tmp_path)
    assert {check: verdict for check, (verdict, _) in told.items() if verdict != "skipped"} == dict.fromkeys(
        ("curve", "samples", "numbers"), "passed"
    )


def test_a_training_that_is_behind_at_a_quarter_fails_and_its_end_waits(tmp_path: Path) -> None:
    told = by_logs(tmp_path, quarter=0.5)
    assert (
        told["curve"][0] == "failed" and "at 25 % of the training top1 is 0.5 where original@1.0.0" in told["curve"][1]
    )
    assert told["numbers"] == ("waits", "waits for curve")


def test_an_answer_that_differs_is_named(tmp_path: Path) -> None:
    told = by_logs(tmp_path, first=7)
    assert told["samples"] == ("failed", "1 of 2 answers differ: a")


@pytest.mark.parametrize(
    ("top1", "low", "high", "verdict"),
    [
        (0.9, 0.89, 0.91, "passed"),
        (0.95, 0.94, 0.96, "passed"),  # better than published is no failure
        (0.85, 0.84, 0.86, "failed"),
        (0.875, 0.86, 0.89, "undecided"),
    ],
)
def test_final_numbers_have_a_verdict(tmp_path: Path, top1: float, low: float, high: float, verdict: str) -> None:
    assert by_logs(tmp_path, top1=top1, low=low, high=high)["numbers"][0] == verdict


def log(**changes: Any) -> ReferenceLog:
    reference = {"name": "log", "version": "1.0.0", "manifests": {"model": {"name": "m", "version": "1.0.0"}}}
    return ReferenceLog.model_validate({**reference, **changes})


def test_a_smaller_loss_is_better() -> None:
    metrics = {"loss": {"value": 0.5}}
    assert judge_numbers(log(metrics=metrics), {"loss": 0.6}, 0.01)[0] == "passed"
    assert judge_numbers(log(metrics=metrics), {"loss": 0.4}, 0.01)[0] == "failed"


def test_what_cannot_be_compared_is_skipped_or_undecided() -> None:
    one = [{"progress": 0.5, "metrics": {"top1": 0.5}}]
    other = [{"progress": 0.5, "metrics": {"f1": 0.5}}]
    assert judge_curve(log(), log(curve=one), 0.1)[0] == "skipped"
    assert judge_curve(log(curve=other), log(curve=one), 0.1)[0] == "undecided"
    assert judge_samples(log(), log(), 0.0)[0] == "skipped"
    assert judge_numbers(log(), {"top1": 1.0}, 0.1)[0] == "skipped"


def test_numbers_that_are_not_finite_do_not_pass() -> None:
    curve = [{"progress": 0.5, "metrics": {"top1": 0.5}}]
    broken = [{"progress": 0.5, "metrics": {"top1": float("nan")}}]
    assert judge_curve(log(curve=broken), log(curve=curve), 0.1)[0] == "failed"
    assert judge_numbers(log(metrics={"top1": {"value": float("nan")}}), {"top1": 0.5}, 0.1)[0] == "failed"
