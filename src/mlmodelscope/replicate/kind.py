"""The words for what became of a claim, and which of several counts; and for what became of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Kind = Literal["reproduced", "better than claimed", "not reproduced", "undecided"]
WORST_FIRST: tuple[Kind, ...] = ("not reproduced", "undecided", "better than claimed", "reproduced")
Change = Literal["fixed", "broken", "other answer"]
"""What an edit does to the answer to one sample."""
CHANGES: tuple[Change, ...] = ("fixed", "broken", "other answer")
FORMER_CHANGES: dict[str, Change] = {"right now": "fixed", "wrong now": "broken"}
"""Their former names, which stored findings and older clients still use."""
EXIT_CODES: dict[Kind, int] = {"reproduced": 0, "not reproduced": 1, "undecided": 2, "better than claimed": 4}
"""What the command line answers with; 3 stands for no verdict at all."""


def worst(kinds: Iterable[Kind]) -> Kind:
    """The verdict on several claims together."""
    return min(kinds, key=WORST_FIRST.index)
