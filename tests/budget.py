"""How much is tried where anything could be tried: little before every commit, much at night.

`make test-all` sets MLMODELSCOPE_TEST_BUDGET to `large`.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest

LARGE = os.environ.get("MLMODELSCOPE_TEST_BUDGET") == "large"


def tries(small: int, large: int) -> int:
    return large if LARGE else small


def at_night_but(cases: Iterable[Any], *by_day: str) -> list[Any]:
    """Cases of a costly test, by name or (name, *values): a few that stand for all run every time, all at night."""
    made = []
    for case in cases:
        name, *values = (case,) if isinstance(case, str) else case
        marks = () if name in by_day else pytest.mark.nightly
        made.append(pytest.param(*(values or [name]), marks=marks, id=name))
    names = {each.id for each in made}
    assert names >= set(by_day), f"no such case: {set(by_day) - names}"
    return made
