"""Multi-label classification: AP of each class, F1, Hamming loss, exact match; as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule

MEASURES = ("label-ap", "label-f1-micro", "label-f1-macro", "hamming-loss", "label-exact-match")


@task_rule("multilabel_classification")
class Multilabel:
    """A score holds a sample's probabilities, and for each class whether it is there."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        if not isinstance(target, dict) or "classes" not in target:
            raise ScoreError("it has no classes to compare with")
        scores = np.asarray(arrays["scores"], np.float32).reshape(-1)
        classes = np.unique(np.asarray(target["classes"], np.int64))
        if classes.size and (classes[0] < 0 or classes[-1] >= len(scores)):
            raise ScoreError(f"it has the class {classes[-1]}, and the model answers about {len(scores)}")
        truth = np.zeros(len(scores), np.uint8)
        truth[classes] = 1
        threshold = float(options.get("threshold", 0.5))
        answered = scores > threshold
        both = int(answered.sum()) + len(classes)
        quality = round(2 * int(answered[classes].sum()) / both, 9) if both else 1.0
        return pack({"scores": scores, "truth": truth}, threshold=threshold, quality=quality)

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        probable, truth, threshold = _joined(scores)
        weight = np.ones(len(truth)) if weights is None else weights
        found: dict[str, float] = {}
        if "label-ap" in names:
            known = [each for each in _precisions(probable, truth, weight) if each is not None]
            if known:
                found["label-ap"] = float(np.mean(known))
        answered = probable > threshold
        found |= _f1(answered, truth, weight)
        if weight.sum() > 0 and truth.shape[1]:
            wrong = answered != truth
            found["hamming-loss"] = float((wrong.mean(axis=1) * weight).sum() / weight.sum())
            found["label-exact-match"] = float((~wrong.any(axis=1) * weight).sum() / weight.sum())
        return {name: value for name, value in found.items() if name in names}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        probable, truth, threshold = _joined(scores)
        weight = np.ones(len(truth))
        f1 = _class_f1(*_counts(probable > threshold, truth, weight))
        return {
            "per_class": [
                {"class": kind, "due": int(truth[:, kind].sum()), "ap": each, "f1": float(f1[kind])}
                for kind, each in enumerate(_precisions(probable, truth, weight))
            ]
        }


def _joined(scores: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray, float]:
    """(probabilities, truth, threshold), samples x classes."""
    parts = [unpack(each) for each in scores]
    if len({len(arrays["scores"]) for arrays, _ in parts}) > 1:
        raise ValueError("the samples were answered about other numbers of classes")
    probable = np.stack([arrays["scores"] for arrays, _ in parts])
    return probable, np.stack([arrays["truth"] for arrays, _ in parts]).astype(bool), parts[0][1]["threshold"]


def _precisions(probable: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> list[float | None]:
    """Average precision of each class: precision at each recall that is reached; equal scores are one step."""
    found: list[float | None] = []
    for kind in range(truth.shape[1]):
        order = np.argsort(-probable[:, kind], kind="mergesort")
        ranked, own = probable[order, kind], weight[order]
        right, seen = np.cumsum(truth[order, kind] * own), np.cumsum(own)
        if not right.size or right[-1] <= 0:
            found.append(None)
            continue
        last = np.append(ranked[1:] != ranked[:-1], True) & (seen > 0)
        steps = np.diff(np.concatenate([[0.0], right[last] / right[-1]]))
        found.append(float((steps * (right[last] / seen[last])).sum()))
    return found


def _counts(answered: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(labels found, labels answered and labels there together) of each class."""
    found: np.ndarray = weight @ (answered & truth)
    return found, weight @ answered + weight @ truth


def _class_f1(found: np.ndarray, both: np.ndarray) -> np.ndarray:
    each: np.ndarray = np.divide(2 * found, both, out=np.zeros(len(both)), where=both > 0)
    return each


def _f1(answered: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    found, both = _counts(answered, truth, weight)
    if not len(both):
        return {}
    micro = float(2 * found.sum() / both.sum()) if both.sum() > 0 else 0.0
    return {"label-f1-micro": micro, "label-f1-macro": float(_class_f1(found, both).mean())}


RULE = Multilabel()
