"""How far two records' answers lie apart, against numbers computed by hand."""

import math

import pytest

from mlmodelscope.analysis.divergence import (
    Answer,
    Divergence,
    hellinger,
    jensen_shannon,
    kullback_leibler,
    measure,
    side_by_side,
)
from mlmodelscope.errors import UsageError

Rows = dict[str, tuple[str, int | None, Answer]]


def rows(**answers: tuple[list[int], list[float]]) -> Rows:
    return {name: ("", 0, Answer(*answer)) for name, answer in answers.items()}


def apart(first: Rows, second: Rows, classes: int = 0, probable: bool = True) -> Divergence:
    return measure(first, second, "one", "two", classes, probable)


def test_divergences_are_those_of_the_books() -> None:
    p, q = [0.5, 0.5], [0.9, 0.1]
    assert kullback_leibler(p, q) == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1))
    assert kullback_leibler(p, q) == pytest.approx(0.5108256237659907)
    assert kullback_leibler(q, p) == pytest.approx(0.3680642071684971)
    assert jensen_shannon(p, q) == pytest.approx(0.10174922507919676)
    assert hellinger(p, q) == pytest.approx(math.sqrt(1 - (math.sqrt(0.45) + math.sqrt(0.05))))


def test_the_same_is_nowhere_apart() -> None:
    p = [0.2, 0.3, 0.5]
    assert kullback_leibler(p, p) == 0 and jensen_shannon(p, p) == 0 and hellinger(p, p) == 0


def test_what_has_nothing_in_common_is_as_far_apart_as_can_be() -> None:
    p, q = [1.0, 0.0], [0.0, 1.0]
    assert kullback_leibler(p, q) == math.inf
    assert jensen_shannon(p, q) == pytest.approx(math.log(2)) and hellinger(p, q) == 1.0


def test_a_class_that_only_one_kept_has_an_even_share_of_the_others_rest() -> None:
    # Ten classes; the first keeps 0 and 1 and leaves 0.2 to eight, the second keeps 0 and 2 and leaves 0.4 to eight.
    p, q = side_by_side(Answer([0, 1], [0.7, 0.1]), Answer([0, 2], [0.5, 0.1]), 10)
    assert p == pytest.approx([0.7, 0.1, 0.025, 0.175]) and q == pytest.approx([0.5, 0.05, 0.1, 0.35])


def test_numbers_are_exact_where_all_classes_were_kept() -> None:
    first, second = rows(a=([0, 1], [0.5, 0.5])), rows(a=([0, 1], [0.9, 0.1]))
    found = apart(first, second, 2)
    assert found.exact and not found.notes and found.means["kl"] == pytest.approx(0.5108256237659907)
    assert found.most["kl_back"] == pytest.approx(0.3680642071684971)


def test_lumping_says_so() -> None:
    found = apart(rows(a=([0, 1], [0.7, 0.1])), rows(a=([0, 2], [0.5, 0.1])), 10)
    expected = 0.7 * math.log(0.7 / 0.5) + 0.1 * math.log(0.1 / 0.05)
    expected += 0.025 * math.log(0.025 / 0.1) + 0.175 * math.log(0.175 / 0.35)
    assert found.means["kl"] == pytest.approx(expected)
    assert not found.exact and "the rest is one more class" in found.notes[0]
    assert found.mass == pytest.approx((0.8, 0.6))


def test_agreement_is_counted_sample_by_sample() -> None:
    first = rows(a=([0, 1], [0.6, 0.4]), b=([1, 0], [0.6, 0.4]), c=([0, 2], [0.6, 0.4]), d=([2, 1], [0.6, 0.4]))
    second = rows(a=([0, 1], [0.6, 0.4]), b=([0, 1], [0.6, 0.4]), c=([0, 1], [0.6, 0.4]), d=([2, 1], [0.6, 0.4]))
    found = apart(first, second, 3)
    assert (found.agree.value, found.same_set.value, found.overlap) == (0.75, 0.75, 0.875)
    assert (found.both_right, found.first_right, found.second_right, found.both_wrong) == (2, 0, 1, 1)
    assert {each.sample for each in found.apart[:2]} == {"b", "c"}
    assert [each["sample"] for each in found.to_json()["apart"]] == [each.sample for each in found.apart[:2]]


def test_logits_have_no_divergence_and_still_agree() -> None:
    found = apart(rows(a=([0, 1], [9.0, -2.0])), rows(a=([1, 0], [5.0, 4.0])), probable=False)
    assert found.means["js"] is None and found.mass is None and found.agree.value == 0
    assert "no probabilities" in found.notes[0]


def test_an_infinite_divergence_is_counted_and_left_out_of_the_mean() -> None:
    first = rows(a=([0, 1], [0.5, 0.5]), b=([0, 1], [0.5, 0.5]))
    second = rows(a=([0, 1], [1.0, 0.0]), b=([0, 1], [0.5, 0.5]))
    found = apart(first, second, 2)
    assert found.infinite == 1 and found.means["kl"] == 0
    assert found.to_json()["apart"][0]["kl"] == "infinite"


def test_a_rest_that_rounding_ate_is_no_certainty() -> None:
    found = apart(rows(a=([0, 1], [0.6, 0.4])), rows(a=([0, 2], [1.0, 1e-9])), 1000)
    assert found.infinite == 0 and found.means["kl"] is not None and found.means["kl"] > 1


def test_no_common_samples_is_an_error() -> None:
    with pytest.raises(UsageError, match="no common samples: no sample was answered in both"):
        apart(rows(a=([0], [1.0])), rows(b=([0], [1.0])))


def test_the_same_name_for_another_file_is_no_common_sample() -> None:
    first: Rows = {"a": ("11", 0, Answer([0], [1.0])), "b": ("22", 0, Answer([0], [1.0]))}
    second: Rows = {"a": ("33", 0, Answer([0], [1.0])), "b": ("22", 0, Answer([0], [1.0]))}
    found = apart(first, second)
    assert found.samples == 1 and found.other_bytes == 1 and "other files" in found.notes[-1]
    with pytest.raises(UsageError, match="the files of the same names differ"):
        apart({"a": first["a"]}, {"a": second["a"]})
