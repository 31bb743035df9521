"""All analyses that some records allow, and for the others what is missing and how to get it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlmodelscope.analysis.device_time import device_time
from mlmodelscope.analysis.kernels import (
    call_information,
    calls_by_layer,
    calls_by_name,
    layer_traffic,
    layers_with_calls,
    model_aggregate,
)
from mlmodelscope.analysis.layers import (
    layer_information,
    layer_latency,
    layer_memory,
    type_count,
    type_latency,
    type_memory,
)
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.model import model_information
from mlmodelscope.analysis.roofline import call_roofline, layer_roofline
from mlmodelscope.analysis.table import Analysis
from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.report import reproduction

TITLES = {
    "A1": "the model over batch sizes",
    "A2": "layers",
    "A3": "time of each layer",
    "A4": "memory of each layer",
    "A5": "layers of each type",
    "A6": "time of each type of layer",
    "A7": "memory of each type of layer",
    "A8": "kernels",
    "A9": "roofline of kernels",
    "A10": "kernels by name",
    "A11": "kernels by layer",
    "A12": "operations and bytes of each layer",
    "A13": "time on the device and beside it",
    "A14": "roofline of layers",
    "A15": "the model as a whole",
}


@dataclass(frozen=True)
class Missing:
    """An analysis that the records do not allow."""

    id: str
    title: str
    why: str
    command: str | None
    """What would make it possible."""


@dataclass(frozen=True)
class Analysed:
    analyses: tuple[Analysis, ...]
    missing: tuple[Missing, ...]


def choose(text: str | None) -> tuple[str, ...]:
    """`A2,a5` as names that are known; all where nothing is asked for."""
    if not text:
        return tuple(TITLES)
    wanted = [word.strip().upper() for word in text.split(",") if word.strip()]
    unknown = [word for word in wanted if word not in TITLES]
    if unknown or not wanted:
        raise UsageError(f"there is no analysis `{unknown[0] if unknown else text}`\nknown: {', '.join(TITLES)}")
    return tuple(name for name in TITLES if name in wanted)


def analyse(
    subjects: Sequence[Subject], only: Sequence[str] = tuple(TITLES), target_s: float | None = None
) -> Analysed:
    """Layers and kernels are those of the first record that has a trace; sizes of batches are compared over all."""
    traced = [subject for subject in subjects if subject.trace is not None]
    first = traced[0] if traced else Subject(subjects[0].record if subjects else None, None)
    records = [subject.record for subject in subjects if subject.record is not None]
    found: list[Analysis] = []
    missing: list[Missing] = []
    for name in only:
        analysis = model_information(records, target_s) if name == "A1" else None
        if name == "A15" and any(subject.layers or subject.calls for subject in traced):
            analysis = model_aggregate([subject for subject in traced if subject.layers or subject.calls])
        elif name in _LAYERS and first.layers and _has(first, name):
            analysis = _LAYERS[name](first)
        elif name in _CALLS and first.calls and _has(first, name):
            analysis = _CALLS[name](first)
        if analysis is not None:
            found.append(analysis)
        else:
            missing.append(Missing(name, TITLES[name], *_why(first, name)))
    return Analysed(tuple(found), tuple(missing))


_LAYERS: dict[str, Callable[[Subject], Analysis]] = {
    "A2": layer_information,
    "A3": layer_latency,
    "A4": layer_memory,
    "A5": type_count,
    "A6": type_latency,
    "A7": type_memory,
    "A12": layer_traffic,
    "A14": layer_roofline,
}
_CALLS: dict[str, Callable[[Subject], Analysis]] = {
    "A8": call_information,
    "A9": call_roofline,
    "A10": calls_by_name,
    "A11": calls_by_layer,
    "A13": device_time,
}


def _has(subject: Subject, name: str) -> bool:
    """Whether something is known that the analysis would show."""
    if name in ("A4", "A7"):
        return any(layer.memory_bytes is not None for layer in subject.layers)
    if name == "A9":
        return any(call.work.intensity for call in subject.calls)
    if name in ("A11", "A13"):
        return bool(layers_with_calls(subject))
    if name == "A12":
        return any(layer.work.flops is not None for layer in subject.layers)
    if name == "A14":
        return any(layer.work.intensity for layer in subject.layers)
    return True


def _why(subject: Subject, name: str) -> tuple[str, str | None]:
    """(what is missing, the command that would give it)."""
    if name == "A1":
        return "no record says how long a batch takes", command(subject.record, "bench", " --scenario sweep")
    if subject.trace is None:
        level = "library" if name in _CALLS else "framework"
        return "there is no trace", command(subject.record, "profile", f" --level {level}")
    if not subject.layers and name not in ("A8", "A10"):
        return "the trace has no layers", command(subject.record, "profile", " --level framework")
    if name in ("A4", "A7"):
        return "the framework tells no memory of its layers", None
    if name in ("A12", "A14"):
        return "the framework tells no shapes of its layers' tensors, or the profile was made before they were kept", (
            command(subject.record, "profile", " --level framework")
        )
    if not subject.calls:
        return "the trace has nothing that layers call", command(subject.record, "profile", " --level library")
    if name == "A9":
        return (
            "operations and bytes of kernels were not counted, for which a device with counters is needed",
            command(subject.record, "profile", " --level hardware"),
        )
    return "nothing in the trace is tied to a layer", None


def command(record: Record | None, verb: str, more: str) -> str:
    if record is None:
        return f"mlmodelscope {verb} MODEL DATASET{more}"
    subset = record.plan.dataset.subset.model_copy(update={"count": None})
    plan = record.plan.model_copy(update={"dataset": record.plan.dataset.model_copy(update={"subset": subset})})
    text = (
        reproduction.command(plan).removesuffix(" --again").replace("mlmodelscope evaluate", f"mlmodelscope {verb}", 1)
    )
    return text + more
