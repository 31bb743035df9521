"""What a record measured, in the terms in which records are compared: part of a dataset, software, machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.predictors import PREDICTORS

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record
    from mlmodelscope.record.told import Told

Setting = tuple[Any, Any, tuple[tuple[str, str], ...]]


def part_of(record: Record | Told) -> tuple[int, bool, int] | None:
    """Which part of the dataset was taken; a limit that is no limit takes all."""
    dataset, subset = record.plan.dataset, record.plan.dataset.subset
    if subset.count is None or record.samples < subset.count or (dataset.size or subset.count + 1) <= subset.count:
        return None
    return subset.count, subset.stratified, subset.seed


def stack_name(plan: Plan) -> str:
    """The framework with its version, and what of its settings a speed depends on."""
    name = plan.predictor.name or "functions"
    declaration = PREDICTORS.get(name)
    packages = plan.stack.packages
    version = next((packages[each] for each in declaration.packages if each in packages), "") if declaration else ""
    threads, device, others = setting_of(plan)
    words = [f"{name} {version}".strip()]
    words += [f"{threads} threads"] if threads != 1 else []
    words += [str(device)] if device not in (None, "cpu") else []
    return ", ".join([*words, *(f"{key}={value}" for key, value in others)])


def machine_name(record: Record | Told) -> str:
    machine = record.machine
    if str(record.plan.predictor.options.get("device") or "cpu") != "cpu" and machine.gpus:
        return machine.gpus[0]
    return machine.server or machine.cpu


def setting_of(plan: Plan) -> Setting:
    """Threads, the device, and other options that are not as usual."""
    options: Mapping[str, Any] = plan.predictor.options
    declaration = PREDICTORS.get(plan.predictor.name or "")
    usual = declaration.defaults if declaration else {}
    others = (
        (name, str(value))
        for name, value in sorted(options.items())
        if name not in ("threads", "device") and value is not None and value != usual.get(name)
    )
    return options.get("threads", 1), options.get("device"), tuple(others)


def software_of(plan: Plan) -> tuple[Any, ...]:
    """What of the software an answer may depend on; the number of threads is not among it."""
    _threads, *answering = setting_of(plan)
    return (plan.predictor.name, tuple(sorted(plan.stack.packages.items())), *answering)


def software_digest(plan: Plan) -> str:
    return hashlib.sha256(json.dumps(software_of(plan), default=str).encode()).hexdigest()
