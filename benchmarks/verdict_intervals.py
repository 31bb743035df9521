"""How often the interval behind a verdict holds the true number, in studies drawn by chance, beside the nominal 95 %.

A share of right answers is drawn from endlessly many samples, and from a dataset of ten thousand of which some are seen
(the interval is narrowed by those); the mean accuracy of the classes is drawn answer by answer: its interval comes from
drawing the samples again.
"""

from __future__ import annotations

import random

import harness
import numpy as np

from mlmodelscope.statistic.population import share_interval
from mlmodelscope.task.class_answer import ClassAnswer as Answer
from mlmodelscope.task.measure import MEASURES, Row

NOMINAL = 0.95
SAMPLES = (50, 100, 250, 1000, 5000, 10_000)
SHARES = (0.1, 0.5, 0.75, 0.9, 0.99)
POPULATION = 10_000
BY_CLASS = (100, 400)


def share_coverage(share: float, samples: int, studies: int, population: int | None) -> float:
    """Share of studies whose interval holds the true accuracy."""
    chance = np.random.default_rng([round(1e4 * share), samples, population or 0])
    if population is None:
        rights = chance.binomial(samples, share, studies)
    else:
        right = round(share * population)
        rights = chance.hypergeometric(right, population - right, samples, studies)
    held = 0
    for right, count in zip(*np.unique(rights, return_counts=True), strict=True):
        found = share_interval(int(right), samples, population)
        held += int(count) * (found.low - 1e-12 <= share <= found.high + 1e-12)
    return held / studies


def class_coverage(shares: tuple[float, ...], samples: int, studies: int) -> float:
    """The same for the mean over classes, which are known to different degrees."""
    true, held = sum(shares) / len(shares), 0
    for study in range(studies):
        chance = random.Random(study)
        rows: list[Row] = []
        for at in range(samples):
            label = at % len(shares)
            is_right = chance.random() < shares[label]
            rows.append((label, Answer((label if is_right else -1,), (1.0,))))
        found = MEASURES["class-accuracy"].interval(rows)
        held += found.low <= true <= found.high
    return held / studies


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    studies, few = (2000, 10) if arguments.quick else (100_000, 200)
    rows, results = [], {}
    for name, population in (("endless", None), (f"of {POPULATION:,}", POPULATION)):
        for samples in SAMPLES:
            found = {share: share_coverage(share, samples, studies, population) for share in SHARES}
            rows.append((name, f"{samples:,}", *(f"{100 * each:.1f} %" for each in found.values())))
            if samples != population:  # all of them leave nothing to chance
                results |= {f"top1 {name} {samples} {share}": each for share, each in found.items()}
    harness.print_table(("dataset", "samples", *(f"true {100 * share:g} %" for share in SHARES)), rows)
    print()
    by_class = {samples: class_coverage((0.95, 0.8, 0.5), samples, few) for samples in BY_CLASS}
    harness.print_table(
        ("mean accuracy of the classes, samples", "coverage"),
        [(f"{samples:,}", f"{100 * each:.1f} %") for samples, each in by_class.items()],
    )
    print(f"\nnominal: {100 * NOMINAL:g} %; lowest of the shares: {100 * min(results.values()):.1f} %")
    mean = sum(results.values()) / len(results)
    results |= {f"class-accuracy {samples}": each for samples, each in by_class.items()}
    meaning = (
        f"mean coverage of {len(results) - len(by_class)} kinds of study / the nominal {NOMINAL}; goal: 0.99 to 1.01"
    )
    harness.finish("verdict_intervals", mean / NOMINAL, meaning, arguments.quick, {"nominal": NOMINAL, **results})


if __name__ == "__main__":
    main()
