"""The words for what became of a claim, and which of several counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Kind = Literal["reproduced", "better than claimed", "not reproduced", "undecided"]
WORST_FIRST: tuple[Kind, ...] = ("not reproduced", "undecided", "better than claimed", "reproduced")
EXIT_CODES: dict[Kind, int] = {"reproduced": 0, "not reproduced": 1, "undecided": 2, "better than claimed": 4}
"""What the command line answers with; 3 stands for no verdict at all."""


def worst(kinds: Iterable[Kind]) -> Kind:
    """The verdict on several claims together."""
    return min(kinds, key=WORST_FIRST.index)
