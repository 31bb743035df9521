"""Models that sources describe, with their claims, out of the catalog's index."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable

from mlmodelscope.suggestion.evidence import Evidence, Known
from mlmodelscope.suggestion.wish import Wish

_MODELS = """
SELECT models.id, models.label, sources.data, models.name, models.task, models.license, models.code_license,
  models.parameters, models.gflops, models.size_bytes, models.source_place, models.runnable
FROM models JOIN sources ON sources.id = models.source
"""
_CLAIMS = """
SELECT claims.model, claims.metric, claims.number, claims.value, claims.unit, claims.dataset, claims.split,
  claims.conditions, claims.place, claims.fits FROM claims JOIN models ON models.id = claims.model
"""
_LONG_DIGEST = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{8,}\b")
_LATENCY = re.compile(r"(?:latency|inference-time|speed)[-_](ms|s)")
SIGNS = {"percent": " %", "dB": " dB"}


def described_models(index: sqlite3.Connection, wish: Wish) -> list[Known]:
    """Those of the task that have a claim of the metric, each with all claims that the wish asks about."""
    metrics = sorted({wish.measure.name, *(bound.measure.name for bound in wish.bounds)})
    where, values = ["metric = ?"], [wish.measure.name]
    if wish.dataset is not None:
        where.append("dataset = ?")
        values.append(wish.dataset)
    if wish.task is not None:
        where.append("models.task = ?")
        values.append(wish.task)
    clause = " AND ".join(where)
    chosen = f"SELECT claims.model FROM claims JOIN models ON models.id = claims.model WHERE {clause}"  # nosec B608 # our names
    found = {row[0]: _known(row) for row in index.execute(f"{_MODELS} WHERE models.id IN ({chosen})", values)}
    marks = ", ".join("?" * len(metrics))
    asked = f"{_CLAIMS} WHERE claims.model IN ({chosen}) AND (metric IN ({marks})"
    values += metrics
    if wish.dataset is not None:
        asked += " AND dataset = ?"
        values.append(wish.dataset)
    asked += " OR metric LIKE 'latency%' OR metric LIKE 'inference-time%' OR metric LIKE 'speed%') ORDER BY claims.id"
    named = {label: source_name(label, data) for label, data in index.execute("SELECT label, data FROM sources")}
    for row in index.execute(asked, values):
        known = found[row[0]]
        _add_claim(known, named[known.reference.partition(":")[0]], row[1:], metrics)
    for known in found.values():
        for numbers in known.numbers.values():
            numbers.sort(key=lambda each: not each.fits)
    return list(found.values())


def source_name(label: str, data: str) -> str:
    """A source with the version or commit that its facts are of."""
    version = _LONG_DIGEST.sub(r"\1", str(json.loads(data).get("version", "")))
    return f"{label} {version}".strip()


def _known(row: tuple[object, ...]) -> Known:
    _, label, data, name, task, license_, code_license, parameters, gflops, size, place, runnable = row
    source = f"{source_name(str(label), str(data))} {place}".strip()

    def fact(value: object, shown: str) -> Evidence | None:
        return Evidence(float(str(value)), shown, "claimed", source) if value else None

    terms = f"{label}'s word on the weights" if license_ else f"not told by {label}"
    if not license_ and code_license:
        terms += f"; the code is {code_license}"
    return Known(
        reference=f"{label}:{name}",
        name=str(name),
        task=str(task),
        license=str(license_) or None,
        license_source=terms,
        parameters=fact(parameters, f"{int(str(parameters or 0)):,}"),
        size_bytes=fact(size, shown_size(float(str(size or 0)))),
        gflops=fact(gflops, f"{float(str(gflops or 0)):g}"),
        is_runnable=bool(runnable),
    )


def _add_claim(known: Known, label: str, row: Iterable[object], metrics: list[str]) -> None:
    metric, number, value, unit, dataset, split, conditions, place, fits = row
    source = f"{label} {place}"
    latency = _LATENCY.fullmatch(str(metric))
    if latency is not None:
        seconds = float(str(number)) * (1e-3 if latency[1] == "ms" else 1)
        known.latencies.append(Evidence(seconds, shown_time(seconds), "claimed", source, str(conditions)))
        return
    if metric not in metrics or not dataset:
        return
    about = f"{dataset}:{split}" if split else str(dataset)
    shown = f"{value}{SIGNS.get(str(unit), '')}"
    evidence = Evidence(float(str(number)), shown, "claimed", source, str(conditions), fits=bool(fits))
    known.numbers.setdefault((about, str(metric)), []).append(evidence)


def shown_time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"
    raise AssertionError


def shown_size(count: float) -> str:
    return f"{count / 1e6:.3g} MB" if count >= 1e5 else f"{count / 1e3:.3g} kB"
