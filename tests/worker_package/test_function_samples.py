"""Texts, sounds and rows on their way through a manifest's functions, and the answers of their tasks."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope_worker.messages import BatchAnswer
from mlmodelscope_worker.scenario.offline import Batch

from .test_function_session import infer, open_session

PARTS: list[tuple[dict[str, Any], Any]] = [
    ({"text": {"text": "Ann läuft"}}, "Ann läuft"),
    ({"text": {"text": "a"}, "text_pair": {"text": "b"}}, {"text": "a", "text_pair": "b"}),
    ({"audio": {"file": "/data/a.wav"}}, "/data/a.wav"),
    (
        {"audio": {"file": "/data/a.wav", "start": 1.5, "seconds": 2.0}},
        {"file": "/data/a.wav", "start": 1.5, "seconds": 2.0},
    ),
    ({"audio": {"file": "/data/a.wav", "start": 1.5}}, {"file": "/data/a.wav", "start": 1.5, "seconds": None}),
    ({"columns": {"cells": {"age": 5, "name": "Ann", "size": None}}}, {"age": 5, "name": "Ann", "size": None}),
]


@pytest.mark.parametrize(("parts", "given"), PARTS)
def test_a_sample_is_the_plainest_thing_that_python_has_for_it(parts: dict[str, Any], given: Any) -> None:
    session = open_session("return data", "return data", "ctx['seen'] = data\nreturn [0]")
    infer(session, Batch(0, [{"parts": parts}], ()))
    assert session.context["seen"] == {"data": [given]}
    alone = open_session("ctx['seen'] = data\nreturn np.zeros(1)", "return [0]", "return data", gets="sample")
    infer(alone, Batch(0, [{"parts": parts}], ()))
    assert alone.context["seen"] == given


def test_values_in_a_file_are_an_array(tmp_path: Path) -> None:
    (tmp_path / "values").write_bytes(bytes(range(6)))
    form = {"slice": str(tmp_path / "values"), "offset": 2, "shape": [4], "element_type": "uint8"}
    session = open_session("return data", "return data", "ctx['seen'] = data['data'][0].tolist()\nreturn [0]")
    sample = {"parts": {"array": {**form, "layout": "HWC", "color": "RGB"}}}
    infer(session, Batch(0, [sample], ()))
    assert session.context["seen"] == [2, 3, 4, 5]


def test_files_of_the_manifest_are_known_by_their_names() -> None:
    session = open_session(run="return [ctx['files']['words']]", postprocess="return data", task="general")
    assert session.context["files"] == {}
    named = open_session(
        run="return [ctx['files']['words']]", postprocess="return data", task="general", named_files={"words": "/w.txt"}
    )
    assert infer(named, 1)[0].content["texts"] == ['"/w.txt"']


def answered(task: str, answers: str, count: int = 1) -> tuple[BatchAnswer, Any]:
    return infer(open_session("return data", "return data", f"return {answers}", task=task), count)


@pytest.mark.parametrize(
    ("task", "answer", "fields"),
    [
        ("token_classification", "[[0, 3, 'PER']]", {"spans": [[0, 3, "PER", None]]}),
        ("token_classification", "{'spans': ((0, np.int64(3), 'PER', .5),)}", {"spans": [[0, 3, "PER", 0.5]]}),
        ("token_classification", "{'spans': [], 'tokens': [(0, 3)]}", {"spans": [], "tokens": [[0, 3]]}),
        ("question_answering", "'in Rome'", {"text": "in Rome", "score": None}),
        ("question_answering", "{'text': '', 'score': .25}", {"text": "", "score": 0.25}),
        ("translation", "'ja'", {"text": "ja"}),
        ("speech_recognition", "{'text': b'ja'}", {"text": "ja"}),
    ],
)
def test_an_answer_has_roles_or_is_the_first_of_them(task: str, answer: str, fields: dict[str, Any]) -> None:
    header, buffers = answered(task, f"[{answer}]")
    assert not header.errors and not buffers
    assert header.content == {"form": "arrays", "answers": [{"arrays": [], "fields": fields}]}


@pytest.mark.parametrize("answers", ["[1.5, 2]", "np.array([1.5, 2])", "[[1.5], {'values': [2]}]"])
def test_numbers_may_be_bare(answers: str) -> None:
    header, buffers = answered("regression", answers, 2)
    assert not header.errors and [each.tolist() for each in buffers] == [[1.5], [2.0]]


@pytest.mark.parametrize(
    ("task", "answer", "reason"),
    [
        (
            "token_classification",
            "{'tokens': []}",
            "an answer of this task is made of spans, tokens, this one has tokens",
        ),
        ("token_classification", "{'spans': [], 'score': 1}", "this one has score"),
        ("token_classification", "[[3, 1, 'PER']]", "a span from 3 to 1 is not a piece of text"),
        ("token_classification", "{'spans': [], 'tokens': [[0, 3], [2, 5]]}", "does not follow the one before it"),
        ("token_classification", "{'spans': [], 'tokens': [[0, 3, 4]]}", "a token has a start and an end"),
        ("token_classification", "{'spans': [], 'tokens': [[0, 1.5]]}", "float"),
        ("token_classification", "None", "postprocess"),
        ("translation", "5", "where a text is due"),
        ("regression", "float('nan')", "not-a-number"),
        ("regression", "'many'", "not numbers"),
    ],
)
def test_an_answer_that_cannot_be_read_fails_its_sample_alone(task: str, answer: str, reason: str) -> None:
    good = {"token_classification": "[]", "translation": "''", "regression": "0"}[task]
    header, _ = answered(task, f"[{answer}, {good}]", 2)
    assert list(header.errors) == ["0"] and reason in header.errors["0"]
    assert header.errors["0"].startswith("postprocess: ") and len(header.content["answers"]) == 1


def test_answers_too_large_for_a_message_fail() -> None:
    header, _ = answered("translation", "['x' * 1000000] * 40", 40)
    assert set(header.errors.values()) == {"postprocess: the answers of one batch are larger than 32 MiB"}
    assert 30 < len(header.content["answers"]) < 40
