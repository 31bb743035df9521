"""Answers that are programs: each is put into its reference, which tests it, and run behind walls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.confine.execution import Allowance, run_all
from mlmodelscope.errors import LimitError
from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import ScoreError

PASSES = ("pass-at-1", "pass-at-5", "pass-at-10", "pass-at-100")
_TRIES = (1, 5, 10, 100)
_COMPARED = 5
"""Numbers of answers that are compared, which these are not."""
_MOST_SHOWN = 500


def executed(answers: list[str], due: list[str], fields: Mapping[str, Any], options: Mapping[str, Any]) -> bytes:
    """A score: how likely one of k of these answers passes, for some k."""
    mark = str(options.get("insert", ""))
    if not due or not mark or mark not in due[0]:
        raise ScoreError(f"its reference is no program with `{mark}`, where the answer belongs")
    allowance = Allowance(int(options["timeout_s"]), int(options["memory_mib"]) << 20)
    try:
        outcomes = run_all([due[0].replace(mark, each) for each in answers], allowance)
    except LimitError as error:
        raise ScoreError(error.message) from None
    passed = sum(each == "passed" for each in outcomes)
    shares = [pass_at(len(answers), passed, tries) for tries in _TRIES]
    ending = fields.get("ending")
    return pack(
        {"values": np.array([np.nan] * _COMPARED + shares)},
        impossible=False,
        quality=round(passed / len(answers), 9),
        extracted=answers[0][:_MOST_SHOWN],
        answers=len(answers),
        empty=sum(not each for each in answers),
        ending=ending if ending in ("stop", "length") else None,
        outcomes=list(outcomes),
    )


def pass_at(count: int, passed: int, tries: int) -> float:
    """How likely one of `tries` answers passes, without bias: 1 − C(n − c, k) / C(n, k); unknown for fewer answers."""
    if count < tries:
        return float("nan")
    left: Sequence[int] = range(count - passed + 1, count + 1)
    return 1.0 if count - passed < tries else float(1 - np.prod([1 - tries / each for each in left]))
