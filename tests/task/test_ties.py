"""Tied scores: both ends of an accuracy are those of the two extreme orders, and what is recorded lies between."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.ties import Ties

Scores = list[int]


def kept(scores: Scores, k: int) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """What a worker keeps of some scores: the best classes, their scores, the further ones like the last."""
    ranked = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    last = scores[ranked[:k][-1]]
    return ranked[:k], [scores[each] for each in ranked[:k]], [(one, one) for one in ranked[k:] if scores[one] == last]


@given(st.lists(st.tuples(st.integers(0, 11), st.lists(st.integers(0, 3), min_size=8, max_size=8)), min_size=1))
def test_the_ends_are_those_of_the_two_extreme_orders(samples: list[tuple[int, Scores]]) -> None:
    ties = Ties()
    worst, best = {1: 0, 5: 0}, {1: 0, 5: 0}
    for label, scores in samples:  # some labels are beyond the classes, and never right
        ties.update(label, ClassAnswer(*kept(scores, 5)))
        for k in (1, 5):
            last, first = (
                sorted(range(8), key=lambda index: (-scores[index], sign * (index == label))) for sign in (1, -1)
            )
            worst[k] += label in last[:k]
            best[k] += label in first[:k]
    found = ties.compute(5)
    assert found is not None
    for k in (1, 5):
        at = found[f"top{k}"]
        assert (round(at["worst"] * at["of"]), round(at["best"] * at["of"])) == (worst[k], best[k])


def test_samples_with_a_tie_across_a_border_are_counted() -> None:
    ties = Ties()
    for scores in ([9, 9, 1, 0, 0, 0, 0], [9, 8, 7, 6, 5, 5, 0], [9, 8, 7, 6, 5, 4, 3]):
        ties.update(6, ClassAnswer(*kept(scores, 5)))
    found = ties.compute(5)
    assert found is not None and (found["top1"]["samples"], found["top5"]["samples"]) == (1, 2)


def test_what_was_not_kept_is_not_told() -> None:
    assert Ties().compute(5) is None
    ties = Ties()
    ties.update(0, ClassAnswer(*kept([1, 2, 3], 1)))
    assert set(ties.compute(1) or ()) == {"top1"}


def test_a_record_counts_its_ties_and_its_numbers_lie_between_the_ends(
    settings: Settings, make_model: Callable[..., ModelManifest], make_pictures: Callable, make_dataset: Callable
) -> None:
    dataset: DatasetManifest = make_dataset(make_pictures(40, classes=10), size=40)
    record = evaluate(make_model({"levels": 3, "classes": 10}), dataset, Options(timed_runs=1), settings=settings)
    ties, metrics = record.details["ties"], record.metrics
    assert ties["top1"]["of"] == 40 and ties["top1"]["samples"] > 0
    assert ties["top1"]["worst"] <= metrics["top1"].value <= ties["top1"]["best"] > ties["top1"]["worst"]
    assert ties["top5"]["worst"] <= metrics["top5"].value <= ties["top5"]["best"]
    assert any("top-1 depends on how ties are broken" in note for note in record.notes)


def test_without_ties_nothing_is_said_of_them(
    settings: Settings, make_model: Callable[..., ModelManifest], make_pictures: Callable, make_dataset: Callable
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), Options(timed_runs=1), settings=settings)
    assert record.details["ties"]["top1"]["samples"] == 0 and not any("ties" in note for note in record.notes)


@pytest.mark.parametrize("seed", range(3))
def test_half_of_two_tied_samples_is_between_the_ends(seed: int) -> None:
    chance, ties = random.Random(seed), Ties()
    for _ in range(50):
        label = chance.randrange(2)
        ties.update(label, ClassAnswer((0, 1), (0.5, 0.5)))
    found = ties.compute(5)
    assert found is not None and (found["top1"]["worst"], found["top1"]["best"]) == (0.0, 1.0)
    assert found["top5"]["worst"] == found["top5"]["best"] == 1.0
