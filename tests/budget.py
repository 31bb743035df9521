"""How much is tried where anything could be tried: little before every commit, much at night.

`make test-all` sets MLMODELSCOPE_TEST_BUDGET to `large`.
"""

import os

LARGE = os.environ.get("MLMODELSCOPE_TEST_BUDGET") == "large"


def tries(small: int, large: int) -> int:
    return large if LARGE else small
