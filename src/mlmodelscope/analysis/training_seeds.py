"""One training with several seeds: what its metrics come to, and how soon it is good enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlmodelscope.analysis.training_comparison import mean_of
from mlmodelscope.record.record import Record
from mlmodelscope.report import words

_FEW = 3
"""From so many runs on the fastest and the slowest do not count, as in MLPerf Training."""


def seed_metrics(records: Sequence[Record]) -> dict[str, tuple[float, ...]]:
    """The final value of each metric that all of them have, in the order of the runs."""
    finals = [each.training.metrics if each.training is not None else {} for each in records]
    return {name: tuple(each[name] for each in finals) for name in finals[0] if all(name in each for each in finals)}


def times_to_target_s(records: Sequence[Record]) -> list[float | None]:
    """Of each run with a target: how long it took to reach it, None where it did not."""
    loops = [each.training.loop for each in records if each.training is not None]
    return [loop.target.wall_s if loop.target.reached else None for loop in loops if loop and loop.target]


def time_to_target_s(times: Sequence[float | None]) -> float | None:
    """The mean without the fastest and the slowest run, where there are enough; a run that did not reach it is the
    slowest, and two of them have no mean."""
    ordered = sorted(math.inf if each is None else each for each in times)
    counted = ordered[1:-1] if len(ordered) >= _FEW else ordered
    return math.fsum(counted) / len(counted) if counted and math.isfinite(counted[-1]) else None


def seed_rows(records: Sequence[Record]) -> list[tuple[str, str]]:
    rows = [("seeds", ", ".join(str(each.plan.seed) for each in records))]
    for name, values in seed_metrics(records).items():
        mean = mean_of(values)
        if mean is not None:
            between = f" ({mean.low:.4g} – {mean.high:.4g})" if len(values) > 1 else ""
            rows.append((f"final {name}", f"{mean.value:.4g}{between}, from {min(values):.4g} to {max(values):.4g}"))
    times = times_to_target_s(records)
    if times:
        reached = sum(each is not None for each in times)
        mean_s = time_to_target_s(times)
        took = words.duration(mean_s) if mean_s is not None else "not known: too few runs reached it"
        rows.append(("time to target", f"{took}; {reached} of {len(times)} reached it"))
    return rows


def seeds_json(records: Sequence[Record]) -> dict[str, Any]:
    means = {name: mean_of(values) for name, values in seed_metrics(records).items()}
    return {
        "seeds": [each.plan.seed for each in records],
        "metrics": {
            name: {
                "value": mean.value,
                "low": mean.low if len(records) > 1 else None,
                "high": mean.high if len(records) > 1 else None,
            }
            for name, mean in means.items()
            if mean is not None
        },
        "time_to_target_s": time_to_target_s(times_to_target_s(records)),
        "records": [each.model_dump(mode="json") for each in records],
    }
