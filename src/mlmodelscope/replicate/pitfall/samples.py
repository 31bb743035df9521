"""Which samples were measured, model and pictures being the same."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall


@pitfall("split", "Split of the dataset", weight=0.3)
def split(plan: Plan) -> Edits:
    """A number of the validation set, of the test set, or of both together is not that of another split.

    No variant is tried: other samples have other answers. A claim can say its `split`, and is decided on that one only.
    """
    yield from ()
