"""A training's record made readable: its curve, what it was trained with, what it made."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record, TargetRecord, TrainingRecord
from mlmodelscope.record.store import Store
from mlmodelscope.report import charts, reproduction, words
from mlmodelscope.report.html import render, style
from mlmodelscope.report.inert import inert


def curves(training: TrainingRecord) -> dict[str, list[tuple[float, float]]]:
    """(progress, value) of each metric, in the order in which they were first reported."""
    found: dict[str, list[tuple[float, float]]] = {}
    for point in training.curve:
        for name, value in point.metrics.items():
            found.setdefault(name, []).append((point.progress, value))
    return found


def write_training_html(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    training = _training(record)
    page: dict[str, Any] = {
        "style": style(),
        "words": words,
        "sections": [("curve", "Curve"), ("numbers", "Numbers"), ("again", "Run it again")],
        "lede": lede(record),
        "predictor": record.plan.predictor.name or "Python",
        "record": record,
        "plan": record.plan,
        "training": training,
        "charts": {name: charts.curve(points, name) for name, points in curves(training).items()},
        "numbers": numbers(record),
        "command": reproduction.command(record.plan),
        "timing": None,
        "files": reproduction.files(record.plan),
        "software": reproduction.software(record),
        "machine": reproduction.machine(record),
        "plan_json": record.plan.model_dump_json(indent=2),
    }
    return render("training.html.mako", page)


def lede(record: Record) -> str:
    training = _training(record)
    if training.stopped:
        return f"Stopped early: {training.stopped}."
    shown = ", ".join(f"{name} {value:.4g}" for name, value in training.metrics.items())
    took = f" in {words.duration(training.wall_s)}" if training.wall_s else ""
    return f"Trained{took}; {shown or 'it returned no numbers'}."


def numbers(record: Record) -> list[tuple[str, str]]:
    training, plan = _training(record), record.plan
    rows = [(f"final {name}", f"{value:.6g}") for name, value in training.metrics.items()]
    rows += [(name, words.value(value)) for name, value in plan.hyperparameters.items()]
    rows.append(("seed", str(plan.seed)))
    rows += loop_rows(training)
    if training.reference:
        rows.append(("compared with", training.reference))
    rows += [
        (f"made {file.name}", f"{words.size(file.size_bytes)}, sha256:{file.sha256}") for file in training.artifacts
    ]
    return rows


def loop_rows(training: TrainingRecord) -> list[tuple[str, str]]:
    """How far a loop of ours came, where its time went, and when it was good enough."""
    loop = training.loop
    if loop is None:
        return []
    rows = [("steps", f"{words.count(loop.step)} of {words.count(loop.steps)}, {words.count(loop.per_epoch)} an epoch")]
    if loop.target is not None:
        rows.append(("target", target_words(loop.target)))
    rows.append(("samples trained on", words.count(loop.samples)))
    if loop.samples_per_s is not None:
        rows.append(("throughput", f"{loop.samples_per_s:.4g} samples/s"))
    parts = (("steps", loop.step_s), ("waiting for data", loop.wait_s), ("evaluations", loop.evaluation_s))
    spent = ", ".join(f"{name} {words.duration(value)}" for name, value in (*parts, ("checkpoints", loop.checkpoint_s)))
    rows.append(("time in", spent))
    if loop.energy_j:
        rows.append(("energy", ", ".join(f"{name} {value:.4g} J" for name, value in loop.energy_j.items())))
    elif loop.no_energy:
        rows.append(("energy", f"not measured: {loop.no_energy}"))
    if loop.resumed:
        rows.append(("resumed", words.plural(loop.resumed, "time")))
    return rows


def target_words(target: TargetRecord) -> str:
    wanted = ", ".join(f"{name} {value:g}" for name, value in target.metrics.items())
    if not target.reached or target.wall_s is None:
        return f"{wanted} was not reached"
    where = f"step {target.step}" + (f", epoch {target.epoch:.4g}" if target.epoch is not None else "")
    return f"{wanted} reached after {words.duration(target.wall_s)}, at {where}"


def write_training_markdown(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    training, plan = _training(record), record.plan
    lines = [f"## {plan.model.reference} trained on {plan.dataset.reference}", "", lede(record), ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in numbers(record)), ""]
    names = list(curves(training))
    if names:
        lines += _curve_table(training, names)
    lines += ["```console", f"$ {reproduction.command(plan)}", "```"]
    return "\n".join(lines) + "\n"


def _curve_table(training: TrainingRecord, names: list[str]) -> list[str]:
    lines = [f"| progress | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for point in training.curve:
        cells = " | ".join(f"{point.metrics[name]:.4g}" if name in point.metrics else "" for name in names)
        lines.append(f"| {100 * point.progress:.0f} % | {cells} |")
    return [*lines, ""]


def write_training_csv(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    training = _training(record)
    names = list(curves(training))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("progress", "wall_s", *map(inert, names)))
    for point in training.curve:
        writer.writerow((point.progress, f"{point.wall_s:.3f}", *(point.metrics.get(name, "") for name in names)))
    return out.getvalue()


def write_training_json(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    return json.dumps({"record": record.model_dump(mode="json")}, indent=2) + "\n"


def _training(record: Record) -> TrainingRecord:
    assert record.training is not None
    return record.training
