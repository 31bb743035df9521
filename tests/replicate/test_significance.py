"""A coincidence is not called a cause, and a cause is."""

import random

import pytest

from mlmodelscope.replicate.significance import LEVEL, Split, chance_of, tail


def test_the_sign_test_is_exact_and_goes_over_into_the_curve() -> None:
    assert tail(4, 4) == 1 / 16 and tail(4, 0) == 1.0 and tail(4, 5) == 0.0
    assert tail(12, 10) == pytest.approx(79 / 4096)
    assert tail(1000, 520) == pytest.approx(tail(1001, 520), rel=0.1)


def test_the_same_split_counts_for_less_the_more_variants_were_tried() -> None:
    split, other = Split(10, 2), Split(6, 6)
    alone = chance_of(split, [split])
    assert alone == pytest.approx(split.p_value)
    assert alone < chance_of(split, [split, *[other] * 10]) < chance_of(split, [split, *[other] * 40])


def test_what_cannot_be_as_telling_does_not_count() -> None:
    split = Split(10, 2)
    assert chance_of(split, [split, *[Split(2, 1)] * 80]) == pytest.approx(split.p_value)


def test_only_what_would_come_to_the_claim_counts() -> None:
    split = Split(10, 2)
    exactly, anything = chance_of(split, [split], (7.9, 8.1)), chance_of(split, [split])
    assert exactly == pytest.approx(66 / 4096) and exactly < anything
    assert chance_of(split, [split, *[Split(30, 30)] * 80], (7.9, 8.1)) == pytest.approx(exactly)


def test_a_variant_that_saw_few_samples_counts_with_all_that_it_would_change() -> None:
    split = Split(10, 2)
    assert chance_of(split, [split, Split(3, 3, share=0.5)]) == chance_of(split, [split, Split(6, 6)])


def test_a_pitfall_of_many_variants_must_be_surer_of_each() -> None:
    common, rare = Split(10, 2, weight=1.0), Split(10, 2, weight=0.02)
    assert chance_of(common, [common, rare]) < chance_of(rare, [common, rare])


def test_a_false_cause_is_as_rare_as_is_permitted() -> None:
    """No variant is better than the manifest, and the claim is too high by a few samples."""
    chance, named, times = random.Random(4), 0, 400
    for _ in range(times):
        gap = chance.randint(3, 9)
        tried = []
        for _ in range(60):
            size = chance.choice([2, 5, 9, 14, 25, 60])
            toward = sum(chance.random() < 0.5 for _ in range(size))
            tried.append(Split(toward, size - toward, chance.choice([1.0, 0.3, 0.05])))
        reached = [each for each in tried if each.toward - each.away == gap]
        named += any(chance_of(each, tried, (gap - 0.4, gap + 0.4)) <= LEVEL for each in reached)
    assert named / times <= LEVEL
