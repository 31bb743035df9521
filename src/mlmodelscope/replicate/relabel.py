"""What the model's outputs are called, changed afterwards: another label offset or order needs no new call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.plan.plan import PlannedAnswer
from mlmodelscope.task.class_answer import ClassAnswer

Names = tuple[str, ...]
_ENOUGH = 0.9
"""Share of the dataset's classes that must be found among the model's for the two lists to be the same classes."""


_GIVEN = "classes "


def relabelled(
    answer: ClassAnswer, own: PlannedAnswer, other: PlannedAnswer, names: Sequence[str], dataset: Dataset
) -> ClassAnswer:
    """An answer that was read as `own` says, read as `other` says. `names` are the model's own for its classes."""
    shift = own.label_offset - other.label_offset
    if not shift and other.label_order == own.label_order:
        return answer
    classes = tuple(number + shift for number in answer.classes)
    if other.label_order:
        order = _order(other.label_order, tuple(names), tuple(dataset.classes))
        classes = tuple(order[number] if 0 <= number < len(order) else number for number in classes)
    return ClassAnswer(classes, answer.scores)


@lru_cache(maxsize=16)
def _order(name: str, ours: Names, classes: Names) -> tuple[int, ...]:
    """For each number that the model answers, the class that it stands for; empty where nothing is known."""
    if name.startswith(_GIVEN):
        return tuple(map(int, name.removeprefix(_GIVEN).split(",")))
    return tuple(ORDERS[name](ours, classes))


def given_order(order: Sequence[int]) -> str:
    """The name of an order that no rule makes: for each number that the model answers, the class that it stands for."""
    return _GIVEN + ",".join(map(str, order))


def _as_text(ours: Names, classes: Names) -> list[int]:
    return sorted(range(len(classes) or len(ours)), key=str)


def _by_alphabet(ours: Names, classes: Names) -> list[int]:
    names = classes or ours
    return sorted(range(len(names)), key=lambda number: names[number].lower())


def _by_name(ours: Names, classes: Names) -> list[int]:
    places = {_plain(name): number for number, name in enumerate(classes)}
    found = [places.get(_plain(name), -1) for name in ours]
    if len({number for number in found if number >= 0}) < _ENOUGH * max(1, len(classes)):
        return []
    return found


def _plain(name: str) -> str:
    """`n01440764 tench, Tinca tinca` and `tench` are the same class, as are `hot dog` and `hot_dog`."""
    first = name.lower().partition(",")[0].strip()
    head, _, tail = first.partition(" ")
    is_synset = len(head) == 9 and head[0] == "n" and head[1:].isdigit()
    return (tail if is_synset and tail else first).replace("_", " ").strip()


def _undone(order: Callable[[Names, Names], list[int]]) -> Callable[[Names, Names], list[int]]:
    def inverse(ours: Names, classes: Names) -> list[int]:
        found = order(ours, classes)
        back = [0] * len(found)
        for place, number in enumerate(found):
            back[number] = place
        return back

    return inverse


ORDERS: dict[str, Callable[[Names, Names], list[int]]] = {
    "numbers as text": _as_text,
    "numbers as text, undone": _undone(_as_text),
    "alphabet": _by_alphabet,
    "alphabet, undone": _undone(_by_alphabet),
    "names": _by_name,
}
