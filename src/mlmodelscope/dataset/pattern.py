"""Labels in the names of samples, found by a regular expression.

Python's expressions can take longer than anybody lives, and while one is being matched the whole process stands still.
So they are matched in a confined process. Another engine, one that is always quick, would read some expressions in its
own way (`\\d`, `$`, what a lookahead sees), and the same manifest must give the same labels everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mlmodelscope.confine.confined import Confined, Limits
from mlmodelscope.errors import DatasetError, LimitError

_NAMES_AT_ONCE = 100_000
_LIMITS = Limits(cpu_s=1.0, memory_bytes=256 << 20)
"""For so many names; an ordinary expression takes a tenth of a second."""


def labels_in_names(names: Sequence[str], pattern: str) -> list[str | None]:
    """The first group of the pattern in each name."""
    words: list[str | None] = []
    try:
        with Confined(_LIMITS, processes=1) as confined:
            for start in range(0, len(names), _NAMES_AT_ONCE):
                some = list(names[start : start + _NAMES_AT_ONCE])
                words += confined.call(first_groups, names=some, pattern=pattern)
    except LimitError as error:
        raise DatasetError(
            f"the label pattern `{pattern[:200]}` cannot be used on names such as `{names[0][:200]}`: {error.message}",
            hint="write it without a repetition inside another one, such as `(a+)+`",
        ) from None
    return words


def first_groups(names: list[str], pattern: str) -> list[str | None]:
    try:
        expression = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise DatasetError(f"the label pattern `{pattern}` is not a regular expression: {error}") from None
    if expression.groups < 1:
        raise DatasetError(f"the label pattern `{pattern}` has no group that would be the label")
    words: list[str | None] = []
    for name in names:
        match = expression.search(name)
        if match is None:
            raise DatasetError(f"the name of the sample `{name}` does not match the label pattern `{pattern}`")
        words.append(match[1])
    return words
