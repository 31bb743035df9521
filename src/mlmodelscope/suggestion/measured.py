"""What records tell of the models that may be suggested: how good on a whole dataset, how fast, where."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlmodelscope.record.store import Store
from mlmodelscope.suggestion.described_models import shown_time
from mlmodelscope.suggestion.evidence import Evidence, Known
from mlmodelscope.task.measure import NUMBER, find_measure

_ROWS = """
SELECT id, model, kind, scenario, machine_digest FROM records
WHERE status = 'finished' AND kind IN ('evaluation', 'bench') ORDER BY created_at DESC
"""
_DOCUMENT = "SELECT document FROM records WHERE id = :id"
_MOST = 1000


def add_measured(models: Sequence[Known], store: Store) -> int:
    """Put what was measured of each model before what is claimed of it, the newest record first.

    Latencies of one machine are kept, that of most models: those of several are not comparable. How many are left out.
    """
    by_name: dict[str, list[Known]] = {}
    for known in models:
        by_name.setdefault(known.name.lower(), []).append(known)
    rows = [row for row in store.database.rows(_ROWS, {}) if str(row["model"]).lower() in by_name][:_MOST]
    digests: dict[str, str] = {}
    for row in rows:
        (found,) = store.database.rows(_DOCUMENT, {"id": row["id"]})
        document = json.loads(found["document"])
        for known in by_name[str(row["model"]).lower()]:
            if _manifest_of(document) == _digest(known, digests):
                _add(known, row, document)
    return _keep_one_machine(models)


def _keep_one_machine(models: Iterable[Known]) -> int:
    measured = [{each.machine for each in known.latencies if each.machine} for known in models]
    counts = Counter(machine for machines in measured for machine in machines)
    kept, left_out = max(counts, key=lambda each: counts[each], default=""), 0
    for known in models:
        own = [each for each in known.latencies if each.machine in ("", kept)]
        left_out += len(known.latencies) - len(own)
        known.latencies[:] = own
    return left_out


def _manifest_of(document: Mapping[str, Any]) -> str | None:
    found = document["plan"].get("manifests", {}).get("model") or {}
    digest = found.get("digest")
    return str(digest) if digest else None


def _digest(known: Known, digests: dict[str, str]) -> str:
    """Of the model's manifest: a record of another one of the same name says nothing of it."""
    if known.digest:
        return known.digest
    if known.reference not in digests:
        # What makes manifests of a source's facts takes a while to import, and few homes have such records.
        from mlmodelscope.catalog.find import described_path
        from mlmodelscope.manifest.load import load_manifest

        path = described_path(known.reference)
        digests[known.reference] = load_manifest(path).digest if path is not None else ""
    return digests[known.reference]


def _add(known: Known, row: Mapping[str, Any], document: Mapping[str, Any]) -> None:
    plan, machine = document["plan"], document["machine"]
    where = f"record {row['id']} on {machine.get('cpu')}, stack {plan['stack']['name']}"
    device = plan["predictor"]["options"].get("device", "cpu")
    if device != "cpu":
        where += f", device {device}"
    latency = _latency(row, document)
    if latency is not None:
        low, high = latency.get("low"), latency.get("high")
        shown = shown_time(latency["value"])
        _insert(
            known.latencies,
            Evidence(latency["value"], shown, "measured", where, "batch 1", low, high, row["machine_digest"]),
        )
    dataset = plan["dataset"]
    if row["kind"] != "evaluation" or dataset["subset"]["count"] is not None:
        return  # a part of a dataset does not tell what all of it would
    split = dataset.get("split")
    abouts = [dataset["name"], *([f"{dataset['name']}:{split}"] if split else [])]
    samples = document.get("samples", 0)
    for metric, number in document.get("metrics", {}).items():
        measure = find_measure(metric)
        unit = measure.unit if measure is not None else NUMBER
        shown = f"{unit.factor * number['value']:.4g} {unit.symbol}".strip()
        evidence = Evidence(
            number["value"],
            shown,
            "measured",
            f"{where}, {samples:,} samples",
            "",
            number.get("low"),
            number.get("high"),
        )
        for about in abouts:
            _insert(known.numbers.setdefault((about, metric), []), evidence)


def _latency(row: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """One query at a time, one sample each: the median."""
    found = document.get("latency")
    if row["kind"] == "evaluation" and found and found.get("batch_size") == 1:
        return dict(found["p50_s"])
    measured = (document.get("bench") or {}).get("measured") or {}
    if row["scenario"] == "single-stream" and measured.get("batch_size") == 1 and "p50" in measured["percentiles_s"]:
        return dict(measured["percentiles_s"]["p50"])
    return None


def _insert(listed: list[Evidence], evidence: Evidence) -> None:
    """Behind what newer records tell, before any claim."""
    at = next((at for at, each in enumerate(listed) if each.kind == "claimed"), len(listed))
    listed.insert(at, evidence)
