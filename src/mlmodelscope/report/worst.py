"""The samples worth looking at, of any task that shows shapes: the worst first, truth and answer over each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.search import Search, Wanted
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.report.before_after import BeforeAfter, before_after
from mlmodelscope.report.language import Asked, asked_of
from mlmodelscope.report.marked_text import Paragraph, has_texts, marked_texts
from mlmodelscope.report.overlay import overlay
from mlmodelscope.report.own_content import OwnContent
from mlmodelscope.report.sample_pictures import SamplePicture, picture_size, sample_pictures
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.shape import CLEAR, BoxShape, MaskShape, PointsShape, Shape, is_shown, named_by, summary
from mlmodelscope.task.task import task_named

SHOWN = 24
_FAILED = 1000
_TOLD = {"classes", "texts", "spans"}
"""What says all that is true of a sample, without its dataset."""


@dataclass(frozen=True)
class Seen:
    id: str
    quality: float | None
    chart: str
    """The picture with its shapes as SVG; empty where there is nothing to draw."""
    reason: str
    """Why there is no picture."""
    truth: str | None
    """In words; None where it is not known any more."""
    said: str
    hidden: int
    """Answers with too low a score to be shown."""
    pair: BeforeAfter | None = None
    """Two pictures to be compared, where the answer is one."""
    legend: tuple[tuple[str, str], ...] = ()
    """(name, color) of what masks show."""
    numbers: tuple[tuple[str, str], ...] = ()
    """(title, value) of measures of this sample alone."""
    texts: tuple[tuple[Paragraph, ...], tuple[Paragraph, ...]] | None = None
    """Truth and answer, where they are words."""
    own: OwnContent = OwnContent()
    """The sample itself, where it is no picture."""
    asked: Asked = Asked()
    """What a language model was shown and found likely."""


@dataclass(frozen=True)
class Worst:
    total: int
    """Samples that have an answer."""
    shown: tuple[Seen, ...]
    has_quality: bool
    about: str
    """What the quality is."""
    without_pictures: str | None
    """Why there are no pictures at all."""


def find_worst(record: Record, store: Store, artifacts: ArtifactStore) -> Worst | None:
    """None where the task has nothing to show."""
    folder = store.samples_file(record).parent
    found, _ = Search().page(folder, Wanted(), 0, SHOWN + min(record.failed, _FAILED))
    rows = [row for row in found if row["error"] is None][:SHOWN]
    task, named = task_named(record.plan.task), named_by(record.class_names)
    if not any(task.glanced(row, named) for row in rows):
        return None
    pictures, problem = sample_pictures(rows, record, artifacts)
    shown = tuple(
        _seen(row, task.shapes(row, picture.sample.target if picture.sample else None, named), picture)
        for row, picture in zip(rows, pictures, strict=True)
    )
    has_quality = any(row["quality"] is not None for row in rows)
    return Worst(words.answered(record), shown, has_quality, task.quality if has_quality else "", problem)


def _seen(row: dict[str, Any], shapes: Sequence[Shape], picture: SamplePicture) -> Seen:
    shown = [each for each in shapes if is_shown(each)]
    target = json.loads(row.get("target") or "null")
    has_truth = any(each.side == "truth" for each in shapes) or (
        isinstance(target, dict) and not _TOLD.isdisjoint(target)
    )
    is_known = picture.sample is not None or has_truth
    truth, said = summary(shapes, "truth") if is_known else None, summary(shapes, "answer")
    size = picture_size(picture.sample.content) if picture.sample is not None else None
    size = size or _extent(shown, row, target)
    label = f"{row['id']}: there is {truth or 'nothing'}; answered {said or 'nothing'}"
    pair = before_after(shapes, picture.thumbnail.uri)
    chart = overlay(picture.thumbnail.uri, size, shown, label) if size is not None and pair is None else ""
    entries = dict.fromkeys(entry for each in shown if isinstance(each, MaskShape) for entry in each.legend)
    legend = tuple(entry for entry in entries if entry[1] != CLEAR)
    hidden, reason = len(shapes) - len(shown), picture.thumbnail.reason
    texts = (marked_texts(shown, "truth"), marked_texts(shown, "answer")) if has_texts(shown) else None
    numbers = tuple(_numbers(row))
    return Seen(
        row["id"],
        row["quality"],
        chart,
        reason,
        truth,
        said,
        hidden,
        pair,
        legend,
        numbers,
        texts,
        picture.own,
        asked_of(row, shapes),
    )


def _numbers(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        measure = MEASURES.get(name)
        if measure is not None and isinstance(value, float):
            symbol = f"\N{NO-BREAK SPACE}{measure.unit.symbol}".rstrip()
            yield measure.title, f"{measure.unit.factor * value:.4g}{symbol}"


def _extent(shapes: list[Shape], row: dict[str, Any], target: Any) -> tuple[int, int] | None:
    """The size of a picture that is not available: as its target or its answer has it, or as far as its boxes reach."""
    size = (target.get("size") if isinstance(target, dict) else None) or row.get("size")
    if size:
        return size[1], size[0]
    reach = [(each.right, each.bottom) for each in shapes if isinstance(each, BoxShape)]
    reach += [each.box[2:] for each in shapes if isinstance(each, MaskShape | PointsShape) and each.box is not None]
    if not reach:
        return None
    return max(1, round(max(right for right, _ in reach))), max(1, round(max(bottom for _, bottom in reach)))


def quality_words(quality: float | None) -> str:
    return "–" if quality is None else words.percent(quality, 0)
