"""Verdicts: right when the claim holds, wrong when it does not, silent when nobody can know."""

import random

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.replicate.claim import Claim, claim_of, parse_claim
from mlmodelscope.replicate.verdict import interval, judge, pair


def test_a_claim_is_read_with_its_digits() -> None:
    claim = parse_claim("top1=78.80@imagenet-val")
    assert (claim.metric, claim.text, claim.dataset) == ("top1", "78.80", "imagenet-val")
    assert claim.value == pytest.approx(0.788) and claim.rounding == pytest.approx(0.00005)
    assert parse_claim("top-5=90%").metric == "top5"
    assert claim_of(schema.Claim(metric="top1", value="75.1")).rounding == pytest.approx(0.0005)


@pytest.mark.parametrize("text", ["", "top1", "top1=", "top1=high", "=75", "top1=75.1@", "map=40.2"])
def test_what_is_no_claim_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_claim(text)


def test_on_the_whole_dataset_a_claim_holds_to_its_last_digit() -> None:
    claim = Claim("top1", "91.73")
    assert judge(claim, 9173, 10_000, population=10_000).kind == "reproduced"
    below = judge(claim, 9172, 10_000, population=10_000)
    assert below.kind == "not reproduced" and below.measured.low == below.measured.high
    assert judge(claim, 9172, 10_000, population=10_000, within=0.001).kind == "reproduced"


def test_better_than_claimed_is_no_failure_but_is_said() -> None:
    verdict = judge(Claim("top1", "90.0"), 9173, 10_000, population=10_000)
    assert verdict.kind == "reproduced" and verdict.is_better


def test_too_few_samples_decide_nothing_and_say_how_many_would() -> None:
    verdict = judge(Claim("top1", "75.1"), 50, 70, population=50_000)
    assert verdict.kind == "undecided" and verdict.needed is not None and 70 < verdict.needed <= 50_000
    again = judge(Claim("top1", "75.1"), round(50 / 70 * verdict.needed), verdict.needed, population=50_000)
    assert again.kind != "undecided"


def test_the_more_of_a_dataset_is_seen_the_less_is_uncertain() -> None:
    free, half, whole = (interval(750, 1000, population) for population in (None, 2000, 1000))
    assert free.high - free.low > half.high - half.low > whole.high - whole.low == 0


def test_rejections_of_true_claims_are_rare_and_a_gap_of_a_point_is_seen() -> None:
    chance = random.Random(7)

    def binomial(trials: int, share: float) -> int:
        # The normal curve is exact enough at these sizes, and thousands of draws take no time.
        return round(chance.gauss(trials * share, (trials * share * (1 - share)) ** 0.5))

    claim, runs = Claim("top1", "75.10"), 2000
    for samples in (500, 5_000, 50_000):
        wrong = sum(judge(claim, binomial(samples, 0.751), samples).kind == "not reproduced" for _ in range(runs))
        assert wrong / runs <= 0.05, samples
    seen = sum(judge(claim, binomial(50_000, 0.741), 50_000).kind == "not reproduced" for _ in range(runs))
    assert seen / runs >= 0.95


def test_answers_are_paired_with_the_claimants_own() -> None:
    ours = [(True, 1)] * 90 + [(False, 2)] * 10
    theirs = [(True, 1)] * 95 + [(False, 2)] * 5
    paired = pair(ours, theirs)
    assert (paired.both, paired.only_ours, paired.only_theirs, paired.neither) == (90, 0, 5, 5)
    assert paired.same_answer == 95 and paired.p_value == pytest.approx(2 / 2**5)
    assert paired.difference.value == pytest.approx(-0.05) and paired.difference.low < -0.05 < paired.difference.high
    assert pair(ours, ours).p_value == 1.0
