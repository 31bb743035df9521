"""Formats of language tasks: CoNLL's columns, SQuAD, parallel lines, standoff spans, factRuEval."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("B-PER I-PER O B-LOC", [[0, 3, "PER"], [6, 7, "LOC"]]),
        ("I-PER I-PER O I-LOC", [[0, 3, "PER"], [6, 7, "LOC"]]),
        ("I-PER B-PER O O", [[0, 1, "PER"], [2, 3, "PER"]]),
        ("B-PER E-PER S-LOC S-LOC", [[0, 3, "PER"], [4, 5, "LOC"], [6, 7, "LOC"]]),
        ("B-PER I-LOC O I-LOC", [[0, 1, "PER"], [2, 3, "LOC"], [6, 7, "LOC"]]),
        ("O O O O", []),
    ],
)
def test_tags_of_every_scheme_become_spans(write: Write, open_as: Open, tags: str, spans: list[Any]) -> None:
    lines = "".join(f"{token} NN {tag}\n" for token, tag in zip("abcd", tags.split(), strict=True))
    (sample,) = open_as("conll", write({"t.conll": lines}) / "t.conll").samples
    assert sample.target == {"spans": spans, "tokens": [[0, 1], [2, 3], [4, 5], [6, 7]], "text": "a b c d"}


def test_sentences_end_at_empty_lines_and_documents_at_their_border(write: Write, open_as: Open) -> None:
    body = "-DOCSTART- -X- O\n\nAnn B-PER\n\nran O\n-DOCSTART- O\n\nRome B-LOC\n"
    found = open_as("conll", write({"t": body}) / "t").samples
    assert [each.id for each in found] == ["0000/00000", "0000/00001", "0001/00002"]


def test_columns_of_conll_are_numbers(write: Write, open_as: Open) -> None:
    file = write({"t": "1\tNew York\tB-LOC\tx\n"}) / "t"
    found = open_as("conll", file, columns={"text": 1, "target": 2}, delimiter="\t").samples
    assert found[0].target["spans"] == [[0, 8, "LOC"]]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"Ann\n", "the sentence at line 1 of t has a line of 1 columns, and token and tag need 2"),
        (b"\nAnn PER\n", "the sentence at line 2 of t has the tag `PER`"),
        (b"Ann \xff\n", "line 1 of t is not UTF-8 text"),
        (b"", "t is empty"),
        (b"a" * (5 << 20), "line 1 of t is longer than 4 MiB"),
        (b"\n\n", "pets has no samples"),
    ],
)
def test_what_is_wrong_with_conll_is_said(write: Write, open_as: Open, body: bytes, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        open_as("conll", write({"t": body}) / "t")


def squad(*questions: dict[str, Any]) -> str:
    return json.dumps({"data": [{"title": "t", "paragraphs": [{"context": "Ann ran.", "qas": list(questions)}]}]})


ASKED = {
    "id": "q1",
    "question": "Who?",
    "answers": [{"text": "Ann", "answer_start": 0}, {"text": "Ann", "answer_start": 0}],
}
OPEN = {"id": "q2", "question": "Why?", "answers": [], "is_impossible": True}


def test_squad_of_both_versions(write: Write, open_as: Open) -> None:
    first, second = open_as("squad", write({"dev.json": squad(ASKED, OPEN)}) / "dev.json").samples
    assert first.content["parts"] == {"text": {"text": "Who?"}, "text_pair": {"text": "Ann ran."}}
    assert first.target == {"texts": ["Ann", "Ann"], "impossible": False}
    assert second.id == "q2" and second.target == {"texts": [], "impossible": True}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[]", "dev.json is not an object as SQuAD has it"),
        ('{"data": {}}', "dev.json has no list `data`"),
        ('{"data": [3]}', "article 0 of dev.json is not an object"),
        (squad(ASKED, ASKED), "question 1 of paragraph 0 of article 0 of dev.json has the id `q1`"),
        (squad({**ASKED, "answers": []}), "has no answer, and `is_impossible` is not true"),
        (squad({**ASKED, "question": None}), "question 0 .* has no text"),
        (squad({**ASKED, "answers": [{"text": 3}]}), "has 3 in place of a text"),
        ("[" * 100_000, "dev.json is nested too deeply"),
        ("", "dev.json is not valid JSON"),
    ],
)
def test_what_is_wrong_with_squad_is_said(write: Write, open_as: Open, body: str, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        open_as("squad", write({"dev.json": body}) / "dev.json")


def test_lines_of_parallel_files_belong_together(write: Write, open_as: Open) -> None:
    folder = write({"t.en": "one\n\nthree\n", "refs/t.0.de": "eins\n\ndrei\n", "refs/t.1.de": "eine\n-\ndrei"})
    found = open_as("parallel", folder / "t.en", folder / "refs").samples
    assert [each.content["parts"]["text"]["text"] for each in found] == ["one", "", "three"]
    assert found[0].target == {"texts": ["eins", "eine"]}


def test_parallel_files_of_other_lengths_are_refused(write: Write, open_as: Open) -> None:
    folder = write({"t.en": "one\ntwo\n", "t.de": "eins\n"})
    with pytest.raises(DatasetError, match="t.de has 1 lines, and t.en has more"):
        open_as("parallel", folder / "t.en", folder / "t.de")
    with pytest.raises(DatasetError, match="names no `labels_url`"):
        open_as("parallel", folder / "t.en")


def test_spans_as_brat_writes_them(write: Write, open_as: Open) -> None:
    notes = "T2\tLOC 10 14\tRome\nT1\tPER 0 3;4 7\tAnn Lee\nR1\tin Arg1:T1 Arg2:T2\n"
    found = open_as("spans", write({"a.txt": "Ann Lee,\r\nRome", "a.ann": notes})).samples
    assert found[0].id == "a" and found[0].target["spans"] == [[0, 7, "PER"], [10, 14, "LOC"]]
    assert found[0].target["tokens"] == [[0, 3], [4, 7], [7, 8], [10, 14]]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.txt": "Ann"}, "`a.txt` has no spans"),
        ({"a.txt": "Ann", "a.ann": "T1 PER 0 3"}, "line 1 of a.ann is not a span"),
        ({"a.txt": "Ann", "a.ann": "T1\tPER 0 9\tAnn"}, "from 0 to 9 in a text of 3 characters"),
        ({"a.txt": "Ann", "a.ann": "T1\tPER 0 3\tBob"}, "line 1 of a.ann says `Bob`, and the text has `Ann`"),
        ({"a.txt": b"\xff", "a.ann": ""}, "a.txt is not UTF-8 text"),
        ({"a.md": "Ann"}, "holds no .txt file"),
    ],
)
def test_what_is_wrong_with_spans_is_said(write: Write, open_as: Open, files: dict[str, str], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        open_as("spans", write(files))


FACTS = {
    "testset/b.txt": "Mayor of Rome Ann Lee spoke",
    "testset/b.spans": "1 loc_name 9 4 77 1  # 77 Rome\n2 name 14 3\n3 surname 18 3\n4 org_descr 0 5\n5 org_name 9 4\n",
    "testset/b.objects": "10 Org 5 4 # Rome Mayor\n11 LocOrg 1 # Rome\n12 Person 2 3 # Ann Lee\n13 Project 4\n",
    "devset/a.txt": "Rome",
    "devset/a.spans": "1 loc_name 0 4\n",
    "devset/a.objects": "10 Location 1 # Rome\n",
}


def test_objects_of_factrueval_become_spans_that_do_not_overlap(write: Write, open_as: Open) -> None:
    whole = open_as("factrueval", write(FACTS)).samples
    test = open_as("factrueval", write(FACTS), split="testset").samples
    assert [each.id for each in whole] == ["devset/a", "testset/b"] and [each.id for each in test] == ["testset/b"]
    assert test[0].target["spans"] == [[9, 13, "ORG"], [14, 21, "PER"]] and "tokens" not in test[0].target
    assert [each.id for each in open_as("factrueval", write(FACTS), split="all").samples] == ["devset/a", "testset/b"]


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("devset/a.spans", "1 loc_name 0\n", "line 1 of devset/a.spans is not an id, a type, a start and a length"),
        ("devset/a.spans", "1 loc_name 0 99\n", "in a text of 4 characters"),
        ("devset/a.objects", "10 Location 7\n", "names the span 7, which is not in the file of spans"),
        ("devset/a.objects", "10\n", "line 1 of devset/a.objects has no type"),
        ("devset/a.objects", "9" * 5000 + " x\n", "is not one of factRuEval"),
    ],
)
def test_what_is_wrong_with_factrueval_is_said(write: Write, open_as: Open, name: str, body: str, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        open_as("factrueval", write({**FACTS, name: body}))


def test_a_split_that_is_not_there_is_named(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="holds no folder `trainset`"):
        open_as("factrueval", write(FACTS), split="trainset")
