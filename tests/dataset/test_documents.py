"""Documents are rows as their authors wrote them; a template says what is true of each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.confine.confined import Limits
from mlmodelscope.dataset import documents
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError, LimitError

Open = Callable[..., Dataset]
Write = Callable[..., Path]
ROWS = [{"q": "2+2", "options": ["3", "4"], "label": 1}, {"q": "x", "options": ["a"], "label": 0}]


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(
    open_as: Open, file: Path, answer: str | None = "label", task: str = "multiple_choice", **more: Any
) -> Dataset:
    return open_as("documents", file, task=task, answer=answer, **more)


@pytest.mark.parametrize(
    ("name", "body"),
    [("d.jsonl", lines(*ROWS)), ("d.json", json.dumps(ROWS)), ("e.json", json.dumps({"data": ROWS}))],
)
def test_a_document_keeps_every_field_and_its_place(write: Write, open_as: Open, name: str, body: str) -> None:
    found = read(open_as, write({name: body}) / name)
    assert [each.content["parts"]["document"] for each in found.samples] == [
        {"document": row, "ordinal": place} for place, row in enumerate(ROWS)
    ]
    assert [each.target for each in found.samples] == [{"answers": [1]}, {"answers": [0]}]


@pytest.mark.parametrize(
    ("task", "answer", "due"),
    [
        ("multiple_choice", "{{label}}", [1]),
        ("multiple_choice", "{{options[label]}}", [4]),
        ("text_generation", "{{label}}", ["1"]),
        ("text_generation", "{{options}}", ["3", "4"]),
        ("text_generation", "It is {{options[label]}}.", ["It is 4."]),
        ("text_generation", "[{{q}}", ["[2+2"]),
        ("language_modeling", "q", ["2+2"]),
    ],
)
def test_a_template_says_what_is_true(write: Write, open_as: Open, task: str, answer: str, due: list[Any]) -> None:
    found = read(open_as, write({"d.jsonl": lines(ROWS[0])}) / "d.jsonl", answer, task)
    assert found.samples[0].target == {"answers": due}


def test_without_one_nothing_is_known_to_be_true(write: Write, open_as: Open) -> None:
    assert read(open_as, write({"d.jsonl": lines(*ROWS)}) / "d.jsonl", None).samples[0].target is None


def test_labels_of_a_file_of_their_own_are_a_field(write: Write, open_as: Open) -> None:
    folder = write({"d.jsonl": lines({"q": "a"}, {"q": "b"}), "d.lst": "1\nno\n"})
    found = open_as("documents", folder / "d.jsonl", folder / "d.lst", task="multiple_choice", answer="label")
    assert [each.target for each in found.samples] == [{"answers": [1]}, {"answers": ["no"]}]
    short = write({"e.lst": "1\n"})
    with pytest.raises(DatasetError, match=r"e\.lst has 1 lines, and there are 2 documents"):
        open_as("documents", short / "d.jsonl", short / "e.lst", task="multiple_choice", answer="label")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("{{nothing}}", "the answer to document 0"),
        ("{{q.__class__.__subclasses__()}}", "the answer to document 0"),
        ("{{ 'x' * 2000000 }}", "2000000 characters"),
    ],
)
def test_what_a_strangers_template_does_ends(write: Write, open_as: Open, answer: str, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        read(open_as, write({"d.jsonl": lines(*ROWS)}) / "d.jsonl", answer)


def test_a_template_that_never_ends_is_stopped(write: Write, open_as: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_LIMITS", Limits(cpu_s=0.5))
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(LimitError, match="processor time"):
        read(open_as, write({"d.jsonl": lines(*ROWS)}) / "d.jsonl", loop)


@pytest.mark.parametrize(
    ("body", "reason"),
    [('{"q": 1}\n{"q"\n', "d.jsonl"), ("[1, 2]\n", "d.jsonl|columns"), (b'{"q": "\xff"}\n', "UTF-8|utf-8")],
)
def test_a_damaged_file_names_its_place(write: Write, open_as: Open, body: Any, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        read(open_as, write({"d.jsonl": body}) / "d.jsonl", "q")


def test_the_same_document_has_the_same_digest_wherever_it_stands(write: Write, open_as: Open) -> None:
    one = read(open_as, write({"a.jsonl": lines(*ROWS)}) / "a.jsonl")
    other = read(open_as, write({"b.jsonl": lines(*reversed(ROWS))}) / "b.jsonl")
    assert one.samples[0].digest == other.samples[1].digest
