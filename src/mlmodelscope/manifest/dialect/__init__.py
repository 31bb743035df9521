"""Every form in which manifests were ever published, and how each becomes today's.

A dialect is a file with `recognise` and `convert`; conversion rearranges data with places, decides nothing silently
(each decision is a note) and loses nothing (what no schema knows is kept under `attributes`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlmodelscope.manifest.dialect import cloud20, dlspec, lm_eval, v0, v1, v2
from mlmodelscope.manifest.dialect.notes import Note, Notes
from mlmodelscope.manifest.source import SourceMap

__all__ = [
    "DIALECTS",
    "Dialect",
    "Note",
    "Notes",
    "includes_files",
    "looks_like_log",
    "recognise_dialect",
    "recognise_kind",
]


@dataclass(frozen=True)
class Dialect:
    """One published form of one kind of manifest."""

    name: str
    kind: str
    meaning: str
    recognise: Callable[[SourceMap], bool]
    convert: Callable[[SourceMap, Notes], SourceMap]


# The first that recognises a manifest reads it.
DIALECTS = (
    Dialect("v0", "model", "the flat form of 2017", v0.recognise, v0.convert),
    Dialect("dlspec", "model", "DLSpec's model manifest", dlspec.recognise_model, dlspec.convert_model),
    Dialect("v2", "model", "with embedded Python and a modality", v2.recognise, v2.convert),
    Dialect("cloud20", "model", "the CLOUD'20 paper's form, with lists of steps", cloud20.recognise, cloud20.convert),
    Dialect("v1", "model", "the original project's form, with parameters", v1.recognise, v1.convert),
    Dialect("lm-eval", "dataset", "a task of lm-evaluation-harness", lm_eval.recognise, lm_eval.convert),
    Dialect("dlspec", "dataset", "DLSpec's or V2's dataset manifest", dlspec.recognise_dataset, dlspec.convert_dataset),
    Dialect(
        "dlspec",
        "software",
        "DLSpec's or CLOUD'20's software manifest",
        dlspec.recognise_software,
        dlspec.convert_software,
    ),
    Dialect("dlspec", "hardware", "DLSpec's hardware manifest", dlspec.recognise_hardware, dlspec.convert_hardware),
)


def recognise_kind(data: SourceMap) -> str:
    """Which of the kinds of manifest this is, by what only that kind has."""
    if "manifests" in data:
        return "log"
    if "mine" in data:
        return "reproduction"
    if lm_eval.recognise(data):
        return "dataset"
    if any(
        key in data for key in ("inputs", "outputs", "output", "input", "run", "preprocess", "pre-process", "job_type")
    ):
        return "model"
    if any(key in data for key in ("sources", "format", "init")):
        return "dataset"
    if any(key in data for key in ("cpu", "gpu", "interconnect", "settings")) or (
        "memory" in data and "container" not in data
    ):
        return "hardware"
    if any(key in data for key in ("stack", "containers", "env")) or ("container" in data and "framework" not in data):
        return "software"
    if dlspec.is_named_after_framework(data):
        return "software"
    if "setup" in data and "framework" not in data:
        return "hardware"
    if "framework" in data and not any(key in data for key in ("model", "source", "task", "graph_url", "trained_url")):
        return "software"
    return "model"


def looks_like_log(data: SourceMap) -> bool:
    """Whether this has what only a record of an evaluation has: numbers that were reached, and ids of what was used."""
    words = {key.lower().replace("-", "_") for key in data}
    reached = words & {"accuracy", "metrics", "performance", "expected_outputs", "expected_output", "results", "log"}
    used = {word for word in words if word.endswith("_id")} | words & {"manifests", "ids", "outputs", "curve"}
    used |= words & {"model", "dataset", "software", "hardware"}
    return bool(reached) and len(used) >= 2 and not words & {"inputs", "input", "source", "preprocess", "run"}


def includes_files(data: SourceMap) -> bool:
    """Whether this is of the one form whose files inherit from others in their folder."""
    return lm_eval.recognise(data)


def recognise_dialect(kind: str, data: SourceMap) -> Dialect | None:
    """The old form that this is, or nothing for today's."""
    return next((dialect for dialect in DIALECTS if dialect.kind == kind and dialect.recognise(data)), None)
