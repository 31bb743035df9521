"""A model that counts, from a manifest to its numbers: no framework is needed for any of it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import language_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.manifest import schema
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.record.measured import batching_notes
from mlmodelscope.replicate.replication import replicate
from mlmodelscope_worker.messages import Latency

LINES = ["the cat sat on the mat\n", "the dog sat on the rug\n", "a cat ran to the dog\n"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return language_world.write_arpa(
        tmp_path / "pets.arpa", [language_world.pieces_of(each, ["the"]) for each in LINES]
    )


def settings(folder: Path) -> Settings:
    return Settings(folder / "home", folder / "cache")


def test_choices_are_made_by_what_was_counted(model: Path, tmp_path: Path) -> None:
    documents = [{"start": "the cat sat on", "a": "the mat", "b": "mat the", "label": 0}]
    documents += [{"start": "the dog sat on", "a": "gur eht", "b": "the rug", "label": 1}]
    dataset = language_world.dataset_of(
        language_world.write_documents(tmp_path / "ends.jsonl", documents),
        "multiple_choice",
        {"question": "{{start}}", "choices": ["{{a}}", "{{b}}"], "answer": "label"},
    )
    record = evaluate(language_world.model_of(model), dataset, Options(), settings=settings(tmp_path))
    assert record.failed == 0 and record.metrics["choice-accuracy"].value == 1.0
    assert record.batching is not None and record.batching.apart <= record.batching.tolerance == 1e-3
    assert not any("batch" in note for note in record.notes)


def test_likelihoods_that_depend_on_the_batch_are_noted() -> None:
    (note,) = batching_notes(Latency(2, [], [], apart=0.0123))
    assert "depend on the batch" in note and "0.012" in note and "--batch-size 1" in note
    assert batching_notes(Latency(2, [], [], apart=1e-4)) == batching_notes(Latency(2, [], [])) == ()


@pytest.mark.parametrize("written", ["acc", "accuracy", "choice-accuracy"])
def test_a_claim_names_accuracy_as_papers_do(model: Path, tmp_path: Path, written: str) -> None:
    documents = [{"start": "the cat sat on", "a": "the mat", "b": "mat the", "label": 0}]
    dataset = language_world.dataset_of(
        language_world.write_documents(tmp_path / "ends.jsonl", documents),
        "multiple_choice",
        {"question": "{{start}}", "choices": ["{{a}}", "{{b}}"], "answer": "label"},
    )
    said = schema.Claim(metric=written, value="100.0", dataset=dataset.name)
    claiming = language_world.model_of(model).model_copy(update={"claims": (said,)})
    for claim in (None, parse_claim(f"{written}=100.0@{dataset.name}")):
        done = replicate(claiming, dataset, claim=claim, explain=False, settings=settings(tmp_path))
        # One document decides nothing; which number the claim is about is what matters here.
        assert (done.verdict.claim.metric, done.verdict.measured.value) == ("choice-accuracy", 1.0)


def test_its_perplexity_is_that_of_its_own_counts(tmp_path: Path) -> None:
    # One line, one token: after a line's beginning `a` comes always, but for what was discounted for all else.
    graph = language_world.write_arpa(tmp_path / "a.arpa", [["a"]], order=2)
    dataset = language_world.dataset_of(
        language_world.write_documents(tmp_path / "as.jsonl", [{"text": "a"}]), "language_modeling", {"answer": "text"}
    )
    record = evaluate(language_world.model_of(graph), dataset, Options(), settings=settings(tmp_path))
    # 1 of 1 less a half; of that half: 1 of 2 less a half, and a quarter of another half (</s>, <unk>, a blank, a).
    assert record.metrics["perplexity"].value == pytest.approx(1 / (0.5 + 0.5 * (0.25 + 0.5 / 4)))
    assert record.metrics["bits-per-byte"].value == pytest.approx(math.log2(record.metrics["perplexity"].value))
