"""What a library builds, as an ONNX file with a manifest: written in the stack, and compared with the library there."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.plan.model import plan_model
from mlmodelscope.preparation import pin
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.provision.site import provision_files
from mlmodelscope.provision.stack import CurrentStack, Progress, StackStore, choose_stack
from mlmodelscope.provision.stack.inside import run_inside
from mlmodelscope.settings import Settings

_TOLERANCE = 1e-4
"""How far the file's answers may be from the library's, as a share of the largest number in them."""


@dataclass(frozen=True)
class Exported:
    """An ONNX file that answers as the library does, and a manifest for it."""

    file: Path
    manifest: str
    difference: float
    """The largest difference between the file's answers and the library's."""
    exporter: str


def export_model(
    model: ModelManifest, output: Path, settings: Settings, progress: Progress = lambda line: None
) -> Exported:
    """Write `output`; nothing is there where it fails, or where the answers differ by more than rounding."""
    if model.source is None or model.source.builder is None:
        raise UsageError(
            f"{model.reference} is not built by a library, so there is nothing to export",
            hint="models with `source: {builder: …}` are exported; others are files already",
        )
    artifacts = ArtifactStore(settings)
    planned = plan_model(model, pin(model, artifacts))
    files = provision_files(planned, artifacts)
    _, stack = choose_stack(model, None, settings, progress)
    runnable = (
        CurrentStack() if stack.recipe is None else StackStore(settings).build(stack.recipe, stack.name, progress)
    )
    assert planned.builder is not None and planned.weights is not None
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-export-", dir=output.absolute().parent) as place:
        draft = Path(place) / "model.onnx"
        asked = {**files, "size": _size(model), "output": str(draft)}
        progress(f"exporting {model.name} in {stack.name}")
        reads = [Path(files[name]) for name in sorted(files)]
        report = run_inside(runnable, "builder.export", asked, Path(place), reads)
        if not report["difference"] <= _TOLERANCE * max(1.0, report["largest"]):
            raise ArtifactError(
                f"the exported file answers differently: {report['difference']:.2g} where numbers reach "
                f"{report['largest']:.2g}; it was not kept"
            )
        digest = hash_file(draft)
        os.replace(draft, output)
    origin = {
        "builder": planned.builder.name,
        "architecture": planned.builder.architecture,
        "options": planned.builder.options,
        "weights": f"sha256:{planned.weights.sha256}",
        "packages": {
            name: stack.packages[name]
            for name in ("torch", "timm", "torchvision", "transformers")
            if name in stack.packages
        },
        "exporter": report["exporter"],
        "largest_difference": f"{report['difference']:.2g}",
    }
    return Exported(output, _manifest(model, output, digest, origin), report["difference"], report["exporter"])


def _size(model: ModelManifest) -> list[int] | None:
    """Height and width of the pictures that the manifest's own steps make."""
    for given in model.inputs:
        for step in reversed(given.processing):
            found = step.parameters.get("dimensions")
            if found is not None:
                return [int(side) for side in found]
    return None


def _manifest(model: ModelManifest, output: Path, digest: str, origin: dict[str, Any]) -> str:
    """The same model as a file: its steps, labels and claims, and where the file comes from."""
    data = model.model_dump(mode="json", exclude_defaults=True, by_alias=False)
    for place in (*data.get("inputs", ()), *data.get("outputs", ())):
        if "processing" in place:
            place["processing"] = [_short(step) for step in place["processing"]]
    if "answer" in data:
        data["answer"] = [_short(step) for step in data["answer"]]
    data["name"] = f"{model.name}-onnx"[:100]
    data["framework"] = {"name": "onnxruntime", "version": "^1.13"}
    data["source"] = {"graph_path": output.name, "graph_checksum": f"sha256:{digest}"}
    data["attributes"] = {**data.get("attributes", {}), "exported": origin}
    return write_manifest(data)


def _short(step: dict[str, Any]) -> dict[str, Any]:
    """A step as authors write it: its name, and those parameters that have a value."""
    given = {name: value for name, value in step["parameters"].items() if value is not None}
    return {step["name"]: given or None}
