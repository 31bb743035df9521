"""Answer step for detectors that give one row of numbers for each box: box, objectness, classes, whatever else."""

from ..parameters import Choice, Flag, Integer
from .boxes import DETECTING, Refused, array_of
from .step import answer_step


@answer_step(DETECTING)
def split_rows(
    values,
    frame,
    *,
    classes: Integer("How many classes there are.", at_least=1),
    layout: Choice("Whether a box is a row or a column of the output.", "rows", "columns") = "rows",
    objectness: Flag("Whether a number between the box and the classes says that there is something at all.") = False,
    rest: Choice("What the numbers behind the classes are.", "nothing", "coefficients", "keypoints") = "nothing",
):
    """Split rows with all numbers of a box, as exported YOLOs have them, into `boxes`, `scores` and the rest."""
    import numpy as np

    found = np.asarray(array_of(values, "tensor"))
    if found.ndim != 2:
        raise Refused("the output has %d axes; boxes x numbers are needed" % found.ndim)
    found = found.T if layout == "columns" else found
    start = 5 if objectness else 4
    more = found.shape[1] - start - classes
    if more < 0 or (more > 0) != (rest != "nothing"):
        raise Refused(
            "a box has %d numbers; %d and %d classes leave %d, declared as %s"
            % (found.shape[1], start, classes, more, rest)
        )
    scores = found[:, start : start + classes]
    known = {role: value for role, value in values.items() if role != "tensor"}
    known.update(boxes=found[:, :4], scores=scores * found[:, 4:5] if objectness else scores)
    if more:
        known[rest] = found[:, start + classes :]
    return known
