"""What a library builds, as an ONNX file with a manifest: written in the stack, and compared with the library there."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlmodelscope_worker
from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.plan.model import plan_model
from mlmodelscope.preparation import pin
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.provision.site import provision_files
from mlmodelscope.provision.stack import CurrentStack, Needs, Progress, StackStore, choose_stack
from mlmodelscope.provision.stack.provisioner import Runnable
from mlmodelscope.provision.stack.walls import confine
from mlmodelscope.settings import Settings

_TOLERANCE = 1e-4
"""How far the file's answers may be from the library's, as a share of the largest number in them."""
_LIMIT_S = 3600
_KEPT = 2000


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
        asked = {**files, "size": _size(model), "output": str(draft), "report": f"{place}/report.json"}
        progress(f"exporting {model.name} in {stack.name}")
        report = _run(asked, runnable, Path(place))
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


def _run(asked: dict[str, Any], stack: Runnable, place: Path) -> dict[str, Any]:
    (place / "path").mkdir()
    (place / "path" / "mlmodelscope_worker").symlink_to(Path(mlmodelscope_worker.__file__).parent)
    (place / "request.json").write_text(json.dumps(asked))
    own = Path(mlmodelscope_worker.__file__).parent
    reads = (own, *(Path(asked[name]) for name in ("build", "weights", "config") if name in asked))
    environment = {"PYTHONPATH": str(place / "path"), "PYTHONNOUSERSITE": "1", "HF_HUB_OFFLINE": "1"}
    needs = Needs(environment=environment, reads=reads, writes=(place,), folder=place)
    arguments = ("-m", "mlmodelscope_worker.builder.export", str(place / "request.json"))
    launch = confine(stack.launch(arguments, needs), needs)
    try:
        done = subprocess.run(
            launch.command,
            env=dict(launch.environment),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_LIMIT_S,
            cwd=place,
        )
    except subprocess.TimeoutExpired:
        raise ArtifactError(f"the export took longer than {_LIMIT_S} s") from None
    report = place / "report.json"
    if not report.is_file():
        raise ArtifactError(f"the export ended with exit code {done.returncode}\n{done.stderr.strip()[-_KEPT:]}")
    found: dict[str, Any] = json.loads(report.read_text())
    if "refused" in found:
        raise ArtifactError(found["refused"])
    return found


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
