"""A rule: how an answer is scored, and how scores become numbers. It runs in the measuring process, which has NumPy."""

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import ScoreError, task_rule


@task_rule("toy_counting")
class Counting:
    def score(self, arrays, fields, target, options):
        """A few bytes that every measure can be computed from; `quality` sorts samples."""
        if not isinstance(target, dict) or not isinstance(target.get("count"), int):
            raise ScoreError("it has no count to compare with")
        off = float(arrays["count"][0]) - target["count"]
        if not np.isfinite(off):
            raise ScoreError("its count is not a finite number")
        return pack({}, off=off, quality=1 / (1 + abs(off)))

    def numbers(self, scores, names, weights):
        """Each sample counts as often as its weight says; what cannot be computed is left out."""
        off = np.array([unpack(score)[1]["off"] for score in scores])
        weights = np.ones(len(off)) if weights is None else weights
        if not weights.sum():
            return {}
        found = {
            "toy-count-error": float(np.average(np.abs(off), weights=weights)),
            "toy-count-exact": float(np.average(off == 0, weights=weights)),
        }
        return {name: found[name] for name in names if name in found}

    def details(self, scores):
        off = [unpack(score)[1]["off"] for score in scores]
        return {"too_many": sum(each > 0 for each in off), "too_few": sum(each < 0 for each in off)}
