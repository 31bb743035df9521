"""Choosing some of the samples, the same ones every time.

Samples are ordered by a hash of seed and id, so that a larger subset contains a smaller one and the choice does not
depend on the Python release.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Subset


def choose(samples: list[Sample], subset: Subset) -> list[Sample]:
    """The chosen samples, in the dataset's own order."""
    if subset.count is None or subset.count >= len(samples):
        return samples
    ranked = sorted(samples, key=lambda sample: _rank(subset.seed, sample.id))
    chosen = _share(ranked, subset.count) if subset.stratified else ranked[: subset.count]
    ids = {sample.id for sample in chosen}
    return [sample for sample in samples if sample.id in ids]


def _rank(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()


def _share(ranked: list[Sample], count: int) -> list[Sample]:
    """Each class gets its share, rounded down; what is left over goes to the largest remainders."""
    classes: defaultdict[int | None, list[Sample]] = defaultdict(list)
    for sample in ranked:
        classes[sample.label].append(sample)
    shares = {label: len(members) * count / len(ranked) for label, members in classes.items()}
    taken = {label: int(share) for label, share in shares.items()}
    rest = sorted(shares, key=lambda label: (taken[label] - shares[label], _rank(0, str(label))))
    for label in rest[: count - sum(taken.values())]:
        taken[label] += 1
    return [sample for label, members in classes.items() for sample in members[: taken[label]]]
