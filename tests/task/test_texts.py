"""Tasks whose answers are texts or spans: what is kept of a row, what is seen of it, and what is measured."""

import json
from typing import Any

import pytest

from mlmodelscope.cli.prediction_table import show_shapes
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema.model import Claim as Published
from mlmodelscope.plan.claim import claim_of, parse_claim
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.measure import MEASURES, find_measure
from mlmodelscope.task.shape import DifferenceShape, SpansShape, TextShape, named_by, summary
from mlmodelscope.task.task import Terms, task_named
from mlmodelscope_worker.parameters import ParameterError

pytest.importorskip("sacrebleu")
pytest.importorskip("rapidfuzz")
NAMED = named_by([])
TEXT = "Anna lives in Rome."
ENTITIES: dict[str, Any] = {
    "text": TEXT,
    "spans": [[0, 4, "PER"], [14, 18, "LOC"]],
    "tokens": [[0, 4], [5, 10], [11, 13], [14, 18], [18, 19]],
}
CASES: list[tuple[str, Any, dict[str, Any], str]] = [
    ("token_classification", ENTITIES, {"spans": [[0, 4, "PER", 0.9], [5, 10, "LOC", None]]}, "span-f1"),
    ("question_answering", {"texts": ["Rome"], "impossible": False}, {"text": "in Rome", "score": 0.5}, "answer-f1"),
    ("translation", {"texts": ["the cat", "a cat"]}, {"text": "the cat sat"}, "bleu"),
    ("summarization", {"texts": ["the cat"]}, {"text": "the cat sat"}, "rouge-1"),
    ("speech_recognition", {"texts": ["the cat"]}, {"text": "the bat sat"}, "wer"),
]


def evaluated(task: str, target: Any, fields: dict[str, Any], *claimed: str, **options: Any) -> Any:
    """(row, outcome) of two equal samples."""
    found = task_named(task)
    tally = found.tally(Terms(found.settle(options), claimed=claimed))
    answer = ArrayAnswer({}, fields)
    scored, _ = tally.take([(target, answer)] * 2)
    assert scored.error is None
    return found.values(target, answer, scored.score), tally.outcome()


@pytest.mark.parametrize(("task", "target", "fields", "headline"), CASES)
def test_every_task_is_measured_and_seen(task: str, target: Any, fields: dict[str, Any], headline: str) -> None:
    row, outcome = evaluated(task, target, fields)
    found = task_named(task)
    assert headline in outcome.numbers and set(found.headline) <= set(outcome.numbers)
    assert set(row) <= {each.name for each in found.columns}
    assert {each.side for each in found.shapes(row, None, NAMED)} == {"truth", "answer"}
    assert found.plain(row) and headline_title(headline) in found.sentence(2, wrapped(outcome.numbers))
    assert outcome.details["qualities"] and outcome.ruler["numpy"]


def headline_title(name: str) -> str:
    return MEASURES[name].title


def wrapped(numbers: Any) -> Any:
    class Number:
        def __init__(self, number: Any) -> None:
            self.value = getattr(number, "value", number)

    return {name: Number(each) for name, each in numbers.items()}


@pytest.mark.parametrize(("task", "target", "fields", "headline"), CASES)
def test_halves_of_surrogate_pairs_do_not_reach_the_table(
    task: str, target: Any, fields: dict[str, Any], headline: str
) -> None:
    found = task_named(task)
    bad = {"spans": [[0, 4, "\ud800", None]]} if "spans" in fields else {"text": "\ud800"}
    row = found.values(target, ArrayAnswer({}, bad), None)
    for value in row.values():
        assert not isinstance(value, str) or value.encode()
    assert json.dumps([summary(found.shapes(row, None, NAMED), "answer")]).encode()


def test_a_claimed_part_is_a_number_of_the_record() -> None:
    _, outcome = evaluated(*CASES[0][:3], "token-f1:PER", "span-recall:LOC", "token-f1:ORG", "span-f1")
    assert outcome.numbers["token-f1:PER"].value == 1.0 and outcome.numbers["span-recall:LOC"].value == 0.0
    assert "token-f1:ORG" in outcome.refused  # there is none of that type
    assert "span-f1:PER" not in outcome.numbers and outcome.numbers["span-f1"].value == 0.5


def test_a_part_is_found_by_its_measure_and_keeps_its_case() -> None:
    found = find_measure("NER_F1:PER")
    assert found is not None and (found.name, found.title) == ("span-f1:PER", "span F1, PER")
    assert MEASURES["token-f1:PER"].about == MEASURES["token-f1"].about  # type: ignore[attr-defined]
    assert [find_measure(name) for name in ("wer:PER", "span-f1:", "nothing:PER", f"span-f1:{'x' * 101}")] == [None] * 4


def test_a_part_can_be_claimed_on_the_command_line_and_in_a_manifest() -> None:
    claim = parse_claim("token-f1:PER=95.9@news")
    assert (claim.metric, claim.text, claim.dataset) == ("token-f1:PER", "95.9", "news")
    published = Published(metric="token-f1:PER", value="0.959", unit="share")
    assert claim_of(published).measure.title == "token F1, PER"
    assert parse_claim("chrf++=50.1").metric == "chrfpp"
    with pytest.raises(UsageError, match="cannot be checked"):
        parse_claim("wer:PER=2.0")
    with pytest.raises(ValueError, match="behind the colon"):
        Published(metric="token-f1:", value="1")


def test_the_measuring_process_has_what_numbers_were_computed_with() -> None:
    _, outcome = evaluated(*CASES[2][:3])
    assert outcome.ruler["sacrebleu"] and outcome.details["signatures"]["bleu"].startswith("nrefs:2|")
    _, outcome = evaluated(*CASES[4][:3])
    assert outcome.details["word_edits"] == {"substitutions": 2, "deletions": 0, "insertions": 2, "words": 4}


def test_ter_is_a_number_where_it_is_asked_for() -> None:
    _, outcome = evaluated(*CASES[2][:3], ter=True)
    assert outcome.numbers["ter"].value == pytest.approx(50.0)
    assert "ter" not in evaluated(*CASES[2][:3])[1].numbers


def test_an_option_that_is_none_names_those_that_there_are() -> None:
    with pytest.raises(ParameterError) as caught:
        task_named("speech_recognition").settle({"normalization": ["lower"]})
    assert caught.value.parameter == "normalization" and "lowercase" in caught.value.known


def test_entities_are_marked_in_their_text(capsys: pytest.CaptureFixture[str]) -> None:
    row, _ = evaluated(*CASES[0][:3])
    truth, answer = shapes = task_named("token_classification").shapes(row, None, NAMED)
    assert isinstance(truth, SpansShape) and isinstance(answer, SpansShape)
    assert truth.pieces() == [("Anna", ("PER",)), (" lives in ", ()), ("Rome", ("LOC",)), (".", ())]
    assert summary(shapes, "answer") == "PER Anna, LOC lives"
    show_shapes([answer], 0.3)
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["PER", "0", "–", "4", "Anna", "0.900"],
        ["LOC", "5", "–", "10", "lives"],
    ]


def test_words_that_an_answer_changed_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    row, _ = evaluated(*CASES[4][:3])
    assert row["wer"] == 1.0
    truth, answer = task_named("speech_recognition").shapes(row, None, NAMED)
    assert isinstance(answer, DifferenceShape) and answer.text == "the bat sat"
    show_shapes([answer], 0.3)
    shown = capsys.readouterr().out
    assert "[-cat-]" in shown and "the" in shown


def test_a_question_without_an_answer_says_so() -> None:
    target = {"texts": [], "impossible": True}
    row, outcome = evaluated("question_answering", target, {"text": "", "score": None})
    assert task_named("question_answering").shapes(row, None, NAMED) == [
        TextShape("truth", "(no answer)"),
        TextShape("answer", "(no answer)"),
    ]
    assert outcome.numbers["exact-match"].value == 1.0


def test_a_score_that_is_no_number_is_left_out() -> None:
    question = task_named("question_answering")
    for told in (float("nan"), float("inf"), 10**400, "0.5", True, None):
        row = question.values({"texts": ["x"]}, ArrayAnswer({}, {"text": "x", "score": told}), None)
        assert question.plain(row) == {"text": "x", "score": None}
    assert question.plain({"text": "x", "sure": float("nan")}) == {"text": "x", "score": None}


def test_rows_of_strangers_do_not_break_what_is_shown() -> None:
    rows = [
        {"target": "[]", "spans": '[[1], 5, ["a", 2, "x"], [0, 1, "PER", "sure"], [0, 1, "X", NaN], [0, 1e999, "X"]]'},
        {"target": "7", "spans": "{}"},
    ]
    for row in rows:
        shapes = task_named("token_classification").shapes(row, None, NAMED)
        assert json.dumps([each.spans for each in shapes], allow_nan=False)  # type: ignore[union-attr]
    for target in ("7", '{"texts": 5}', '{"texts": [5]}', "[]"):
        for task in ("translation", "question_answering", "speech_recognition"):
            assert (
                summary(
                    task_named(task).shapes({"target": target, "text": "x", "score": b"bad"}, None, NAMED), "answer"
                )
                == "x"
            )


def test_a_part_is_judged_and_compared_by_the_scores_of_samples() -> None:
    task = task_named("token_classification")
    tally = task.tally(Terms(task.settle({})))
    wrong: list[Any] = [[5, 10, "PER", None], [14, 18, "LOC", None]]
    answers = [
        ArrayAnswer({}, {"spans": [[*each, None] for each in ENTITIES["spans"]]}),
        ArrayAnswer({}, {"spans": wrong}),
    ]
    good, bad = (each.score for each in tally.take([(ENTITIES, each) for each in answers]))
    part = find_measure("span-recall:PER")
    assert part is not None
    found = part.interval([good, bad, good, None])
    assert found.value == pytest.approx(2 / 3) and 0 <= found.low < found.value < found.high <= 1
    moved, spread = part.difference([good, good, bad], [bad, good, bad])
    assert moved == pytest.approx(-1 / 3) and spread > 0
