"""In which order samples are tried, and what a few of them say of all.

A small edit mostly changes the answers that were close: where the second best class was nearly the best, or the right
one nearly so. So samples are put into strata by how close their answer was, and those where it was close come earlier
than their share. Those where the right class was nowhere near are a stratum of their own: what makes many of them right
undoes a large mistake. What a few samples say is weighted by stratum: it is an estimate of all without a bias, and a
better one than from as many samples taken at random.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlmodelscope.dataset.sample import Dataset, Sample
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.task.class_answer import ClassAnswer

_SHARES = (0.2, 0.25, 0.25, 0.3)
"""Of the samples where it was near, from the closest answers to the clearest; all others follow."""
_PRONE = (2.5, 1.3, 0.7, 0.4, 0.8)
"""How often answers of a stratum change, compared with all: a guess, for what is tried first and not seen yet."""
_TRUST = 3.0
"""Samples that this guess counts for in each stratum."""


@dataclass(frozen=True)
class Sampling:
    """An order of samples of which every beginning stands for all of them."""

    order: tuple[int, ...]
    stratum: Mapping[int, int]
    sizes: tuple[int, ...]
    """Samples of each stratum."""

    def difference(self, seen: Sequence[int], was: Sequence[bool], now: Sequence[bool]) -> tuple[float, float]:
        """(how much larger the share is now, its standard deviation) on all samples, from some of them."""
        strata = len(self.sizes)
        count, sums, changes = [0] * strata, [0] * strata, [0] * strata
        for at, before, after in zip(seen, was, now, strict=True):
            place = self.stratum[at]
            count[place] += 1
            sums[place] += after - before
            changes[place] += after != before
        total = sum(self.sizes)
        # Half a sample each way: of fifty that did not change, one in a hundred may.
        rate = (sum(changes) + 1) / sum(n * prone for n, prone in zip(count, _prone(strata), strict=True))
        difference = variance = 0.0
        for place, size in enumerate(self.sizes):
            seen_here = count[place]
            if not size or seen_here == size:
                difference += sums[place] / total
                continue
            guess = min(1.0, rate * _prone(strata)[place])
            mean = sums[place] / seen_here if seen_here else 0.0
            likely = (changes[place] + _TRUST * guess) / (seen_here + _TRUST)
            weight = size / total
            difference += weight * mean
            left = (size - seen_here) / max(1, size - 1)
            variance += weight**2 * left * max(likely - mean**2, likely / 4) / max(1, seen_here)
        # A deviation from few samples is itself uncertain.
        return difference, math.sqrt(variance) * (1 + 4 / len(seen))


def by_closeness(
    dataset: Dataset, answers: Mapping[int, ClassAnswer | bytes | None], samples: Sequence[int], seed: int
) -> Sampling:
    """Samples in strata of how close the answers to them were."""
    chance = random.Random(seed)
    distance = {at: _distance(dataset.samples[at], answers.get(at)) for at in samples}
    ranked = sorted((at for at in samples if distance[at] is not None), key=lambda at: (distance[at], chance.random()))
    members, start = [], 0
    for place, share in enumerate(_SHARES):
        end = len(ranked) if place == len(_SHARES) - 1 else min(len(ranked), start + round(share * len(ranked)))
        members.append(ranked[start:end])
        start = end
    members.append([at for at in samples if distance[at] is None])
    stratum = {at: place for place, group in enumerate(members) for at in group}
    places: list[tuple[float, float, int]] = []
    for place, group in enumerate(members):
        chance.shuffle(group)
        pace = len(group) * _PRONE[place] ** 0.75
        places += [((rank + chance.random()) / pace, chance.random(), at) for rank, at in enumerate(group)]
    return Sampling(tuple(at for _, _, at in sorted(places)), stratum, tuple(map(len, members)))


def by_class(dataset: Dataset, seed: int) -> list[int]:
    """All samples, so that every beginning of the list has its share of each class."""
    chance = random.Random(seed)
    by_label: dict[int | None, list[int]] = {}
    for at, sample in enumerate(dataset.samples):
        by_label.setdefault(sample.label, []).append(at)
    places: list[tuple[float, float, int]] = []
    for members in by_label.values():
        chance.shuffle(members)
        shift = chance.random()
        places += [((rank + shift) / len(members), chance.random(), at) for rank, at in enumerate(members)]
    return [at for _, _, at in sorted(places)]


def in_one_stratum(samples: Sequence[int]) -> Sampling:
    """Samples in the order that they are given in, for numbers that are no shares."""
    return Sampling(tuple(samples), dict.fromkeys(samples, 0), (len(samples),))


def _prone(strata: int) -> tuple[float, ...]:
    return _PRONE if strata == len(_PRONE) else (1.0,) * strata


def _distance(sample: Sample, answer: ClassAnswer | bytes | None) -> float | None:
    """How far an answer is from changing between right and wrong; nothing where the right class is not in sight."""
    if isinstance(answer, bytes):  # its score: the share that the right choices have among all
        return abs(float(facts_of(answer).get("quality", 0.0)) - 0.5)
    label = sample.label_for(answer)
    if answer is None or label is None or len(answer.scores) < 2 or label not in answer.classes:
        return None
    rival = answer.classes.index(label) or 1
    best, other = answer.scores[0], answer.scores[rival]
    if 0 < other <= best <= 1:  # probabilities: their logarithms say how far
        return math.log(best / other)
    return best - other
