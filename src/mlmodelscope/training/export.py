"""Trained weights as a model manifest: what was trained can be evaluated, with or without its head."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.schema.training import Training
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store

WEIGHTS = "weights.npz"
_ANSWER = """\
def run(ctx, data):
    from mlmodelscope_worker.training.trained import answer

    return answer(ctx, data, globals(), framework={framework}, functions={functions}, head={head})
"""
_TASKS = ("classification", "regression")
_VALUES = """\
def postprocess(ctx, data):
    return [row.reshape(-1).tolist() for row in data[0]]
"""


def check_exportable(model: ModelManifest, destination: Path, without_head: bool) -> Training:
    """Refuse before the training what could not be exported after it."""
    if model.training is None:
        raise UsageError(
            f"{model.name} is a function of its own: what it makes is in its record's artifacts, and only it knows how "
            "to load that",
            hint="a manifest with `training:` can be exported: docs/training.md",
        )
    if destination.suffix not in (".yml", ".yaml"):
        raise UsageError(f"{destination} does not end in .yml or .yaml")
    if not model.inputs:
        raise UsageError(
            f"{model.name} has no `inputs`, so nobody knows how samples become its tensors",
            hint="write `inputs: [{type: image, processing: {…}}]`: its evaluations then take the same steps",
        )
    if not without_head and model.task not in _TASKS:
        raise UsageError(
            f"{model.name} is for {model.task}; trained models of {' and '.join(_TASKS)} can be exported",
            hint="`mlmodelscope train … --without-head --export FILE.yml` exports what it computes of a sample",
        )
    if not without_head and not model.outputs:
        raise UsageError(
            f"{model.name} has no `outputs`, so nobody knows what its tensors stand for",
            hint="write `outputs: [{type: logits, processing: {softmax: }}]`, or whatever they are",
        )
    if without_head and not model.training.head:
        raise UsageError(
            f"{model.name} names no layers as its head",
            hint="write `training: {head: [LAYER]}`, with the layers that are left out",
        )
    return model.training


def export_trained(record: Record, model: ModelManifest, store: Store, destination: Path, without_head: bool) -> Path:
    """Write the manifest, and beside it the weights; the path of these."""
    training = check_exportable(model, destination, without_head)
    source = store.folder(record.id) / "artifacts" / WEIGHTS
    if record.training is None or record.training.stopped is not None or not source.is_file():
        raise UsageError(f"the training {record.id} was not finished: it has no weights")
    weights = destination.with_suffix(".weights.npz")
    kept = next(each for each in record.training.artifacts if each.name == WEIGHTS)
    content = _manifest(record, model, training, weights.name, kept.sha256, without_head)
    try:
        _written(weights, lambda draft: shutil.copyfile(source, draft))
        _written(destination, lambda draft: draft.write_text(write_manifest(content), encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"cannot write {destination}: {error.strerror or error}") from None
    return weights


def _written(path: Path, write: Any) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        write(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _manifest(
    record: Record, model: ModelManifest, training: Training, weights: str, sha256: str, without_head: bool
) -> dict[str, Any]:
    assert record.training is not None
    name = f"{model.name}-{'features' if without_head else 'trained'}"
    dataset = record.plan.dataset
    found: dict[str, Any] = {
        "name": name[:100],
        "version": model.version,
        "task": "general" if without_head else model.task,
        "description": f"{model.name} as training {record.id} left it"
        + (", without its head." if without_head else "."),
        "license": model.license,
        "references": list(model.references),
        "training_dataset": {"name": dataset.name, "version": dataset.version},
        "inputs": [_written_form(each) for each in model.inputs],
        "outputs": [_written_form(each) for each in model.outputs],
        "files": {"weights": {"url": weights, "checksum": f"sha256:{sha256}"}},
        "hyperparameters": record.plan.hyperparameters,
        "setup": model.functions["training"].code,
        "run": _ANSWER.format(
            framework=json.dumps(training.framework),
            functions=repr(training.functions.model_dump()),
            head=repr(list(training.head)) if without_head else "()",
        ),
        "software": model.software,
        "attributes": {
            "trained": {
                "record": record.id,
                "plan": record.plan_digest,
                "seed": record.plan.seed,
                "metrics": record.training.metrics,
            }
        },
    }
    if without_head:
        found["outputs"] = [{"type": "general"}]
    if without_head or model.task != "classification":
        found["postprocess"] = _VALUES
    return {key: value for key, value in found.items() if value not in (None, [], {})}


def _written_form(part: Any) -> dict[str, Any]:
    """An input or output as an author writes it: steps by name."""
    written: dict[str, Any] = part.model_dump(mode="json", exclude_defaults=True)
    if "processing" in written:
        steps = written["processing"]
        written["processing"] = [
            {each["name"]: {name: value for name, value in each["parameters"].items() if value is not None}}
            for each in steps
        ]
    return written
