"""The report of a language model: prompts, choices as bars, tokens by how likely they were; whatever is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prompt_world
from mlmodelscope import Options, Settings, Store, evaluate
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.report.report import write_report

pytest.importorskip("jinja2")


def report(place: Path, settings: Settings, task: str) -> str:
    model, dataset = prompt_world.write_model(place), prompt_world.write_dataset(place, task)
    record = evaluate(str(model), str(dataset), Options(timed_runs=1, warm_up_runs=0), settings=settings)
    assert record.failed == 0
    return write_report(record, Store(settings), ArtifactStore(settings), "html")


@pytest.mark.parametrize("task", sorted(prompt_world.CALLS))
def test_a_prompt_is_in_the_report_and_only_text(tmp_path: Path, settings: Settings, task: str) -> None:
    text = report(tmp_path, settings, task)
    assert prompt_world.EVIL not in text and "&lt;img src=x onerror=alert(1)&gt;" in text
    prompts = re.findall(r'<pre dir="auto" tabindex="0">(.*?)</pre>', text, re.DOTALL)
    assert prompts and not any("\u202e" in each or "\x07" in each for each in prompts)


def test_choices_and_tokens_are_in_the_report(tmp_path: Path, settings: Settings) -> None:
    text = report(tmp_path, settings, "multiple_choice")
    assert text.count('class="chosen"') == 8 and "likelihood (used)" in text and "<small>right</small>" in text
    assert "Tokens of choice 0" in text and "log-likelihood -" in text
