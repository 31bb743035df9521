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
from mlmodelscope.report.claims import ClaimComparison, compare_claims, unmeasured_claims
from mlmodelscope.report.classes import confusions, describe_classes, split_classes, too_few, worst_classes
from mlmodelscope.report.latency import describe_latency, latency_chart, latency_rows
from mlmodelscope.report.mistakes import find_mistakes
from mlmodelscope.report.pipeline import pipeline_blocks

_TEMPLATES = Path(__file__).parent / "templates"
_SECTIONS = (
    ("numbers", "Numbers"),
    ("claims", "Claims"),
    ("latency", "Latency"),
    ("accuracy", "Accuracy"),
    ("mistakes", "Wrong answers"),
    ("pipeline", "Pipeline"),
    ("again", "Run it again"),
)


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
    classes = worst_classes(record)
    comparisons = compare_claims(record)
    return {
        "style": style(),
        "words": words,
        "sections": [each for each in _SECTIONS if each[0] != "claims" or record.plan.claims],
        "lede": _lede(record),
        "predictor": _predictor(record),
        "record": record,
        "plan": record.plan,
        "comparisons": comparisons,
        "unmeasured": unmeasured_claims(record),
        "interval_charts": _interval_charts(record, comparisons),
        "latency_chart": latency_chart(record.latency) if record.latency else "",
        "latency_rows": latency_rows(record.latency) if record.latency else [],
        "latency_sentence": describe_latency(record.latency) if record.latency else "",
        "reliability_chart": charts.reliability(record.metrics.calibration["bins"])
        if record.metrics.calibration
        else "",
        "classes": classes,
        "classes_sentence": describe_classes(classes) if classes else "",
        "classes_split": split_classes(classes),
        "classes_chart": charts.stacked_bar(split_classes(classes)),
        "classes_few": bool(classes) and too_few(classes),
        "confusions": confusions(record),
        "mistakes": find_mistakes(record, store, artifacts),
        "blocks": pipeline_blocks(record.plan),
        "command": reproduction.command(record.plan),
        "timing": reproduction.unusual_timing(record.plan),
        "files": reproduction.files(record.plan),
        "software": reproduction.software(record),
        "machine": reproduction.machine(record),
        "plan_json": record.plan.model_dump_json(indent=2),
    }


def _interval_charts(record: Record, comparisons: list[ClaimComparison]) -> dict[str, str]:
    """A chart for each accuracy; of several claims the first on the same dataset is marked, else the first."""
    marked = {each.metric: each for each in sorted(reversed(comparisons), key=lambda each: each.same_dataset)}
    found = {}
    for name in words.METRIC_NAMES:
        interval, claim = record.metrics[name], marked.get(name)
        if interval is not None:
            remark = "" if claim is None or claim.same_dataset else ", other dataset"
            found[name] = charts.interval_bar(interval, claim.published if claim else None, remark)
    return found


def _lede(record: Record) -> str:
    """The result in one sentence."""
    samples, top1, top5 = words.answered(record), record.metrics.top1, record.metrics.top5
    if top1 is None:
        return f"{words.plural(samples, 'sample')} answered; there is no accuracy to show."
    text = f"{words.count(round(top1.value * samples))} of {words.plural(samples, 'sample')} answered right"
    if top5 is not None:
        text += f", {words.count(round(top5.value * samples))} with the right class among the first five"
    return f"{text}; {words.plural(record.failed, 'more sample')} failed." if record.failed else f"{text}."


def _predictor(record: Record) -> str:
    name = record.plan.predictor.name or "Python"
    declaration = PREDICTORS.get(name)
    packages = record.plan.stack.packages
    version = next((packages[each] for each in declaration.packages if each in packages), "") if declaration else ""
    return f"{name} {version}".strip()
