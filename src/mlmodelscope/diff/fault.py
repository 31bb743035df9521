"""What kind of mistake the first layer that differs looks like.

The layer is run alone, on the very input that it had, once as it is and once with each likely mistake; whichever gives
the other side's numbers is the kind. Where neither side is a file that can be taken apart, or no mistake explains them,
the numbers themselves tell: a factor, channels that changed places, an activation that is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlmodelscope.diff.finding import FirstDifference
from mlmodelscope.diff.pairing import LayerPair
from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.result import Fault
from mlmodelscope.diff.told import told_otherwise
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.worker.client import Worker
from mlmodelscope_worker.messages import ChangesTried, ReadWeights, TryChanges

Patterns = Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
"""What the numbers of two tensors look like by themselves, the likeliest first."""


def faults_of(
    first: FirstDifference,
    pairs: Sequence[LayerPair],
    readings: Sequence[Reading],
    workers: Sequence[Worker],
    folder: Path,
    patterns: Patterns,
) -> tuple[tuple[Fault, ...], list[str]]:
    """Explanations, the best first, and what kept a layer from being tried."""
    mine, theirs = first.pair.first, first.pair.second
    if mine is None or theirs is None or first.pair.is_output:
        return (), []
    notes: list[str] = []
    weighted: list[str] = []
    for place, (own, other) in enumerate(((mine, theirs), (theirs, mine))):
        known = [*readings[place].inputs, *_agreeing(pairs[: first.place], place)]
        told = {
            "kind": other.kind,
            "attributes": dict(other.attributes),
            "weights": _weights(workers[1 - place], other, folder),
        }
        request = TryChanges(
            str(folder),
            own.name,
            [each.described() for each in known],
            other.described(),
            first.pair.tolerance,
            told,
        )
        answer = _tried(workers[place], request, notes)
        if answer is not None and answer.found:
            return tuple(_fault(each, is_first=place == 0) for each in answer.found), []
        weighted += answer.weighted if answer is not None and not weighted else []
    wired = _wiring(mine, theirs, pairs[: first.place])
    if wired is not None:
        return (wired,), []
    told_apart = told_otherwise(mine, theirs)
    if told_apart is not None:
        return (told_apart,), []
    looks = patterns({"one": mine.described(), "other": theirs.described()})
    faults = [Fault(each["kind"], each["words"], "", "the numbers of both sides") for each in looks]
    if not faults and weighted:
        words = f"{weighted[0]} has other weights in B, or B computes something else"
        faults.append(Fault("other weights", words, "", "no change that was tried gives these numbers"))
    return tuple(faults), list(dict.fromkeys(notes)) if not faults else []


def _wiring(mine: Held, theirs: Held, before: Sequence[LayerPair]) -> Fault | None:
    """That the layer takes another tensor in B, where both sides tell what it takes and all of that has a pair."""
    known = {pair.second.name: pair.first.name for pair in before if pair.first and pair.second}
    taken = [known.get(name) for name in theirs.takes]
    if not mine.takes or not taken or None in taken or len(taken) != len(mine.takes):
        return None
    wrong = [(own, other) for own, other in zip(mine.takes, taken, strict=True) if own != other]
    if not wrong or sorted(map(str, taken)) == sorted(mine.takes):
        return None  # the same in another order is tried when the layer is run
    words = " and ".join(f"`{other}` in the place of `{own}`" for own, other in wrong)
    return Fault("wiring", f"in B it takes {words}, by the names of A", "", "what each side's layer takes")


def _agreeing(pairs: Sequence[LayerPair], place: int) -> list[Held]:
    both = [(pair.first, pair.second)[place] for pair in pairs if pair.verdict == "agrees" and not pair.is_output]
    return [held for held in both if held is not None]


def _tried(worker: Worker, request: TryChanges, notes: list[str]) -> ChangesTried | None:
    try:
        answer = worker.try_changes(request)
    except MLModelScopeError as error:
        notes.append(f"the layer was not tried alone: {error.message.splitlines()[0]}")
        return None
    notes += answer.notes
    return answer


def _weights(worker: Worker, held: Held, folder: Path) -> list[dict[str, Any] | None]:
    """Those of a layer, in files of the folder; none where its file cannot be taken apart."""
    if not held.takes:
        return []
    try:
        return worker.read_weights(ReadWeights(str(folder), held.name)).weights
    except MLModelScopeError:
        return []


def _fault(told: Mapping[str, Any], *, is_first: bool) -> Fault:
    kind = told["kind"]
    side = "B"
    if not is_first:  # a change of B's layer that gives A's numbers: it is A that has it
        side = "A"
        kind = kind.replace("missing", "extra") if kind.startswith("missing") else kind
    by = f"{told['operator']} run alone with this change gives {side}'s numbers to {told['off']:.1g}"
    return Fault(kind, f"in {side} {told['words']}", told["node"], by)
