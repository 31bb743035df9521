"""How a comparison is judged whose fault is known, and manifests for bare model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from diff_mutations import Mutation

from mlmodelscope.diff.result import Difference
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest

FRAMEWORKS = {"openvino": "openvino", "opencv": "opencv", "onnxruntime": "onnxruntime"}
"""By the first word of a stack's name."""


def model_manifest(graph: Path, framework: str = "onnxruntime") -> ModelManifest:
    model = onnx.load(str(graph), load_external_data=False)
    kind = model.graph.input[0].type.tensor_type.elem_type
    types = {1: "float32", 7: "int64", 10: "float16"}
    manifest = load_manifest(
        {
            "name": graph.stem,
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": framework},
            "inputs": [{"type": "image", "element_type": types[kind]}],
            "outputs": [{"type": "logits", "layer_name": 0}],
            "source": {"graph_path": str(graph)},
        }
    )
    assert isinstance(manifest, ModelManifest)
    return manifest


def judged(mutation: Mutation, found: Difference) -> dict[str, Any]:
    """Whether the layer and the kind are what was planted."""
    layer = found.named
    kinds = [fault.kind for fault in found.faults]
    return {
        "layer": layer,
        "layer_right": layer in mutation.layers,
        "kind": kinds[0] if kinds else None,
        "kind_right": bool(kinds) and kinds[0] in mutation.kinds,
        "words": found.faults[0].words if found.faults else " ".join(found.notes),
        "sentence": found.sentence,
    }
