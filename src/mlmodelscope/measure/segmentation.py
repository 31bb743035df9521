"""Semantic segmentation: intersection over union of classes, and what else follows from what was taken for what.

A sample's score is its confusion: so many pixels of this class were taken for that one. Every number of any set of
samples is a ratio of sums over it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.picture import file_of, read_colors, read_indices, read_sent, size_of
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule

MEASURES = ("miou", "pixel-accuracy", "mean-accuracy", "fw-iou", "dice")
_NONE = -1
_VOID = -2
_CONFUSIONS = 100
_AT_ONCE = 1 << 22
"""Numbers that leaving samples out takes at once."""


@task_rule("semantic_segmentation")
class Segmentation:
    """Sums over pixels, class by class."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        answer = read_sent(arrays["map"])
        path = file_of(target, "mask")
        size = size_of(path)  # a small file may be a mask of a billion pixels
        if size != answer.shape:
            raise ScoreError(f"its mask is {_spell(size)} pixels, the picture is {_spell(answer.shape)}")
        truth, classes = _truth(path, target)
        if options.get("uncovered") == "skip":
            top, left, bottom, right = fields["covered"]
            truth, answer = truth[top:bottom, left:right], answer[top:bottom, left:right]
        values, answers, pixels = _pairs(truth, answer)
        count = _class_count(target, options)
        known = {value: _checked(classes.of(value), value, count, options) for value in np.unique(values).tolist()}
        true = np.array([known[value] for value in values.tolist()], np.int32)
        told = np.where(answers == fields["none"], _NONE, answers).astype(np.int32)
        kept = true != _VOID
        return _packed(true[kept], told[kept], pixels[kept], count, str(options.get("absent", "skip")))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        table = Table.of(scores)
        found = table.computed(names, table.totals(weights))
        return {name: float(value) for name, value in found.items() if np.isfinite(value)}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        """Standard deviation of each number, by leaving each sample out in turn (jackknife)."""
        table = Table.of(scores)
        samples, parts = len(scores), []
        step = max(1, _AT_ONCE // max(1, len(table.classes)))
        whole = table.totals(None)
        for start in range(0, samples, step):
            left = [all_of - own[start : start + step] for all_of, own in zip(whole, table.counts, strict=True)]
            parts.append(table.computed(names, left))
        found = {}
        for name in names:
            values = np.concatenate([np.atleast_1d(part[name]) for part in parts])
            if np.isfinite(values).all():
                found[name] = float(np.sqrt((samples - 1) / samples * ((values - values.mean()) ** 2).sum()))
        return found

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        table = Table.of(scores)
        return {"per_class": table.per_class(), "pixel_confusion": table.confusion()}


class _Classes:
    """Which class a number in a mask stands for."""

    def __init__(self, labels: Mapping[str, Any], segments: Mapping[int, int] | None = None) -> None:
        self._void = set(labels.get("void") or ())
        self._map = {int(value): int(number) for value, number in labels.get("map") or ()}
        self._other, self._offset = labels.get("other"), int(labels.get("offset") or 0)
        self._segments = segments

    def of(self, value: int) -> int:
        if self._segments is not None:
            if value == 0:  # COCO's word for nothing
                return _VOID
            if value not in self._segments:
                raise ScoreError(f"its mask has the segment {value}, which is not listed")
            value = self._segments[value]
        if value in self._void:
            return _VOID
        if not self._map:
            return value - self._offset
        if value in self._map:
            return self._map[value]
        if self._other is None:
            raise ScoreError(f"its mask has the value {value}, which is not in `labels.map`, and there is no `other`")
        return int(self._other)


def _truth(path: str, target: Any) -> tuple[np.ndarray, _Classes]:
    labels = target.get("labels") or {}
    if "segments" not in target:
        return read_indices(path), _Classes(labels)
    colors = read_colors(path).astype(np.uint32)
    numbers = colors[:, :, 0] | colors[:, :, 1] << 8 | colors[:, :, 2] << 16
    return numbers, _Classes(labels, {int(identity): int(kind) for identity, kind in target["segments"]})


def _class_count(target: Mapping[str, Any], options: Mapping[str, Any]) -> int | None:
    count = options.get("classes") or (target.get("labels") or {}).get("classes")
    if count is None and options.get("absent") == "zero":
        raise ScoreError("`absent: zero` needs the number of classes: `classes_url`, or `measure: {classes: 21}`")
    return int(count) if count is not None else None


def _checked(number: int, value: int, count: int | None, options: Mapping[str, Any]) -> int:
    if number in (_VOID, options.get("void")):
        return _VOID
    if number < 0 or (count is not None and number >= count):
        there = f": there are {count}" if count is not None else ""
        raise ScoreError(f"its mask has the value {value}, which is class {number} and does not exist{there}")
    return number


def _pairs(truth: np.ndarray, answer: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(value of the mask, value of the answer, how many pixels) of every pair that occurs."""
    if truth.dtype == np.uint8 and answer.dtype == np.uint8:
        step = int(answer.max(initial=0)) + 1  # few bins stay in the cache, where 65,536 would not
        places = truth.astype(np.intp).ravel()
        places *= step
        places += answer.ravel()
        counts = np.bincount(places)
        pairs = np.flatnonzero(counts)
        return pairs // step, pairs % step, counts[pairs]
    pairs, counts = np.unique(truth.astype(np.int64) << 16 | answer, return_counts=True)
    return pairs >> 16, pairs & 65535, counts


def _packed(true: np.ndarray, told: np.ndarray, pixels: np.ndarray, count: int | None, absent: str) -> bytes:
    """Pairs of classes, each once; beside them what is shown of the sample alone."""
    pairs, place = np.unique(np.stack([true, told]), axis=1, return_inverse=True)
    sums = np.bincount(place.reshape(-1), pixels, pairs.shape[1]).astype(np.int64)
    arrays = {"true": pairs[0].astype(np.int32), "told": pairs[1].astype(np.int32), "pixels": sums}
    alone = Table([(arrays, {"classes": count, "absent": "skip"})])
    shown = alone.computed(("pixel-accuracy", "miou"), alone.totals(None))
    facts = {name.replace("-", "_"): float(value) for name, value in shown.items() if np.isfinite(value)}
    return pack(arrays, classes=count, absent=absent, shown=facts, quality=round(facts.get("miou", 1.0), 9))


class Table:
    """The scores of some samples, put together once: pixels by sample and class."""

    def __init__(self, parts: Sequence[tuple[dict[str, np.ndarray], dict[str, Any]]]) -> None:
        facts = parts[0][1] if parts else {}
        self.absent = facts.get("absent", "skip")
        sample = np.repeat(np.arange(len(parts)), [len(arrays["true"]) for arrays, _ in parts])
        true, told, pixels = (
            np.concatenate([arrays[name] for arrays, _ in parts]) for name in ("true", "told", "pixels")
        )
        self.true, self.told, self.pixels = true, told, pixels
        self.classes = np.unique(np.concatenate([true, told[told != _NONE]]))
        self.count = facts.get("classes") or len(self.classes)
        shape = (len(parts), len(self.classes))

        def by_class(numbers: np.ndarray, chosen: np.ndarray) -> np.ndarray:
            cells = sample[chosen] * shape[1] + np.searchsorted(self.classes, numbers[chosen])
            return np.bincount(cells, pixels[chosen], shape[0] * shape[1]).reshape(shape)

        everything = np.ones(len(true), bool)
        self.counts = (by_class(true, true == told), by_class(true, everything), by_class(told, told != _NONE))
        """Shared, true and answered pixels, samples x classes."""

    @classmethod
    def of(cls, scores: Sequence[bytes]) -> Table:
        key = (len(scores), hash(tuple(map(hash, scores))))
        if key not in _KNOWN:
            _KNOWN.clear()
            _KNOWN[key] = cls([unpack(each) for each in scores])
        return _KNOWN[key]

    def totals(self, weights: np.ndarray | None) -> list[np.ndarray]:
        return [each.sum(axis=0) if weights is None else weights @ each for each in self.counts]

    def computed(self, names: Sequence[str], counts: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Numbers from shared, true and answered pixels by class, which is the last axis; not-a-number of nothing."""
        shared, true, told = counts
        there = true > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            iou = np.where(there, shared / (true + told - shared), 0.0)
            many = there.sum(axis=-1) if self.absent == "skip" else np.where(there.any(axis=-1), self.count, 0)
            means = {
                "miou": lambda: iou.sum(axis=-1) / many,
                "mean-accuracy": lambda: np.where(there, shared / true, 0.0).sum(axis=-1) / many,
                "dice": lambda: np.where(there, 2 * shared / (true + told), 0.0).sum(axis=-1) / many,
                "pixel-accuracy": lambda: shared.sum(axis=-1) / true.sum(axis=-1),
                "fw-iou": lambda: (true * iou).sum(axis=-1) / true.sum(axis=-1),
            }
            return {name: np.asarray(means[name]()) for name in names if name in means}

    def per_class(self) -> list[dict[str, Any]]:
        found = []
        for number, shared, true, told in zip(self.classes.tolist(), *self.totals(None), strict=True):
            union = true + told - shared
            found.append(
                {
                    "class": number,
                    "pixels": int(true),
                    "answered": int(told),
                    "iou": float(shared / union) if true else None,
                    "accuracy": float(shared / true) if true else None,
                    "dice": float(2 * shared / (true + told)) if true else None,
                }
            )
        return found

    def confusion(self) -> list[dict[str, int]]:
        """The pairs that cost most pixels; a class that was not answered at all has none."""
        wrong = self.true != self.told
        pairs, place = np.unique(np.stack([self.true[wrong], self.told[wrong]]), axis=1, return_inverse=True)
        sums = np.bincount(place.reshape(-1), self.pixels[wrong], pairs.shape[1])
        order = np.argsort(-sums, kind="mergesort")[:_CONFUSIONS]
        return [
            {"label": int(pairs[0, at]), "answer": int(pairs[1, at]), "count": int(sums[at])}
            for at in order
            if pairs[1, at] != _NONE
        ]


_KNOWN: dict[tuple[int, int], Table] = {}
"""The last set of scores: it is asked about many times in a row, with other weights."""


def _spell(shape: Sequence[int]) -> str:
    return f"{shape[1]} x {shape[0]}"


RULE = Segmentation()
