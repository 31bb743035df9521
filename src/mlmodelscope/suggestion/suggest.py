"""Models that fit a wish: one ranking for each dataset, in Pareto order of how good they are and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from mlmodelscope.suggestion.evidence import Evidence, Known, Ranking, Suggested
from mlmodelscope.suggestion.pareto import fronts
from mlmodelscope.suggestion.permissive import fits_license
from mlmodelscope.suggestion.wish import Bound, Wish


def suggest(models: Iterable[Known], wish: Wish) -> list[Ranking]:
    """Rankings, the one with the most models that fit first. Numbers of different datasets are never in one."""
    by_dataset: dict[str, list[Known]] = {}
    for known in models:
        for dataset, metric in known.numbers:
            if metric == wish.measure.name and wish.dataset in (None, dataset):
                by_dataset.setdefault(dataset, []).append(known)
    found = [_ranking(dataset, listed, wish) for dataset, listed in by_dataset.items()]
    return sorted(found, key=lambda each: (-len(each.fitting), -len(each.open), each.dataset))


def _ranking(dataset: str, models: Iterable[Known], wish: Wish) -> Ranking:
    fitting, still_open, failed = [], [], Counter[str]()
    for known in models:
        suggested, against = _judged(known, dataset, wish)
        if against is not None:
            failed[against] += 1
        elif suggested.unknown:
            still_open.append(suggested)
        else:
            fitting.append(suggested)
    return Ranking(
        dataset, wish.measure.name, _ordered(fitting, wish), _ordered(still_open, wish), dict(failed.most_common())
    )


def _judged(known: Known, dataset: str, wish: Wish) -> tuple[Suggested, str | None]:
    """(the model with its evidence, the first wish that it fails)."""
    accuracy = known.numbers[dataset, wish.measure.name][0]
    latency = known.latencies[0] if known.latencies else None
    unknown: list[str] = []
    against: list[str] = []
    others = []

    def check(what: str, holds: bool | None) -> None:
        if holds is None:
            unknown.append(what)
        elif not holds:
            against.append(what)

    for bound in wish.bounds:
        evidence = _first(known, dataset, bound)
        if evidence is not None and bound.measure.name != wish.measure.name:
            others.append(evidence)
        check(bound.shown, bound.holds(evidence.value) if evidence is not None else None)
    if wish.max_latency_s is not None:
        check("latency", _within(latency, wish.max_latency_s))
    if wish.max_parameters is not None:
        check("parameters", _within(known.parameters, wish.max_parameters))
    if wish.max_size_bytes is not None:
        check("size", _within(known.size_bytes, wish.max_size_bytes))
    if wish.license is not None:
        check("license", fits_license(known.license, wish.license))
    suggested = Suggested(
        known.reference,
        accuracy,
        tuple(others),
        latency,
        known.parameters,
        known.size_bytes,
        known.gflops,
        known.license,
        known.license_source,
        known.is_runnable,
        tuple(unknown),
    )
    return suggested, against[0] if against else None


def _first(known: Known, dataset: str, bound: Bound) -> Evidence | None:
    listed = known.numbers.get((dataset, bound.measure.name))
    return listed[0] if listed else None


def _within(evidence: Evidence | None, most: float) -> bool | None:
    return None if evidence is None else evidence.value <= most


def _ordered(found: list[Suggested], wish: Wish) -> tuple[Suggested, ...]:
    """By Pareto front, the best first in each; those whose cost is not known come last."""
    sign = 1 if wish.measure.is_better_higher else -1
    costs = [_cost(each, wish) for each in found]
    points = [(sign * each.accuracy.value, cost) for each, cost in zip(found, costs, strict=True) if cost is not None]
    numbers = iter(fronts(points))
    ranked = [
        replace(each, front=None if cost is None else next(numbers)) for each, cost in zip(found, costs, strict=True)
    ]
    return tuple(
        sorted(
            ranked,
            key=lambda each: (each.front is None, each.front or 0, -sign * each.accuracy.value, each.reference),
        )
    )


def _cost(suggested: Suggested, wish: Wish) -> float | None:
    found = {
        "latency": suggested.latency,
        "parameters": suggested.parameters,
        "size": suggested.size_bytes,
        "gflops": suggested.gflops,
    }[wish.cost]
    return None if found is None else found.value
