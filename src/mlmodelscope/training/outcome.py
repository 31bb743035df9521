"""What a training came to, as its record keeps it."""

from __future__ import annotations

from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.machine.energy import why_no_meter
from mlmodelscope.record.record import LoopRecord, TargetRecord, TrainingRecord
from mlmodelscope.worker.client import Trained

_RESUMED = "the training was interrupted, and what its lost steps took is not known"


def with_result(training: TrainingRecord, event: Trained, plan: Plan, energy_j: dict[str, float]) -> TrainingRecord:
    numbers = event.result if isinstance(event.result, dict) else {}
    metrics = {
        name: float(value)
        for name, value in numbers.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    loop = _loop(plan, event.facts, energy_j) if plan.training is not None else None
    return training.model_copy(
        update={"result": event.result, "metrics": metrics, "wall_s": event.train_ns / 1e9, "loop": loop}
    )


def _loop(plan: Plan, facts: dict[str, Any], energy_j: dict[str, float]) -> LoopRecord:
    assert plan.training is not None
    told = dict(facts)
    where = told.pop("target")
    wanted = plan.training.target
    target = TargetRecord(metrics=wanted, reached=where is not None, **(where or {})) if wanted else None
    if told["resumed"]:
        return LoopRecord(**told, target=target, no_energy=_RESUMED)
    no_energy = None if energy_j else why_no_meter() or "no meter could be read"
    return LoopRecord(**told, target=target, energy_j=energy_j, no_energy=no_energy)
