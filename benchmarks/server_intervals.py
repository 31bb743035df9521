"""How often the interval of a server's percentile holds the true one, in simulated queues: ours, and the one that takes
queries for independent.

An M/D/1 queue is the plainest server: arrivals by chance, each answer takes 1. Its true percentiles are those of one
very long run.
"""

from __future__ import annotations

import random

import harness

from mlmodelscope.bench.dependent import dependent_interval
from mlmodelscope.statistic.interval import percentile_interval

LOADS, LENGTHS, QUANTILES = (0.3, 0.5, 0.7, 0.8, 0.9), (1000, 4000, 16000), (0.5, 0.9, 0.99)
SETTLES = 2000


def queue(load: float, count: int, seed: int) -> list[float]:
    """Latencies in the order of arrival, by Lindley's rule, after it has settled."""
    draw, waits, found = random.Random(seed), 0.0, []
    for place in range(count + SETTLES):
        if place >= SETTLES:
            found.append(waits + 1)
        waits = max(0.0, waits + 1 - draw.expovariate(load))
    return found


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    tries, long = (10, 100_000) if arguments.quick else (100, 600_000)
    rows, results, told_all, held_all = [], {}, 0, 0
    for load in LOADS:
        ordered = sorted(queue(load, long, 10**6))
        for count in LENGTHS:
            queues = [queue(load, count, seed) for seed in range(tries)]
            row = [f"{load:g}", str(count)]
            for quantile in QUANTILES:
                true = ordered[int(quantile * long)]
                alone = [percentile_interval(values, quantile) for values in queues]
                told = [each for values in queues if (each := dependent_interval(values, quantile)) is not None]
                held = sum(each.low <= true <= each.high for each in told)
                without = sum(each.low <= true <= each.high for each in alone) / tries
                row.append(f"{held} of {len(told)}, {100 * without:.0f} %")
                told_all, held_all = told_all + len(told), held_all + held
                results[f"{load} {count} {quantile}"] = {"told": len(told), "held": held, "independent": without}
            rows.append(row)
    harness.print_table(
        ("load", "queries", *(f"p{100 * each:g}: held of told, independent" for each in QUANTILES)), rows
    )
    print()
    meaning = f"intervals that hold the true percentile / intervals told, of {told_all}; goal: at least 0.9"
    harness.finish("server_intervals", held_all / max(1, told_all), meaning, arguments.quick, results)


if __name__ == "__main__":
    main()
