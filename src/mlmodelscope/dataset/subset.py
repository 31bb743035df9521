"""Choosing some of the samples, the same ones every time.

Samples are put into an order that depends on seed and ids alone, and the first ones are taken: a larger subset
contains a smaller one, and the choice depends neither on the dataset's own order nor on the Python release.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Subset

_GOLDEN = 0.6180339887498949


def choose(samples: list[Sample], subset: Subset) -> list[Sample]:
    """The chosen samples, in the dataset's own order."""
    if subset.count is None or subset.count >= len(samples):
        return samples
    ranked = sorted(samples, key=lambda sample: _rank(subset.seed, sample.id))
    chosen = (_mixed(ranked) if subset.stratified else ranked)[: subset.count]
    ids = {sample.id for sample in chosen}
    return [sample for sample in samples if sample.id in ids]


def _rank(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()


def _mixed(ranked: list[Sample]) -> list[Sample]:
    """An order in which every beginning has each class's share, to within a sample or so.

    A class of n samples has one in each n-th of the way. Where in it is spread evenly over the classes of similar
    size: if all began at the same point, a thousand small classes would wait for it and then come all at once.
    """
    classes: defaultdict[int | None, list[Sample]] = defaultdict(list)
    for sample in ranked:
        classes[sample.label].append(sample)
    placed = []
    by_size = sorted(classes.values(), key=len)  # among equals, in the order of their first samples
    for number, members in enumerate(by_size):
        phase = (number + 1) * _GOLDEN % 1
        placed += [((index + phase) / len(members), number, sample) for index, sample in enumerate(members)]
    return [sample for _, _, sample in sorted(placed, key=lambda place: place[:2])]
