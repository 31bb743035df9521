"""Answers are counted as SQuAD's evaluation of version 2.0 does it."""

import collections
import random
import re
import string
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.answering import MEASURES, QuestionAnswering
from mlmodelscope.measure.rule import ScoreError

RULE = QuestionAnswering()
WORDS = ("The", "a", "an", "Norman", "norman.", "10th", "century", "of", "France,", "---", "ﬁn", "AN")


def official(gold: str, answer: str) -> tuple[int, float]:
    """Exact match and F1, after the functions of the published script."""

    def normal(text: str) -> str:
        kept = "".join(each for each in text.lower() if each not in set(string.punctuation))
        return " ".join(re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", kept).split())

    first, second = normal(gold).split(), normal(answer).split()
    common = collections.Counter(first) & collections.Counter(second)
    same = sum(common.values())
    exact = int(normal(gold) == normal(answer))
    if len(first) == 0 or len(second) == 0:
        return exact, int(first == second)
    if same == 0:
        return exact, 0
    precision, recall = 1.0 * same / len(second), 1.0 * same / len(first)
    return exact, (2 * precision * recall) / (precision + recall)


def score(answer: Any, *texts: str, impossible: bool = False, **options: Any) -> bytes:
    return RULE.score({}, {"text": answer}, {"texts": list(texts), "impossible": impossible}, options)


def values(one: bytes) -> tuple[float, float]:
    found = RULE.numbers([one], ("exact-match", "answer-f1"), None)
    return found["exact-match"], found["answer-f1"]


@pytest.mark.parametrize("seed", range(5))
def test_random_answers_count_as_in_the_published_script(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        golds = [" ".join(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(chance.randint(1, 3))]
        answer = " ".join(chance.choices(WORDS, k=chance.randint(0, 4)))
        kept = [each for each in golds if re.search(r"\w", each) and official(each, "")[0] == 0] or [""]
        exact, overlap = (max(each) for each in zip(*(official(gold, answer) for gold in kept), strict=True))
        assert values(score(answer, *golds)) == pytest.approx((exact, overlap), abs=1e-12)


def test_an_empty_answer_is_right_where_there_is_none() -> None:
    assert values(score("", impossible=True)) == (1.0, 1.0)
    assert values(score("France", impossible=True)) == (0.0, 0.0)
    assert values(score("", "France")) == (0.0, 0.0)


def test_without_normalization_every_letter_counts() -> None:
    assert values(score("the France", "France", normalization="none")) == pytest.approx((0.0, 2 / 3))
    assert values(score("the France", "France")) == (1.0, 1.0)


def test_questions_with_and_without_an_answer_have_numbers_of_their_own() -> None:
    scores = [score("x", "x"), score("x y", "x"), score("", impossible=True), score("no", impossible=True)]
    names = [f"{name}:{part}" for name in MEASURES for part in ("answerable", "impossible")]
    found = RULE.numbers(scores, names, None)
    assert found == pytest.approx(
        {"exact-match:answerable": 0.5, "exact-match:impossible": 0.5}
        | {"answer-f1:answerable": (1 + 2 / 3) / 2, "answer-f1:impossible": 0.5}
    )
    assert [each["due"] for each in RULE.details(scores)["per_type"]] == [2, 2]
    assert RULE.numbers(scores[:2], ["exact-match:impossible", "exact-match:other"], None) == {}


def test_the_deviation_is_that_of_a_mean() -> None:
    scores = [score(text, "x") for text in ("x", "y", "x", "x z", "z")]
    own = np.array([values(each)[1] for each in scores])
    assert RULE.deviations(scores, ["answer-f1"])["answer-f1"] == pytest.approx(own.std(ddof=1) / np.sqrt(5))


@pytest.mark.parametrize(
    ("answer", "texts", "reason"),
    [
        (None, ["x"], "not a text"),
        ("x", [], "no reference"),
        ("\udfff", ["x"], "surrogate"),
        ("x" * 1_000_000, ["x"], "1,000,000 characters"),
        ("x", ["y"] * 101, "101 reference"),
    ],
)
def test_what_cannot_be_compared_fails_the_sample(answer: Any, texts: list[str], reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        score(answer, *texts)
