"""Classes that stand in another order, found from which class is taken for which.

Where a model is good and its labels are in another order, each class is nearly always taken for the same other one.
So the answers themselves tell the order: each class that is answered stands for the label that it is given most often
for. An order that is fitted to samples suits them better than it should; it counts only where it also holds for
samples that it was not fitted to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.relabel import given_order
from mlmodelscope.replicate.trial import Trials

_WORTH_TELLING = 0.3
"""Share of the gap that the order must close on samples that it was not fitted to."""
_SHOWN = 12
Pair = tuple[int, int]
"""(class that was answered, class of the label)."""


def other_orders(goal: Goal, trials: Trials, base: Variant | None = None) -> list[Variant]:
    """The order of the classes that answers speak for, where there is one: the plan's, or those of an edited plan."""
    plan = base.plan if base is not None else trials.plan
    if base is not None and "label-order" in base.pitfalls:
        return []
    pairs = [_pair(trials, plan, at) for at in trials.labelled]
    known = [pair for pair in pairs if pair is not None and min(pair) >= 0]
    if goal.gap <= 0 or not goal.claim.measure.is_better_higher or len({label for _, label in known}) < 2:
        return []
    right = sum(answer == label for answer, label in known)
    gap = goal.gap * len(pairs) if base is None else goal.claim.value * len(pairs) - right
    if _held_out(known) - right < max(2.0, _WORTH_TELLING * gap):
        return []
    order = fit(known)
    moved = [(number, label) for number, label in enumerate(order) if number != label]
    ordered, told = plan.with_answer(label_order=given_order(order)), _words(moved, trials)
    if base is None:
        return [Variant(("label-order",), told, ordered)]
    return [Variant((*base.pitfalls, "label-order"), f"{base.words}; {told}", ordered, base.plan)]


def consistency(trials: Trials, plan: Plan, samples: Sequence[int]) -> float:
    """How much more often two samples of one class are answered alike than two of different classes.

    It is the same whatever the classes are called, so that it tells where a model sees well and its labels are wrong.
    """
    pairs = [pair for at in samples if (pair := _pair(trials, plan, at)) is not None]

    def together(counts: Counter[int] | Counter[Pair]) -> int:
        return sum(count * (count - 1) // 2 for count in counts.values())

    both, every = together(Counter(pairs)), len(pairs) * (len(pairs) - 1) // 2
    of_one, alike = (together(Counter(pair[place] for pair in pairs)) for place in (1, 0))
    if not of_one or of_one == every:
        return 0.0
    return both / of_one - (alike - both) / (every - of_one)


def fit(pairs: Iterable[Pair]) -> list[int]:
    """For each class that is answered, the label that it stands for: each label once, the clearest first."""
    counts = Counter(pairs)
    size = 1 + max((max(pair) for pair in counts), default=-1)
    order: dict[int, int] = {}
    taken: set[int] = set()
    for answer, label in sorted(counts, key=lambda pair: (-counts[pair], pair[0] != pair[1], pair)):
        if answer not in order and label not in taken:
            order[answer] = label
            taken.add(label)
    for number in range(size):  # what is never answered keeps its place where that is free
        if number not in order and number not in taken:
            order[number] = number
            taken.add(number)
    free = iter(sorted(set(range(size)) - taken))
    return [order[number] if number in order else next(free) for number in range(size)]


def _held_out(pairs: Sequence[Pair]) -> int:
    """Answers that are right when each half of the samples is read in the order that was fitted to the other."""
    seen: Counter[int] = Counter()
    halves: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:  # by class, so that both halves have their share of each
        halves[seen[pair[1]] % 2].append(pair)
        seen[pair[1]] += 1
    right = 0
    for fitted, other in (halves, halves[::-1]):
        order = fit(fitted)
        right += sum((order[answer] if answer < len(order) else answer) == label for answer, label in other)
    return right


def _pair(trials: Trials, plan: Plan, at: int) -> Pair | None:
    answer = trials.answer(plan, at)
    label = trials.dataset.samples[at].label_for(answer)
    return (answer.classes[0], label) if label is not None and answer is not None and answer.classes else None


def _words(moved: Sequence[Pair], trials: Trials) -> str:
    names: Mapping[int, str] = dict(enumerate(trials.dataset.classes or trials.names))

    def called(number: int) -> str:
        return f"{number} ({names[number]})" if names.get(number) else str(number)

    shown = ", ".join(f"{number} is {called(label)}" for number, label in moved[:_SHOWN])
    more = f" and {len(moved) - _SHOWN} more" if len(moved) > _SHOWN else ""
    return f"classes in another order: {shown}{more}"
