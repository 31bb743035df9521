"""Records of older releases, brought into the current format when they are read. Nothing of them is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """A record's data in the current format, whatever release wrote it."""
    return _from_version_1(data) if data.get("schema_version") == 1 else data


def _from_version_1(data: dict[str, Any]) -> dict[str, Any]:
    """Numbers had fields of their own, all of them shares of one task."""
    written = data.get("metrics") or {}
    samples = (data.get("samples") or 0) - (data.get("failed") or 0)
    numbers = {name: written[name] for name in ("top1", "top5") if written.get(name) is not None}
    calibration = written.get("calibration")
    if calibration is not None:
        numbers["ece"] = calibration["ece"]
    numbers |= written.get("more") or {}
    refused = dict(written.get("refused") or {})
    if "calibration" in refused:
        refused["ece"] = refused["calibration"]
    return {
        **data,
        "schema_version": 2,
        "metrics": {name: measured(name, number, samples) for name, number in numbers.items()},
        "details": dict(_details(written)),
        "refused": refused,
    }


def _details(written: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("calibration", "confusion", "ties"):
        if written.get(name) is not None:
            yield name, written[name]
    if written.get("per_class") is not None:
        yield "per_class", [{"class": int(number), **counts} for number, counts in written["per_class"].items()]


def measured(name: str, number: Any, samples: int) -> dict[str, Any]:
    """A number of version 1, an interval or bare, in the current format."""
    known = number if isinstance(number, dict) else {"value": number}
    titles = {"top1": "top-1", "top5": "top-5", "ece": "calibration error"}
    return {
        **known,
        "title": titles.get(name, name),
        "unit": "share" if name in titles else "number",
        "better": "lower" if name == "ece" else "higher",
        "samples": samples,
    }
