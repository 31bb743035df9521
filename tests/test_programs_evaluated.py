"""A model writes programs, and they are run with their tests: only where that is trusted, and behind walls."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import language_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.confine.execution import why_nothing_runs
from mlmodelscope.errors import MetricError, TrustError
from mlmodelscope.measure.generation import Generation
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.task import generation as task

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2] / "shared")
HUMANEVAL = SHARED / "tasks" / "lm" / "HumanEval.jsonl.gz"
OPTIONS = {"execute": "python", "insert": "[[answer]]", "timeout_s": 5, "memory_mib": 256}
walled = pytest.mark.skipif(why_nothing_runs() is not None, reason=f"no sandbox: {why_nothing_runs()}")


def asked(folder: Path) -> tuple[Any, Any, Settings]:
    lines = ["the cat sat\n", "the cat sat\n"]
    model = language_world.write_arpa(folder / "pets.arpa", [list(each) for each in lines])
    documents = [{"start": "the c", "due": "at"}, {"start": "the c", "due": "og"}]
    dataset = language_world.dataset_of(
        language_world.write_documents(folder / "programs.jsonl", documents),
        "text_generation",
        {"question": "{{start}}", "answer": "assert '{{start}}' + '''[[answer]]'''[:2] == '{{start}}{{due}}'"},
        {"longest": 6, "stop": ["\n"]},
        measure={"execute": "python", "timeout_s": 5},
    )
    return language_world.model_of(model), dataset, Settings(folder / "home", folder / "cache")


def test_without_trust_nothing_is_run(tmp_path: Path) -> None:
    model, dataset, settings = asked(tmp_path)
    with pytest.raises(TrustError, match="model-written code that is not trusted"):
        evaluate(model, dataset, Options(), settings=settings)


def test_without_a_sandbox_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, dataset, settings = asked(tmp_path)
    monkeypatch.setattr(task, "why_nothing_runs", lambda: "bubblewrap is not installed")
    with pytest.raises(MetricError, match="bubblewrap is not installed"):
        evaluate(model, dataset, Options(), settings=settings, trust=True)


@walled
def test_programs_that_come_to_their_end_pass(tmp_path: Path) -> None:
    model, dataset, settings = asked(tmp_path)
    record = evaluate(model, dataset, Options(), settings=settings, trust=True)
    assert record.failed == 0 and record.metrics["pass-at-1"].value == 0.5
    assert "exact-match" not in record.metrics and "pass-at-10" not in record.metrics
    assert record.details["executed"] == {"passed": 1, "failed: AssertionError": 1}


def test_a_reference_without_a_place_costs_its_sample_only() -> None:
    bad = ({}, {"text": "1"}, {"answers": ["assert True"]})
    (found,) = Generation().score_together([bad], OPTIONS)
    assert isinstance(found, ScoreError) and "[[answer]]" in str(found)


def test_older_scores_have_no_such_number() -> None:
    from mlmodelscope.measure.pack import pack

    old = pack({"values": [1.0, 1.0, 0.0, 0.0, 1.0]}, impossible=False, quality=1.0, answers=1)
    assert Generation().numbers([old], ["exact-match", "pass-at-1"], None) == {"exact-match": 1.0}


@walled
@pytest.mark.shared
@pytest.mark.slow(reason="164 programs, twice")
@pytest.mark.skipif(not HUMANEVAL.is_file(), reason="needs HumanEval")
def test_every_solution_of_humaneval_passes_and_none_that_gives_nothing() -> None:
    documents = [json.loads(each) for each in gzip.decompress(HUMANEVAL.read_bytes()).splitlines()]

    def passing(answer: Callable[[dict[str, str]], str]) -> float:
        due = [f"{each['prompt']}[[answer]]\n{each['test']}\ncheck({each['entry_point']})" for each in documents]
        items = [({}, {"text": answer(each)}, {"answers": [test]}) for each, test in zip(documents, due, strict=True)]
        found = [each for each in Generation().score_together(items, OPTIONS) if isinstance(each, bytes)]
        assert len(found) == 164
        return Generation().numbers(found, ["pass-at-1"], None)["pass-at-1"]

    assert passing(lambda each: each["canonical_solution"]) == 1.0
    assert passing(lambda each: "    return None\n") < 0.02
