"""The report as one HTML file that asks the network for nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from mako.lookup import TemplateLookup

from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import charts, reproduction, words
from mlmodelscope.report.before_after import SCRIPT, SCRIPT_HASH
from mlmodelscope.report.claims import ClaimComparison, compare_claims, published, published_text, unmeasured_claims
from mlmodelscope.report.class_numbers import class_sheet, spelled
from mlmodelscope.report.classes import confusions, describe_classes, split_classes, too_few, worst_classes
from mlmodelscope.report.confusion import taken_for
from mlmodelscope.report.latency import describe_latency, latency_chart, latency_rows
from mlmodelscope.report.mistakes import find_mistakes
from mlmodelscope.report.neighbors import find_neighbors
from mlmodelscope.report.numbers import headline_of, other_numbers
from mlmodelscope.report.pipeline import pipeline_blocks
from mlmodelscope.report.predictions import Predictions, find_predictions
from mlmodelscope.report.residual_charts import predicted_chart, residual_chart
from mlmodelscope.report.worst import Worst, find_worst, quality_words
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.task import task_named

_TEMPLATES = Path(__file__).parent / "templates"
_SECTIONS = (
    ("numbers", "Numbers"),
    ("claims", "Claims"),
    ("latency", "Latency"),
    ("accuracy", "Accuracy"),
    ("predictions", "Predicted and true"),
    ("neighbors", "Nearest documents"),
    ("mistakes", "Wrong answers"),
    ("worst", "Samples"),
    ("pipeline", "Pipeline"),
    ("again", "Run it again"),
)

_CURVES = 40
"""Classes that have a curve of their own."""
_PAIRS = 10
"""Texts beside one another that a table lists."""
_CARDS = 4
"""More numbers than these, the first ones aside, are a table."""


def write_html(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    return render("report.html.mako", _page(record, store, artifacts))


def render(template: str, page: dict[str, Any]) -> str:
    return str(_templates().get_template(template).render(**page))


def style() -> str:
    return (_TEMPLATES / "report.css").read_text(encoding="utf-8")


@cache
def _templates() -> TemplateLookup:
    # Everything is escaped unless a template says `| n`, which only our own charts and style sheet do.
    return TemplateLookup([str(_TEMPLATES)], default_filters=["h"], strict_undefined=True, input_encoding="utf-8")


def _page(record: Record, store: Store, artifacts: ArtifactStore) -> dict[str, Any]:
    """All that the templates show; they compute nothing."""
    comparisons = compare_claims(record)
    calibration = record.details.get("calibration")
    worst = find_worst(record, store, artifacts)
    predictions = find_predictions(store.samples_file(record).parent, record.plan.task)
    neighbors = find_neighbors(record, artifacts)
    left_out = {
        "claims" if not record.plan.claims else "",
        "worst" if worst is None else "mistakes",
        "predictions" if predictions is None else "",
        "neighbors" if neighbors is None else "",
    }
    others = other_numbers(record)
    return {
        "style": style(),
        "words": words,
        "sections": [each for each in _SECTIONS if each[0] not in left_out],
        "lede": _lede(record),
        "predictor": _predictor(record),
        "record": record,
        "plan": record.plan,
        "comparisons": comparisons,
        "published": published,
        "published_text": published_text,
        "unmeasured": unmeasured_claims(record),
        "interval_charts": _interval_charts(record, comparisons),
        "latency_chart": latency_chart(record.latency) if record.latency else "",
        "latency_rows": latency_rows(record.latency) if record.latency else [],
        "latency_sentence": describe_latency(record.latency) if record.latency else "",
        "reliability_chart": charts.reliability(calibration["bins"]) if calibration else "",
        "calibration": calibration,
        "headline": headline_of(record),
        "numbers": others if len(others) <= _CARDS else {},
        "listed": {**headline_of(record), **others} if len(others) > _CARDS else {},
        "about_measure": _about,
        "sheet": class_sheet(record),
        "spelled": spelled,
        "curve_chart": charts.precision_recall(curve) if (curve := record.details.get("precision_recall")) else "",
        "class_curves": _class_curves(record),
        "taken": taken_for(record),
        "qualities_chart": charts.qualities(counts) if (counts := record.details.get("qualities")) else "",
        "worst": worst,
        "neighbors": neighbors,
        **_compared(predictions, worst),
        "script": SCRIPT if worst is not None and any(each.pair for each in worst.shown) else "",
        "script_hash": SCRIPT_HASH,
        "quality_words": quality_words,
        **_by_class(record),
        "mistakes": find_mistakes(record, store, artifacts),
        "blocks": pipeline_blocks(record.plan),
        "command": reproduction.command(record.plan),
        "timing": reproduction.unusual_timing(record.plan),
        "files": reproduction.files(record.plan),
        "software": reproduction.software(record),
        "machine": reproduction.machine(record),
        "plan_json": record.plan.model_dump_json(indent=2),
    }


def _by_class(record: Record) -> dict[str, Any]:
    classes = worst_classes(record)
    return {
        "classes": classes,
        "classes_sentence": describe_classes(classes) if classes else "",
        "classes_split": split_classes(classes),
        "classes_chart": charts.stacked_bar(split_classes(classes)),
        "classes_few": bool(classes) and too_few(classes),
        "confusions": confusions(record),
    }


def _compared(predictions: Predictions | None, worst: Worst | None) -> dict[str, Any]:
    """Numbers that were answered beside those that are true."""
    is_drawn = predictions is not None and bool(predictions.points)
    return {
        "predictions": predictions,
        "predicted_chart": predicted_chart(predictions) if predictions and is_drawn else "",
        "residual_chart": residual_chart(predictions) if predictions and is_drawn else "",
        "pairs": worst.shown[:_PAIRS] if worst and predictions and not predictions.has_residuals else (),
    }


def _interval_charts(record: Record, comparisons: list[ClaimComparison]) -> dict[str, str]:
    """A chart for each accuracy; of several claims the first on the same dataset is marked, else the first."""
    marked = {each.metric: each for each in sorted(reversed(comparisons), key=lambda each: each.same_dataset)}
    found = {}
    for name, number in headline_of(record).items():
        interval, claim = number.interval if number is not None else None, marked.get(name)
        if interval is not None:
            remark = "" if claim is None or claim.same_dataset else ", other dataset"
            assert number is not None
            shown = words.unit_of(number)
            found[name] = charts.interval_bar(interval, claim.published if claim else None, remark, shown)
    return found


def _class_curves(record: Record) -> list[tuple[str, str, str]]:
    """(class, its AP50, precision over recall) of each class, the worst first."""
    found = []
    known = {each["class"]: each.get("ap50") for each in record.details.get("per_class") or ()}
    for each in record.details.get("precision_recall_classes") or ():
        steps = len(each["precision"]) - 1
        points = [{"recall": at / steps, "precision": value} for at, value in enumerate(each["precision"])]
        share = known.get(each["class"])
        found.append((share or 0.0, words.class_name(record, each["class"]), points))
    found.sort(key=lambda row: row[:2])
    return [(name, words.percent(share), charts.precision_recall(points)) for share, name, points in found[:_CURVES]]


def _about(metric: str) -> str:
    return getattr(MEASURES.get(metric), "about", "")


def _lede(record: Record) -> str:
    """The result in one sentence."""
    samples = words.answered(record)
    text = task_named(record.plan.task).sentence(samples, record.metrics)
    if not text:
        return f"{words.plural(samples, 'sample')} answered; there is no accuracy to show."
    return f"{text}; {words.plural(record.failed, 'more sample')} failed." if record.failed else f"{text}."


def _predictor(record: Record) -> str:
    name = record.plan.predictor.name or "Python"
    declaration = PREDICTORS.get(name)
    packages = record.plan.stack.packages
    version = next((packages[each] for each in declaration.packages if each in packages), "") if declaration else ""
    return f"{name} {version}".strip()
