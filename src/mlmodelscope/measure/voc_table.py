"""VOC's two ways to sum up a curve: at eleven recalls (2007), at every point (2010 and later)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlmodelscope.measure.coco_table import Table, Weights


def voc_numbers(table: Table, weights: Weights) -> dict[str, float]:
    known = np.flatnonzero(table.many(0, weights) > 0)
    found = [_of_class(table, int(kind), weights) for kind in known]
    return {name: float(np.mean([each[name] for each in found])) for name in ("voc-ap", "voc-ap11") if found}


def voc_classes(table: Table) -> list[dict[str, Any]]:
    due = table.many(0)
    return [
        {"class": int(number), "due": int(due[kind]), **(_of_class(table, kind, None) if due[kind] > 0 else {})}
        for kind, number in enumerate(table.classes)
    ]


def _of_class(table: Table, kind: int, weights: Weights) -> dict[str, float]:
    rows = slice(table.cuts[kind], table.cuts[kind + 1])
    part = table.found[rows]
    weight = np.ones(len(part)) if weights is None else weights[table.sample[rows]]
    hit, left_out = part["hit"][:, 0] > 0, part["left_out"][:, 0] > 0
    right, seen = np.cumsum((hit & ~left_out) * weight), np.cumsum(~left_out * weight)
    recall = right / table.many(0, weights)[kind]
    precision = right / np.maximum(seen, np.spacing(1))
    eleven = [precision[recall >= at].max(initial=0.0) for at in np.linspace(0, 1, 11)]
    recall, precision = np.concatenate([[0], recall, [1]]), np.concatenate([[0], precision, [0]])
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(recall[1:] != recall[:-1])
    area = float(np.sum((recall[steps + 1] - recall[steps]) * precision[steps + 1]))
    return {"voc-ap": area, "voc-ap11": float(np.mean(eleven))}
