"""When the queries of a server arrive: a Poisson process, the same from the same seed everywhere."""

import math
import random

from .kept import zeros


def arrivals(rate, count, seed):
    """Nanoseconds from the start of the run to each of `count` arrivals, `rate` of them a second on average.

    Python promises that `random()` gives the same numbers in every release; of its other methods it does not.
    """
    draw = random.Random(seed).random
    scale = 1e9 / rate
    moments = zeros(count)
    at = 0.0
    for place in range(count):
        at -= math.log(1.0 - draw()) * scale
        moments[place] = int(at)
    return moments
