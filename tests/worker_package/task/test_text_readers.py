"""Texts and spans as they travel."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.task import Read, reader_of


class Prepared:
    frame = None


def read(task: str, outputs: dict[str, Any], rows: int = 1) -> Read:
    reader = reader_of(task, [{"role": role, "steps": []} for role in outputs], {"steps": [], "label_offset": 0})
    return reader(list(outputs.values()), [Prepared()] * rows)


def answers(found: Read) -> list[Any]:
    assert found.buffers == ()
    return [each["fields"] for each in found.content["answers"]]


@pytest.mark.parametrize("task", ["translation", "summarization", "speech_recognition"])
@pytest.mark.parametrize(
    "texts",
    [
        np.array(["ja, gut", ""], object),
        np.array([["ja, gut"], [""]]),
        np.array([b"ja, gut", b""], object),
    ],
)
def test_a_model_that_answers_in_words_is_read_as_it_is(task: str, texts: np.ndarray) -> None:
    assert answers(read(task, {"text": texts}, 2)) == [{"text": "ja, gut"}, {"text": ""}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\ud800", "half a surrogate pair at character 0"),
        (b"\xff", "not UTF-8"),
        (5, "where a text is due"),
        ("x" * 1_000_001, "1000001 characters"),
    ],
)
def test_what_is_no_text_fails_its_sample_alone(text: Any, reason: str) -> None:
    values = np.empty(2, object)
    values[:] = [text, "good"]
    found = read("translation", {"text": values}, 2)
    assert reason in found.failed[0] and answers(found) == [{"text": "good"}]


def test_several_texts_for_a_sample_are_refused() -> None:
    found = read("translation", {"text": np.array([["a", "b"]])})
    assert found.failed == {0: "a sample has 2 texts, and one is due"}


def test_outputs_that_are_not_words_yet_are_refused() -> None:
    found = read("speech_recognition", {"logits": np.zeros((1, 5, 30), np.float32)})
    assert "there is no text, only logits" in found.failed[0]


def test_an_answer_to_a_question_may_have_a_score() -> None:
    texts = np.array(["France", ""], object)
    assert answers(read("question_answering", {"text": texts}, 2))[0] == {"text": "France", "score": None}
    found = read("question_answering", {"text": texts, "score": np.array([0.5, np.inf], np.float32)}, 2)
    assert answers(found) == [{"text": "France", "score": 0.5}]
    assert found.failed == {1: "the model answered with not-a-number"}


def spans(*rows: Any) -> np.ndarray:
    found = np.empty(len(rows), object)
    found[:] = list(rows)
    return found


def test_spans_travel_with_their_types_and_scores() -> None:
    found = read(
        "token_classification", {"spans": spans([(0, np.int64(3), "PER", np.float32(0.5)), (4, 6, "LOC")], [])}, 2
    )
    assert answers(found) == [{"spans": [[0, 3, "PER", 0.5], [4, 6, "LOC", None]]}, {"spans": []}]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ([(3, 3, "PER")], "from 3 to 3 is not a piece of text"),
        ([(0, 3)], "2 parts"),
        ([(0, 3, "PER", float("nan"))], "not-a-number"),
        ([(0, 3, 7)], "where a text is due"),
        ([(0, 1, "PER")] * 100_001, "100001 spans"),
    ],
)
def test_what_is_no_span_fails_its_sample(told: Any, reason: str) -> None:
    found = read("token_classification", {"spans": spans(told, [])}, 2)
    assert reason in found.failed[0] and answers(found) == [{"spans": []}]


def test_tags_that_are_no_spans_yet_are_refused() -> None:
    assert "there are no spans" in read("token_classification", {"logits": np.zeros((1, 4, 9), np.float32)}).failed[0]
