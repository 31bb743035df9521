"""What is said of a published number is true, and no more than that."""

from collections.abc import Callable

import pytest

from measured import share
from mlmodelscope import Record
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.plan.claim import claim_of
from mlmodelscope.report.claims import compare_claims, place, published_text, unmeasured_claims
from mlmodelscope.statistic.interval import samples_needed, wilson

Make = Callable[..., Record]


def claim(value: str, dataset: str | None = "pictures", metric: str = "top1") -> Claim:
    return Claim(metric=metric, value=value, dataset=dataset, source="https://example.org/paper")


def test_few_samples_cannot_decide_and_the_number_that_could_is_named(make_record: Make) -> None:
    (found,) = compare_claims(make_record(claims=[claim("75.1")]))
    assert (found.metric, found.published, found.samples, found.position) == ("top1", "75.1", 70, "inside")
    assert found.same_dataset and found.tag == "too few samples"
    assert found.samples_for_one_point == samples_needed(58 / 70, 0.01)
    assert "70 samples cannot decide it: the interval is ±8.8\N{NO-BREAK SPACE}points" in found.sentence
    assert (
        f"about {found.samples_for_one_point:,} samples would narrow it to ±1\N{NO-BREAK SPACE}point" in found.sentence
    )


@pytest.mark.parametrize(
    ("published", "position", "said"),
    [("99.0", "above", "lies above the interval"), ("50", "below", "lies below the interval")],
)
def test_a_number_outside_the_interval_is_said_to_be_outside(
    make_record: Make, published: str, position: str, said: str
) -> None:
    (found,) = compare_claims(make_record(claims=[claim(published)]))
    assert found.position == position and said in found.sentence
    assert "cannot decide" not in found.sentence
    assert ("higher" if position == "below" else "lower") in found.sentence


def test_enough_samples_leave_out_the_advice_to_take_more(make_record: Make) -> None:
    (found,) = compare_claims(make_record(right=9173, samples=10_000, claims=[claim("91.73")]))
    assert found.tag == "inside the interval"
    assert found.sentence.endswith("measured on 10,000 samples.")


def test_a_claim_of_another_dataset_is_not_compared_as_if_it_were_the_same(make_record: Make) -> None:
    (found,) = compare_claims(make_record(claims=[claim("75.1", "imagenet-val")]))
    assert not found.same_dataset and found.tag == "other dataset"
    assert "is of imagenet-val, the measured one of pictures: not the same dataset" in found.sentence


@pytest.mark.parametrize(
    ("dataset", "same"),
    [("pictures", True), ("Pictures", True), ("pictures@^1", True), ("pictures@2.0.0", False), (None, False)],
)
def test_a_claims_dataset_is_named_like_any_other(make_record: Make, dataset: str | None, same: bool) -> None:
    (found,) = compare_claims(make_record(claims=[claim("75.1", dataset)]))
    assert found.same_dataset is same


def test_a_claim_of_another_split_is_not_compared_as_if_it_were_the_same(make_record: Make) -> None:
    (found,) = compare_claims(make_record(claims=[claim("75.1", "pictures:test")]))
    assert not found.same_dataset and found.tag == "other split"
    assert "is of pictures:test, the measured one of pictures, which names no split: not the same" in found.sentence


def test_a_claim_without_a_dataset_says_so(make_record: Make) -> None:
    (found,) = compare_claims(make_record(claims=[claim("75.1", None)]))
    assert "does not say which dataset it is of" in found.sentence


def test_published_digits_are_rounded_digits() -> None:
    measured = share(wilson(9000, 10_000))  # 89.40 to 90.57
    places = {text: place(claim_of(claim(text)), measured) for text in ("91", "90.6", "90.60", "89.3")}
    # 90.5 would be published as 91
    assert places == {"91": "inside", "90.6": "inside", "90.60": "above", "89.3": "below"}


def test_failed_samples_do_not_count_as_measured(make_record: Make) -> None:
    (found,) = compare_claims(make_record(right=58, samples=80, failed=10, claims=[claim("75.1")]))
    assert found.samples == 70


def test_what_was_not_measured_is_listed_with_its_reason(make_record: Make) -> None:
    refused = {"top5": "only the 1 best answers were kept"}
    claims = [claim("92", metric="top5"), claim("3", metric="f1")]
    record = make_record(claims=claims, metrics={}, refused=refused)
    assert compare_claims(record) == []
    assert [each.reason for each in unmeasured_claims(record)] == [
        "only the 1 best answers were kept",
        "it is not measured here",
    ]


@pytest.mark.parametrize(
    ("metric", "value", "unit", "shown"),
    [
        ("psnr", "37.65", None, "37.65 dB"),
        ("miou", "75.1", None, "75.1 %"),
        ("miou", "0.751", "share", "0.751"),
        ("ssim", "0.9308", None, "0.9308"),
        ("mood", "3", None, "3"),  # nobody knows what it is counted in
        ("mood", "3", "percent", "3 %"),
    ],
)
def test_a_claim_that_was_not_measured_keeps_its_unit(metric: str, value: str, unit: str | None, shown: str) -> None:
    assert published_text(Claim.model_validate({"metric": metric, "value": value, "unit": unit})) == shown
