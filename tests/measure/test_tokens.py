"""Numbers of spans are those of seqeval; tokens are counted one by one."""

import random
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.measure.tokens import MEASURES, TokenClassification

RULE = TokenClassification()
TYPES = ("PER", "LOC", "ORG")
NAMES = ("span-f1", "span-precision", "span-recall", "span-f1-macro", "span-precision-macro", "span-recall-macro")
NAMES += (
    "token-f1",
    "token-precision",
    "token-recall",
    "token-f1-macro",
    "token-precision-macro",
    "token-recall-macro",
)


def tags(chance: random.Random, length: int) -> list[str]:
    """A random line in BIO."""
    found: list[str] = []
    while len(found) < length:
        kind, size = chance.choice((*TYPES, "", "")), chance.randint(1, 3)
        found += [f"{'B' if at == 0 else 'I'}-{kind}" if kind else "O" for at in range(size)]
    return found[:length]


def spans(line: list[str]) -> list[list[Any]]:
    """Spans of characters: every token is three wide, with a space behind it."""
    found: list[list[Any]] = []
    for at, tag in enumerate(line):
        if tag.startswith("B-"):
            found.append([4 * at, 4 * at + 3, tag[2:]])
        elif tag.startswith("I-"):
            found[-1][1] = 4 * at + 3
    return found


def places(length: int) -> list[list[int]]:
    return [[4 * at, 4 * at + 3] for at in range(length)]


def score(due: list[list[Any]], told: Any, length: int = 20, **options: Any) -> bytes:
    return RULE.score({}, {"spans": told}, {"spans": due, "tokens": places(length), "text": ""}, options)


def drawn(seed: int, samples: int = 40) -> tuple[list[list[str]], list[list[str]], list[bytes]]:
    chance = random.Random(seed)
    due = [tags(chance, chance.randint(0, 20)) for _ in range(samples)]
    told = [line if chance.random() < 0.3 else tags(chance, len(line)) for line in due]
    pairs = zip(due, told, strict=True)
    return due, told, [score(spans(one), [[*each, None] for each in spans(other)]) for one, other in pairs]


def test_the_names_are_those_that_are_declared() -> None:
    assert set(NAMES) == set(MEASURES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
def test_random_lines_give_the_numbers_of_seqeval(seed: int) -> None:
    metrics = pytest.importorskip("seqeval.metrics")
    due, told, scores = drawn(seed)
    found = RULE.numbers(scores, MEASURES, None)
    for what in ("f1", "precision", "recall"):
        compute = getattr(metrics, f"{what}_score")
        assert found[f"span-{what}"] == pytest.approx(compute(due, told), abs=1e-12)
        assert found[f"span-{what}-macro"] == pytest.approx(compute(due, told, average="macro"), abs=1e-12)
    by_type = metrics.classification_report(due, told, output_dict=True)
    parts = RULE.numbers(scores, [f"span-f1:{kind}" for kind in TYPES], None)
    assert parts == pytest.approx({f"span-f1:{kind}": by_type[kind]["f1-score"] for kind in TYPES}, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_token_counts_for_each_type_by_itself(seed: int) -> None:
    due, told, scores = drawn(seed)
    for kind in TYPES:
        pairs = [
            (a[2:] == kind, b[2:] == kind)
            for one, other in zip(due, told, strict=True)
            for a, b in zip(one, other, strict=True)
        ]
        right, both = sum(a and b for a, b in pairs), sum(a + b for a, b in pairs)
        name = f"token-f1:{kind}"
        assert RULE.numbers(scores, [name], None) == pytest.approx({name: 2 * right / both}, abs=1e-12)


def test_weights_count_samples_as_often_as_they_say() -> None:
    _, _, scores = drawn(3, samples=20)
    weights = np.random.default_rng(1).integers(0, 3, 20).astype(float)
    repeated = [each for each, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    names = (*MEASURES, "token-f1:PER", "span-recall:LOC")
    assert RULE.numbers(scores, names, weights) == pytest.approx(RULE.numbers(repeated, names, None), abs=1e-12)


@pytest.mark.parametrize("averaging", ["occurring", "true"])
def test_deviations_are_those_of_leaving_out_each_sample(averaging: str) -> None:
    chance = random.Random(5)
    lines = [(tags(chance, 8), tags(chance, 8)) for _ in range(12)]
    scores = [score(spans(due), spans(told), averaging=averaging) for due, told in lines]
    scores.append(score([[0, 3, "PER"]], [[4, 7, "RARE"]], averaging=averaging))  # the only one of its type
    names = (*MEASURES, "token-f1:PER")
    left = [RULE.numbers(scores[:at] + scores[at + 1 :], names, None) for at in range(len(scores))]
    for name, found in RULE.deviations(scores, names).items():
        values = np.array([each[name] for each in left])
        expected = np.sqrt((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())
        assert found == pytest.approx(expected, abs=1e-12), name
    assert set(intervals(RULE, scores, RULE.numbers(scores, names, None))) == set(names)


def test_spans_that_are_not_on_borders_of_tokens_are_dropped_or_counted() -> None:
    due, told = [[0, 7, "PER"], [9, 11, "LOC"]], [[0, 7, "PER"], [12, 14, "ORG"]]
    assert RULE.numbers([score(due, told)], ["span-f1", "token-f1"], None) == {"span-f1": 1.0, "token-f1": 1.0}
    counted = RULE.numbers([score(due, told, borders="count")], ["span-f1", "token-recall:LOC", "token-f1"], None)
    assert counted == pytest.approx({"span-f1": 0.5, "token-recall:LOC": 0.0, "token-f1": 2 * 2 / 6})


def test_overlapping_and_repeated_spans_count_each_token_once() -> None:
    due = [[0, 11, "PER"]]
    told = [[0, 7, "PER"], [4, 11, "PER"], [4, 11, "PER"], [0, 11, "ORG"]]
    found = RULE.numbers([score(due, told)], ["token-f1:PER", "span-precision", "token-precision"], None)
    assert found == pytest.approx({"token-f1:PER": 1.0, "span-precision": 0.0, "token-precision": 0.5})


def test_no_spans_at_all_are_no_number() -> None:
    assert RULE.numbers([score([], []), score([], [])], MEASURES, None) == {}
    assert RULE.details([score([], [])]) == {"per_type": []}


def test_without_tokens_only_spans_are_measured() -> None:
    without = RULE.score({}, {"spans": [[1, 2, "PER"]]}, {"spans": [[1, 2, "PER"]]}, {})
    assert RULE.numbers([without], MEASURES, None) == {name: 1.0 for name in NAMES[:6]}


def test_where_the_truth_has_no_tokens_those_of_the_answer_count() -> None:
    due, told = [[0, 7, "PER"], [9, 11, "LOC"]], [[0, 3, "PER"]]
    own = RULE.score({}, {"spans": told, "tokens": places(5)}, {"spans": due}, {})
    assert RULE.numbers([own], ["token-f1", "span-recall"], None) == pytest.approx(
        {"token-f1": 2 / 3, "span-recall": 0.0}
    )
    assert RULE.details([own])["tokens"] == "those of the answers"
    theirs = RULE.score({}, {"spans": told, "tokens": [[0, 1]]}, {"spans": due, "tokens": places(5)}, {})
    assert RULE.numbers([theirs], MEASURES, None) == RULE.numbers([own], MEASURES, None)
    assert "tokens" not in RULE.details([theirs])


def test_each_type_has_a_row_of_its_own() -> None:
    (loc, per) = RULE.details([score([[0, 3, "PER"]], [[0, 3, "PER"], [4, 7, "LOC"]])])["per_type"]
    assert (per["type"], per["due"], per["span-f1"], per["token-f1"]) == ("PER", 1, 1.0, 1.0)
    assert (loc["type"], loc["due"], loc["span-precision"], loc["span-f1"]) == ("LOC", 0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (None, "no list of spans"),
        ([[3, 1, "PER"]], "not a piece of text"),
        ([[0, 1.5, "PER"]], "not a piece of text"),
        ([[True, 3, "PER"]], "not a piece of text"),
        ([[0, 3]], "not .start, end, type."),
        ([[0, 3, 7]], "not a text"),
        ([[0, 3, "\ud800"]], "surrogate"),
        ([[0, 3, "x" * 101]], "101 characters"),
        ([[0, 3, "PER"]] * 20_001, "20,001 spans"),
    ],
)
def test_spans_that_are_none_fail_the_sample(told: Any, reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        score([], told)


@pytest.mark.parametrize("tokens", [[[0, 3], [2, 5]], [[4, 4]], "ab", [[0, 1, 2]]])
def test_tokens_that_do_not_follow_each_other_fail_the_sample(tokens: Any) -> None:
    with pytest.raises(ScoreError, match="token"):
        RULE.score({}, {"spans": []}, {"spans": [], "tokens": tokens}, {})


def test_many_types_and_wide_spans_take_no_time() -> None:
    wide = [[0, 4 * 19 + 3, f"T{at}"] for at in range(10_000)]
    found = RULE.numbers([score(wide, wide)], ["token-f1", "span-f1-macro"], None)
    assert found == {"token-f1": 1.0, "span-f1-macro": 1.0}
