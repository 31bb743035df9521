"""Task files of lm-evaluation-harness are evaluated as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import language_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.record.record import Record

LINES = ["the cat sat on the mat\n", "the dog sat on the rug\n", "a cat ran to the dog\n"]
DOCUMENTS = [
    {"start": "the cat sat on", "ends": ["the mat", "mat the"], "label": 0},
    {"start": "the dog sat on", "ends": ["gur eht", "the rug"], "label": 1},
]


def evaluated(folder: Path, **task: object) -> Record:
    graph = language_world.write_arpa(folder / "pets.arpa", [language_world.pieces_of(each, ["the"]) for each in LINES])
    language_world.write_documents(folder / "docs.jsonl", DOCUMENTS)
    told = {
        "task": "pets",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": "docs.jsonl"}},
        "test_split": "test",
        **task,
    }
    (folder / "task.yaml").write_text(json.dumps(told))
    settings = Settings(folder / "home", folder / "cache")
    return evaluate(language_world.model_of(graph), folder / "task.yaml", Options(), settings=settings)


def test_choices_of_a_task_file(tmp_path: Path) -> None:
    record = evaluated(
        tmp_path, output_type="multiple_choice", doc_to_text="start", doc_to_target="label", doc_to_choice="ends"
    )
    assert record.failed == 0
    assert record.metrics["choice-accuracy"].value == record.metrics["choice-accuracy-characters"].value == 1.0


def test_choices_that_are_the_questions(tmp_path: Path) -> None:
    record = evaluated(
        tmp_path,
        output_type="multiple_choice",
        doc_to_text="label",
        doc_to_target="{{'sat'}}",
        doc_to_choice="{{['the cat', 'xqz'] if label == 0 else ['xqz', 'the cat']}}",
        metric_list=[{"metric": "acc"}],
    )
    assert record.failed == 0 and record.metrics["choice-accuracy"].value == 1.0


def test_a_continuation_of_a_task_file_has_no_delimiter(tmp_path: Path) -> None:
    record = evaluated(
        tmp_path,
        output_type="loglikelihood",
        doc_to_text="start",
        doc_to_target="{{' ' + ends[label]}}",
        metric_list=[{"metric": "perplexity"}, {"metric": "acc"}],
    )
    assert record.failed == 0 and record.metrics["perplexity-text"].value > 1.0


@pytest.mark.parametrize("shots", [1, 2])
def test_examples_that_are_too_many_are_said(tmp_path: Path, shots: int) -> None:
    record = evaluated(
        tmp_path,
        output_type="multiple_choice",
        doc_to_text="start",
        doc_to_target="label",
        doc_to_choice="ends",
        fewshot_split="test",
        num_fewshot=shots,
    )
    assert record.failed == (0 if shots == 1 else 2)


def test_a_translation_is_written_and_compared(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    record = evaluated(
        tmp_path,
        output_type="generate_until",
        doc_to_text="start",
        doc_to_target="{{ends[label]}}",
        generation_kwargs={"until": ["\n"], "max_gen_toks": 12},
        metric_list=[{"metric": "chrf"}],
    )
    assert record.failed == 0 and record.metrics["chrf"].value > 0
