"""Detection: COCO's average precision and recall, and VOC's average precision.

A sample's score holds its answers with the class, the score and at which overlaps each has found something, and how
many there were to find. Any set of samples can be summed up from that; what is matched with what never depends on
others. Instances and keypoints are matched in the same way; only their overlaps are others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mlmodelscope.measure.box_confusion import confused, summed
from mlmodelscope.measure.coco_match import Batch, Overlap, Picture, Size, match, quality_of
from mlmodelscope.measure.coco_sums import SUMS, names_of
from mlmodelscope.measure.coco_table import Table
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.truth import Truth, paired_boxes
from mlmodelscope.measure.voc_match import match_voc
from mlmodelscope.measure.voc_table import voc_classes, voc_numbers

MEASURES = (*names_of("box"), "voc-ap", "voc-ap11")


class Part(NamedTuple):
    """One way to match answers with truths."""

    name: str
    overlap: Overlap
    size: Size
    most: int = 100


def box_overlap(batch: Batch, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return paired_boxes(batch.answered("boxes")[ours], batch.true("boxes")[theirs], batch.true("crowd")[theirs])


def box_size(batch: Batch) -> np.ndarray:
    boxes = batch.answered("boxes")
    found: np.ndarray = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return found


@task_rule("object_detection")
class Detection:
    """COCO's rule, or VOC's where the options say so."""

    parts: Sequence[Part] = (Part("box", box_overlap, box_size),)
    needs: Sequence[str] = ("boxes", "scores", "classes")
    """The arrays of an answer."""

    def prepared(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> Picture:
        """One sample, checked; ScoreError where it cannot be scored."""
        truth = Truth.of(target, options)
        missing = [name for name in self.needs if name not in arrays]
        if missing:
            raise ScoreError(f"the answer has no {missing[0]}")
        answers, counts = len(arrays["scores"]), {name: len(each) for name, each in arrays.items()}
        for name in ("classes", "boxes"):
            if counts.get(name) != answers:
                raise ScoreError(f"there are {answers} scores and {counts.get(name, 0)} {name}")
        return Picture(dict(arrays), truth)

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        (found,) = self.score_together([(arrays, fields, target)], options)
        if isinstance(found, ScoreError):
            raise found
        return found

    def score_together(
        self, items: Sequence[tuple[Arrays, Mapping[str, Any], Any]], options: Mapping[str, Any]
    ) -> list[bytes | ScoreError]:
        """A score for each sample, or why there is none; some samples at once take little longer than one."""
        prepared: list[Picture | ScoreError] = []
        for arrays, fields, target in items:
            try:
                prepared.append(self.prepared(arrays, fields, target, options))
            except ScoreError as error:
                prepared.append(error)
        pictures = [each for each in prepared if isinstance(each, Picture)]
        scores = iter(self._scores(pictures, options))
        return [next(scores) if isinstance(each, Picture) else each for each in prepared]

    def _scores(self, pictures: Sequence[Picture], options: Mapping[str, Any]) -> list[bytes]:
        if not pictures:
            return []
        if options.get("rule", "coco") == "voc":
            return [match_voc(each.arrays, each.truth, options) for each in pictures]
        found: list[dict[str, np.ndarray]] = [{} for _ in pictures]
        for part in self.parts:
            batch = Batch(pictures, int(options.get("max_detections", part.most)))
            for own, (answers, due) in zip(found, match(batch, part.overlap, part.size), strict=True):
                own[f"{part.name}.found"], own[f"{part.name}.due"] = answers, due
        first = self.parts[0].name
        scores = []
        for each, picture in zip(found, pictures, strict=True):
            facts: dict[str, Any] = {"quality": quality_of(each[f"{first}.found"], each[f"{first}.due"])}
            pairs = confused(picture)
            scores.append(pack(each, **facts, **({"confused": pairs} if pairs else {})))
        return scores

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        tables = tables_of(scores)
        found: dict[str, float | None] = {}
        if "voc" in tables:
            found = {**voc_numbers(tables["voc"], weights)}
            if facts_of(scores[0]).get("points") == "eleven":
                found["voc-ap"] = found.get("voc-ap11")
        else:
            known = {name: SUMS[name] for name in names if name in SUMS and SUMS[name].part in tables}
            found = {name: each.of(tables[each.part], weights) for name, each in known.items()}
        return {name: value for name, value in found.items() if name in names and value is not None}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        tables = tables_of(scores)
        if "voc" in tables:
            return {"per_class": voc_classes(tables["voc"])}
        table = tables[self.parts[0].name]
        return {
            "per_class": table.per_class(),
            "precision_recall": table.curve(),
            "precision_recall_classes": table.class_curves(),
            "box_confusion": summed([facts_of(each) for each in scores]),
        }


def tables_of(scores: Sequence[bytes]) -> Mapping[str, Table]:
    """By what was matched. The last set is kept: it is asked about many times in a row, with other weights."""
    key = (len(scores), hash(tuple(map(hash, scores))))
    if key not in _KNOWN:
        _KNOWN.clear()
        parts = [unpack(each)[0] for each in scores]
        names = [name[: -len(".found")] for name in parts[0] if name.endswith(".found")]
        _KNOWN[key] = {
            name: Table([each[f"{name}.found"] for each in parts], [each[f"{name}.due"] for each in parts])
            for name in names
        }
    return _KNOWN[key]


_KNOWN: dict[tuple[int, int], Mapping[str, Table]] = {}

RULE = Detection()
