"""The order of classes is read off the answers, where they tell it and only there."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from mlmodelscope.dataset.sample import Dataset, Sample
from mlmodelscope.plan.claim import Claim
from mlmodelscope.plan.plan import PlannedAnswer
from mlmodelscope.replicate.confusion import consistency, fit, other_orders
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.relabel import given_order, relabelled
from mlmodelscope.task.class_answer import ClassAnswer as Answer

ORDER = [3, 8, 5, 2, 9, 0, 7, 6, 1, 4]


class _Plan(SimpleNamespace):
    def with_answer(self, **changes: Any) -> "_Plan":
        return _Plan(answer=self.answer.model_copy(update=changes))


def output(order: str = "") -> PlannedAnswer:
    return PlannedAnswer(probabilities=True, top_k=5, label_offset=0, label_order=order, names=None)


def orders(labels: Sequence[int], answers: Sequence[int], claim: str, names: Sequence[str] = ()) -> list[Variant]:
    own = sum(label == answer for label, answer in zip(labels, answers, strict=True)) / len(labels)
    trials: Any = SimpleNamespace(
        plan=_Plan(answer=output()),
        labelled=range(len(labels)),
        dataset=SimpleNamespace(samples=[Sample(str(each), {}, "", each) for each in labels], classes=list(names)),
        names=(),
        answer=lambda plan, at: Answer((answers[at],), (0.9,)),
    )
    said = Claim("top1", claim)
    return other_orders(Goal(said, own, said.low, said.high), trials)


def drawn(samples: int, share: float, classes: int = 10, seed: int = 1) -> tuple[list[int], list[int]]:
    """(true classes, answers of a model that has this share right)."""
    chance = random.Random(seed)
    truth = [chance.randrange(classes) for _ in range(samples)]
    return truth, [each if chance.random() < share else chance.randrange(classes) for each in truth]


def test_labels_in_another_order_are_found_and_the_order_is_told() -> None:
    truth, answers = drawn(400, 0.85)
    (found,) = orders([ORDER[each] for each in truth], answers, "86.5", [f"name {number}" for number in range(10)])
    assert found.pitfalls == ("label-order",) and found.plan.answer.label_order == given_order(ORDER)
    assert "0 is 3 (name 3), 1 is 8 (name 8)" in found.words
    read = [relabelled(Answer((each,), (1.0,)), output(), found.plan.answer, [], Dataset([], [])) for each in range(10)]
    assert [each.classes[0] for each in read] == ORDER


def test_two_classes_that_were_exchanged_are_the_only_ones_that_move() -> None:
    truth, answers = drawn(600, 0.85)
    exchanged = {3: 5, 5: 3}
    (found,) = orders([exchanged.get(each, each) for each in truth], answers, "86.5")
    assert found.words == "classes in another order: 3 is 5, 5 is 3"


def test_a_claim_that_is_too_high_gets_no_order_fitted_to_it() -> None:
    for seed in range(20):
        truth, answers = drawn(300, 0.6, seed=seed)
        own = 100 * sum(map(int.__eq__, truth, answers)) / 300
        assert orders(truth, answers, f"{own + 2:.1f}") == []


def test_one_sample_of_each_class_tells_no_order() -> None:
    chance = random.Random(3)
    labels = list(range(100))
    assert orders(labels, chance.sample(labels, 100), "90.0") == []


def test_a_class_that_is_never_answered_keeps_its_place_where_that_is_free() -> None:
    assert fit([(0, 1), (1, 0), (3, 3)]) == [1, 0, 2, 3]
    assert fit([(0, 2), (0, 2), (3, 3)]) == [2, 1, 0, 3]


def consistent(labels: Sequence[int], answers: Sequence[int]) -> float:
    trials: Any = SimpleNamespace(
        dataset=SimpleNamespace(samples=[Sample(str(each), {}, "", each) for each in labels]),
        answer=lambda plan, at: Answer((answers[at],), (0.9,)),
    )
    return consistency(trials, trials, range(len(labels)))


def test_how_consistent_answers_are_does_not_depend_on_names_of_classes() -> None:
    truth, good = drawn(32, 0.9)
    _, bad = drawn(32, 0.4)
    renamed = [ORDER[each] for each in truth]
    assert consistent(truth, good) == consistent(renamed, good) > consistent(renamed, bad) > 0
    assert consistent(truth, truth) == 1.0


def test_samples_of_which_no_two_share_a_class_tell_nothing() -> None:
    assert consistent(range(20), [0] * 20) == consistent([1] * 5, range(5)) == consistent([], []) == 0.0
