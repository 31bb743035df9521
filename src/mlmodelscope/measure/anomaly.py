"""Anomaly detection: the area under the ROC curve, all of it and its part of few false alarms, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.values import answered_values, opened

MEASURES = ("anomaly-auc", "anomaly-pauc")
_LONGEST_NAME = 200
_NAMED = 3


@dataclass(frozen=True)
class Group:
    """Samples whose scores are compared with one another."""

    name: str
    values: np.ndarray
    anomalies: np.ndarray
    owner: np.ndarray
    """Where each of them stands among all samples."""


@dataclass(frozen=True)
class Board:
    groups: tuple[Group, ...]
    max_fpr: float
    is_standardized: bool


@task_rule("anomaly_detection")
class Anomaly:
    """A score holds how anomalous a sample was said to be, whether it is, and its group."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        values = answered_values(arrays)
        if len(values) != 1:
            raise ScoreError(f"its answer has {len(values)} values, it needs one")
        if not isinstance(target, Mapping) or target.get("anomaly") not in (0, 1):
            raise ScoreError("its truth does not say whether it is an anomaly (0 or 1)")
        group = target.get("group") or ""
        if not isinstance(group, str) or len(group) > _LONGEST_NAME:
            raise ScoreError("its group is not a name")
        facts = {
            "anomaly": int(target["anomaly"]),
            "group": group,
            "max_fpr": float(options.get("max_fpr", 0.1)),
            "averaging": str(options.get("averaging", "groups")),
            "standardized": bool(options.get("standardized", True)),
        }
        threshold = options.get("threshold")
        if threshold is not None:
            facts["quality"] = float((values[0] > float(threshold)) == facts["anomaly"])
        return pack({"value": values}, **facts)

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        board = _board(tuple(scores))
        weight = np.ones(len(scores)) if weights is None else weights
        areas = [_areas(board, each, weight[each.owner]) for each in board.groups]
        if any(each is None for each in areas):
            return {}
        found = np.mean(np.array(areas), axis=0)
        return {name: float(found[MEASURES.index(name)]) for name in names}

    def reasons(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, str]:
        """A group without one of the two kinds has no curve, and the mean of the others would be another number."""
        lacking = [each for each in _board(tuple(scores)).groups if each.anomalies.all() or not each.anomalies.any()]
        told = [
            f"{f'the group `{each.name}`' if each.name else 'the set'} has "
            f"{'only anomalies' if each.anomalies.all() else 'no anomalies'}"
            for each in lacking[:_NAMED]
        ]
        more = f" (and {len(lacking) - _NAMED} like it)" if len(lacking) > _NAMED else ""
        return dict.fromkeys(names, "; ".join(told) + more)

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        board, found = _board(tuple(scores)), []
        for each in board.groups:
            areas = _areas(board, each, np.ones(len(each.values)))
            counts = {"group": each.name, "samples": len(each.values), "anomalies": int(each.anomalies.sum())}
            found.append({**counts, "auc": areas[0] if areas else None, "pauc": areas[1] if areas else None})
        return {"groups": found}


@lru_cache(maxsize=2)
def _board(scores: tuple[bytes, ...]) -> Board:
    parts = opened(scores)
    values = np.array([arrays["value"][0] for arrays, _ in parts])
    anomalies = np.array([facts["anomaly"] for _, facts in parts], bool)
    told = parts[0][1]
    names = ["" if told["averaging"] == "pooled" else facts["group"] for _, facts in parts]
    groups = []
    for name in sorted(set(names)):
        owner = np.array([place for place, own in enumerate(names) if own == name])
        groups.append(Group(name, values[owner], anomalies[owner], owner))
    return Board(tuple(groups), told["max_fpr"], told["standardized"])


def _areas(board: Board, group: Group, weight: np.ndarray) -> tuple[float, float] | None:
    """(AUC, partial AUC) of a group; None where it lacks one of the two kinds."""
    curve = roc_curve(group.values, group.anomalies, weight)
    if curve is None:
        return None
    return area(*curve), partial_area(*curve, board.max_fpr, board.is_standardized)


def roc_curve(values: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(false alarms, hits) as shares, from none to all; equal values are one step."""
    order = np.argsort(-values, kind="stable")
    ranked, own = values[order], weight[order]
    hits, alarms = np.cumsum(own * positive[order]), np.cumsum(own * ~positive[order])
    if not (len(hits) and hits[-1] > 0 and alarms[-1] > 0):
        return None
    last = np.append(ranked[1:] != ranked[:-1], True)
    return tuple(np.concatenate([[0.0], each[last] / each[-1]]) for each in (alarms, hits))  # type: ignore[return-value]


def area(alarms: np.ndarray, hits: np.ndarray) -> float:
    return float(np.sum(np.diff(alarms) * (hits[1:] + hits[:-1]) / 2))


def partial_area(alarms: np.ndarray, hits: np.ndarray, most: float, is_standardized: bool) -> float:
    """Up to a share of false alarms: 0.5 for chance and 1 at best (McClish), or as a share of what there is."""
    if most >= 1:
        return area(alarms, hits)
    stop = int(np.searchsorted(alarms, most, "right"))
    end = np.interp(most, alarms[stop - 1 : stop + 1], hits[stop - 1 : stop + 1])
    part = area(np.append(alarms[:stop], most), np.append(hits[:stop], end))
    least = 0.5 * most**2
    return 0.5 * (1 + (part - least) / (most - least)) if is_standardized else part / most


RULE = Anomaly()
