"""An answer step: nobody counts half a square."""

from mlmodelscope_worker.output.step import answer_step
from mlmodelscope_worker.parameters import Choice


@answer_step(tasks=("toy_counting",), main="how")
def toy_whole(values, frame, *, how: Choice("Which whole number is taken.", "nearest", "down")):
    """Make whole numbers of counts."""
    import numpy as np

    whole = np.round if how == "nearest" else np.floor
    return dict(values, count=whole(np.round(values["count"], 3)))
