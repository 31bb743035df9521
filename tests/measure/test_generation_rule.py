"""What a language model wrote is compared as the manifest says, and no share is surer than its samples allow."""

from typing import Any

import pytest

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.generation import Generation
from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.task.generation import OPTIONS, task

RULE = Generation()
NAMES = ("exact-match", "answer-f1", "numeric-match", "contains", "any-match")


def score(answer: Any, *due: Any, **options: Any) -> bytes:
    fields = {"texts": answer, "text": answer[0]} if isinstance(answer, list) else {"text": answer}
    return RULE.score({}, {**fields, "ending": "stop"}, {"answers": list(due)}, task.settle(options))


def numbers(*scores: bytes) -> dict[str, float]:
    return RULE.numbers(scores, NAMES, None)


def test_nothing_is_done_to_texts_unless_it_is_written_down() -> None:
    assert numbers(score("18", "18"))["exact-match"] == 1.0
    assert numbers(score("18.", "18"))["exact-match"] == 0.0
    of_programs = {"execute", "insert", "timeout_s", "memory_mib"}
    assert set(OPTIONS) - of_programs == {"extract", "reference_extract", "normalization", "tolerance", "vote"}
    assert OPTIONS["execute"].default == "none"


def test_a_number_is_the_same_however_it_is_written() -> None:
    found = numbers(score("$1,250.00", "1250"))
    assert (found["exact-match"], found["numeric-match"]) == (0.0, 1.0)
    assert numbers(score("1251", "1250"))["numeric-match"] == 0.0
    assert numbers(score("1251", "1250", tolerance=0.001))["numeric-match"] == 1.0
    assert numbers(score("none", "none"))["numeric-match"] == 0.0


def test_the_strict_and_the_flexible_rule_of_a_public_dataset_differ() -> None:
    """GSM8K: what stands behind "####", or the last number."""
    answer, due = "He pays 5 * 3 = 15 dollars.", "5*3=<<5*3=15>>15\n#### 15"
    truth = [{"after": "#### "}]
    strict = score(answer, due, extract=[{"regex": r"#### (\-?[0-9\.\,]+)"}], reference_extract=truth)
    flexible = score(answer, due, extract=["last_number"], reference_extract=truth)
    assert numbers(strict)["exact-match"] == 0.0 and numbers(flexible)["exact-match"] == 1.0
    assert facts_of(flexible)["extracted"] == "15"


def test_one_right_answer_of_several_suffices_and_each_counts() -> None:
    found = numbers(score(["18", "no", "18", "17"], "18", 19))
    assert found["exact-match"] == 0.5 and found["any-match"] == 1.0
    assert numbers(score(["17", "18", "18"], "18", vote=True))["exact-match"] == 1.0
    assert numbers(score(["17", "17", "18"], "18", vote=True))["any-match"] == 0.0


def test_what_is_contained_counts_by_itself() -> None:
    found = numbers(score("It is Paris, of course", "Paris"))
    assert found["contains"] == 1.0 and found["exact-match"] == 0.0 and 0 < found["answer-f1"] < 1


@pytest.mark.parametrize(
    ("fields", "target", "reason"),
    [
        ({"text": "a"}, None, "nobody says"),
        ({"text": "a"}, {"answers": []}, "nobody says"),
        ({"text": "a"}, {"answers": [[]]}, "its reference is not a text"),
        ({"text": None}, {"answers": ["a"]}, "its answer is not a text"),
        ({"texts": []}, {"answers": ["a"]}, "1 to 1000 texts"),
        ({"texts": ["a", 5]}, {"answers": ["a"]}, "an answer is not a text"),
        ({"text": "x" * 100_001}, {"answers": ["a"]}, "100,001 characters"),
    ],
)
def test_what_cannot_be_compared_says_why(fields: Any, target: Any, reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        RULE.score({}, fields, target, task.settle({}))


def test_a_reference_of_which_nothing_is_left_is_no_match_for_an_empty_answer() -> None:
    with pytest.raises(ScoreError, match="nothing is left of its reference"):
        score("", "eighteen", extract=["last_number"], reference_extract=["last_number"])


@pytest.mark.slow(reason="it is stopped by processor time, which takes a second, twice")
def test_an_expression_without_an_end_fails_its_sample_and_no_other() -> None:
    options = task.settle({"extract": [{"regex": "(x+x+)+y"}]})
    items = [({}, {"text": each}, {"answers": ["xxy"]}) for each in ("xxy", "x" * 60, "xxy")]
    found = RULE.score_together(items, options)
    assert [isinstance(each, ScoreError) for each in found] == [False, True, False]
    assert "does not come to an end" in str(found[1])


def test_no_right_answer_of_three_is_not_surely_none_at_all() -> None:
    scores = [score(each, "18") for each in ("1", "2", "3")]
    found = intervals(RULE, scores, {"exact-match": 0.0})
    assert found["exact-match"][1] == 0.0 and found["exact-match"][2] == pytest.approx(0.5615, abs=1e-4)


def test_shares_of_several_answers_have_an_interval_over_questions() -> None:
    scores = [score(["18", "17"], "18"), score(["18", "18"], "18"), score(["1", "2"], "18")]
    value, low, high, _ = intervals(RULE, scores, {"exact-match": 0.5})["exact-match"]
    assert low < 0 < value < 1 < high, "three questions say little, and the share is not one of right or wrong samples"


def test_a_record_says_how_answers_ended_and_where_nothing_was_found() -> None:
    scores = [score(each, "18", extract=["last_number"]) for each in ("18", "none", "it is 3")]
    assert RULE.details(scores) == {"answers": {"written": 3, "empty": 1, "stop": 3}}
