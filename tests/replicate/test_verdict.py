"""Verdicts: right when the claim holds, wrong when it does not, silent when nobody can know."""

import random

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.plan.claim import Claim, claim_of, parse_claim
from mlmodelscope.plan.plan import PlannedDataset, Subset
from mlmodelscope.replicate.describe import describe_verdict
from mlmodelscope.replicate.replication import choose_claims
from mlmodelscope.replicate.verdict import Tied, Verdict, judge, pair
from mlmodelscope.report.claims import is_other_split, is_same_dataset
from mlmodelscope.statistic.mcnemar import mcnemar
from mlmodelscope.statistic.population import share_interval
from mlmodelscope.task.class_answer import ClassAnswer as Answer
from mlmodelscope.task.measure import MEASURES, Row


def judged(
    claim: Claim, right: int, samples: int, population: int | None = None, within: float | None = None
) -> Verdict:
    return judge(claim, share_interval(right, samples, population), samples, population=population, within=within)


def test_a_claim_is_read_with_its_digits() -> None:
    claim = parse_claim("top1=78.80@imagenet-val")
    assert (claim.metric, claim.text, claim.dataset) == ("top1", "78.80", "imagenet-val")
    assert claim.value == pytest.approx(0.788) and claim.high - claim.low == pytest.approx(0.0001)
    assert parse_claim("top-5=90%").metric == "top5"
    published = claim_of(schema.Claim(metric="top1", value="75.1", rounding="down"))
    assert (published.low, published.high) == (pytest.approx(0.751), pytest.approx(0.752))


@pytest.mark.parametrize(
    "text", ["", "top1", "top1=", "top1=high", "=75", "top1=75.1@", "mood=40.2", "psnr=3dB dB", "top1=1dB"]
)
def test_what_is_no_claim_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_claim(text)


def test_on_the_whole_dataset_a_claim_holds_to_its_last_digit() -> None:
    claim = Claim("top1", "91.73")
    assert judged(claim, 9173, 10_000, population=10_000).kind == "reproduced"
    below = judged(claim, 9172, 10_000, population=10_000)
    assert below.kind == "not reproduced" and below.measured.low == below.measured.high
    assert judged(claim, 9172, 10_000, population=10_000, within=0.001).kind == "reproduced"


def test_better_than_claimed_is_not_reproduced_either() -> None:
    assert judged(Claim("top1", "90.0"), 9173, 10_000, population=10_000).kind == "better than claimed"
    assert judged(Claim("top1", "60.0"), 85, 100).kind == "better than claimed"
    assert judged(Claim("top1", "60.0"), 66, 100).kind == "undecided"  # it may be, and it may not


@pytest.mark.parametrize("right", [9171, 9172, 9173, 9174, 9175])
def test_the_margin_is_the_same_in_both_directions(right: int) -> None:
    verdict = judged(Claim("top1", "91.73"), right, 10_000, population=10_000, within=0.0001)
    assert (verdict.kind == "reproduced") == (abs(right - 9173) <= 1)


def test_a_difference_is_told_in_samples() -> None:
    claim = Claim("top1", "87.8")
    assert judged(claim, 877, 1000, population=1000).samples_apart == -1
    assert judged(claim, 882, 1000, population=1000).samples_apart == 4
    assert judged(claim, 878, 1000, population=1000).samples_apart == 0
    said = describe_verdict(judged(claim, 877, 1000, population=1000))
    assert "The difference is 1 of 1,000 samples (fewer)." in said
    impossible = judged(Claim("top1", "75.1"), 52, 70, population=70)  # 75.1 % of 70 are 52.57
    assert impossible.samples_apart is None
    assert "No number of 70 samples comes to 75.1 %: 52 would be 74.29 %, 53 would be 75.71 %." in describe_verdict(
        impossible
    )


def test_what_was_measured_on_another_dataset_says_so() -> None:
    verdict = judge(Claim("top1", "75.1", "big"), share_interval(50, 70), 70, stand_in="small")
    said = describe_verdict(verdict)
    assert "on 70 samples of small" in said and "The claim is about big: small is another dataset" in said


def tied(against: int, favor: int, samples: int) -> Tied:
    ends = (share_interval(each, samples, samples) for each in (against, favor))
    return Tied(favor - against, *ends)


@pytest.mark.parametrize(
    ("claim", "kind", "decides"),
    [
        ("87.8", "reproduced", True),  # as measured; other ways to break ties come to other numbers
        ("87.6", "undecided", True),  # every tie against the label
        ("88.0", "undecided", True),  # some of the ties in its favor
        ("88.4", "not reproduced", False),  # no way to break ties reaches it
        ("87.0", "better than claimed", False),
    ],
)
def test_a_claim_that_other_ties_would_reproduce_is_not_refuted(claim: str, kind: str, decides: bool) -> None:
    measured = share_interval(878, 1000, 1000)
    verdict = judge(Claim("top1", claim), measured, 1000, population=1000, tied=tied(876, 882, 1000))
    assert verdict.kind == kind and verdict.tied is not None and verdict.tied.decides is decides
    said = describe_verdict(verdict)
    assert "87.60 % with every tie broken against the label, 88.20 % with every tie in its favor" in said
    assert ("depends on how ties are broken" in said) is decides


def test_too_few_samples_decide_nothing_and_say_how_many_would() -> None:
    verdict = judged(Claim("top1", "75.1"), 50, 70, population=50_000)
    assert verdict.kind == "undecided" and verdict.needed is not None and 70 < verdict.needed <= 50_000
    again = judged(Claim("top1", "75.1"), round(50 / 70 * verdict.needed), verdict.needed, population=50_000)
    assert again.kind != "undecided"


def test_the_more_of_a_dataset_is_seen_the_less_is_uncertain() -> None:
    free, half, whole = (share_interval(750, 1000, population) for population in (None, 2000, 1000))
    assert free.high - free.low > half.high - half.low > whole.high - whole.low == 0


def test_rejections_of_true_claims_are_rare_and_a_gap_of_a_point_is_seen() -> None:
    chance = random.Random(7)

    def binomial(trials: int, share: float) -> int:
        # The normal curve is exact enough at these sizes, and thousands of draws take no time.
        return round(chance.gauss(trials * share, (trials * share * (1 - share)) ** 0.5))

    claim, runs = Claim("top1", "75.10"), 2000
    for samples in (500, 5_000, 50_000):
        wrong = sum(judged(claim, binomial(samples, 0.751), samples).kind == "not reproduced" for _ in range(runs))
        assert wrong / runs <= 0.05, samples
    seen = sum(judged(claim, binomial(50_000, 0.741), 50_000).kind == "not reproduced" for _ in range(runs))
    assert seen / runs >= 0.95


def test_answers_are_paired_with_the_claimants_own() -> None:
    labels = [1] * 100
    ours = [answer(1)] * 90 + [answer(2)] * 10
    theirs = {at: answer(1) if at < 95 else answer(2) for at in range(100)}
    paired = pair(labels, ours, theirs)
    assert paired is not None
    assert (paired.both, paired.only_ours, paired.only_theirs, paired.neither) == (90, 0, 5, 5)
    assert paired.same_answer == 95 and paired.p_value == pytest.approx(2 / 2**5)
    assert paired.difference.value == pytest.approx(-0.05) and paired.difference.low < -0.05 < paired.difference.high
    assert pair(labels, ours, {}) is None
    assert pair([None] * 100, ours, theirs) is None


def test_the_test_of_many_pairs_is_that_of_few() -> None:
    assert mcnemar(0, 0) == 1.0
    exact, curve = mcnemar(520, 480), mcnemar(521, 481)  # on either side of where the curve takes over
    assert exact == pytest.approx(curve, abs=0.005) and 0.2 < exact < 0.25
    assert mcnemar(900, 600) < 1e-10


def answer(*classes: int, score: float = 0.9) -> Answer:
    return Answer(classes, tuple(score / (1 + at) for at in range(len(classes))))


def rows(right: int, wrong: int) -> list[Row]:
    return [(1, answer(1, 2))] * right + [(1, answer(3, 2))] * wrong


def test_an_error_rate_is_better_the_lower_it_is() -> None:
    measure = MEASURES["top1-error"]
    measured = measure.interval(rows(80, 20), 100)
    assert measured.value == pytest.approx(0.2)
    assert judge(Claim("top1-error", "20.0"), measured, 100, population=100).kind == "reproduced"
    assert judge(Claim("top1-error", "18.0"), measured, 100, population=100).kind == "not reproduced"
    better = judge(Claim("top1-error", "25.0"), measured, 100, population=100)
    assert better.kind == "better than claimed"


def test_what_is_no_share_has_an_interval_by_drawing_again() -> None:
    chance = random.Random(3)
    drawn: list[Row] = []
    for at in range(400):  # two classes, of which the second is known half as well
        label = at % 2
        is_right = chance.random() < (0.8 if label == 0 else 0.4)
        drawn.append((label, answer(label if is_right else 1 - label)))
    found = MEASURES["class-accuracy"].interval(drawn)
    assert found.low < 0.6 < found.high and 0.05 < found.high - found.low < 0.15
    assert MEASURES["class-accuracy"].interval(drawn, 400).low == found.value
    assert 0 <= MEASURES["ece"].interval(drawn).value <= 1


def test_a_sample_that_failed_is_wrong() -> None:
    assert MEASURES["top1"].interval([(1, None), (1, answer(1))]).value == 0.5
    assert MEASURES["class-accuracy"].number([(1, None), (2, answer(2))]) == 0.5


def test_a_number_of_another_split_decides_nothing() -> None:
    claim = parse_claim("top1=91.73@pets:test")
    whole = share_interval(9173, 10_000, 10_000)
    verdict = judge(claim, whole, 10_000, stand_in="pets:validation", is_other_split=True)
    assert verdict.kind == "undecided" and verdict.needed is None
    assert "a number of another split does not decide it" in describe_verdict(verdict)


def pets(split: str | None) -> PlannedDataset:
    return PlannedDataset(
        name="pets",
        version="1.0.0",
        format="folder",
        sources=(),
        include="*",
        labels=schema.Labels(),
        classes=None,
        shape=None,
        size=None,
        subset=Subset(count=None, stratified=False, seed=0),
        split=split,
    )


@pytest.mark.parametrize(
    ("claimed", "split", "is_same", "is_other"),
    [
        ("pets", "test", True, False),
        ("pets:test", "test", True, False),
        ("Pets@^1:test", "test", True, False),
        ("pets:val", "validation", True, False),
        ("pets:test", "train", False, True),
        ("pets:test", None, False, True),
        ("pets@2:test", "train", False, False),
        ("cars:test", "train", False, False),
    ],
)
def test_a_claim_is_about_one_split(claimed: str, split: str | None, is_same: bool, is_other: bool) -> None:
    assert is_same_dataset(claimed, pets(split)) == is_same and is_other_split(claimed, pets(split)) == is_other


def test_claims_about_other_splits_are_not_chosen_and_named() -> None:
    claims = [schema.Claim(metric="top1", value="75.1", dataset="pets", split=each) for each in ("test", "train", None)]
    chosen, unchecked = choose_claims("net", claims, pets("test"), 5, "classification")
    assert [each.dataset for each in chosen] == ["pets:test", "pets"]
    assert unchecked == ("top1 75.1 on pets:train: it is of another split, the split `test` is measured",)
    with pytest.raises(UsageError, match="it is of another split, the dataset names no split"):
        choose_claims("net", claims[:1], pets(None), 5, "classification")
