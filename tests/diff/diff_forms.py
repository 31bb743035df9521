"""Networks in the files of frameworks that read no ONNX: which form, in which stack, and how it is written there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from diff_written.from_onnx import program_of

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest

WRITER = Path(__file__).parent / "diff_written" / "write.py"
_AT_ONCE = 40
"""Files that one process writes: what a framework keeps of each stays until it ends."""


@dataclass(frozen=True)
class Form:
    framework: str
    stack: str
    """That reads it."""
    writer: str
    """The stack that writes it; the running Python, by an empty name."""
    suffix: str
    networks: tuple[str, ...] = ("cnn", "detector", "encoder", "decoder")


FORMS: Mapping[str, Form] = {
    "torchscript": Form("pytorch", "pytorch-2.13", "pytorch-2.13", ".pt"),
    "pt2": Form("pytorch", "pytorch-2.13", "pytorch-2.13", ".pt2"),
    "saved_model": Form("tensorflow", "tensorflow-2.21", "tensorflow-2.21", ""),
    "tflite": Form("tflite", "litert-2.3", "tensorflow-2.21", ".tflite"),
    "ncnn": Form("ncnn", "ncnn", "", ".param", ("cnn",)),
}


def write_all(form: str, models: Mapping[str, onnx.ModelProto], folder: Path) -> dict[str, Path | str]:
    """{name: its file, or why there is none}."""
    chosen, pairs = FORMS[form], []
    for place, (name, model) in enumerate(models.items()):
        source = folder / f"{form}-{place}.npz"
        program_of(model).save(source)
        pairs.append((name, source, folder / f"{form}-{place}{chosen.suffix}"))
    for start in range(0, len(pairs), _AT_ONCE):
        some = [str(each) for _, *places in pairs[start : start + _AT_ONCE] for each in places]
        _in_stack(chosen.writer, [str(WRITER), form, *some])
    found: dict[str, Path | str] = {}
    for name, _, target in pairs:
        reason = Path(f"{target}.not")
        found[name] = reason.read_text() if reason.exists() else target
    return found


def options_of(form: str, model: onnx.ModelProto) -> dict[str, object]:
    """What the predictor must be told: TorchScript does not say what it takes."""
    tokens = model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT64
    return {"input_type": "int64"} if form == "torchscript" and tokens else {}


def _in_stack(stack: str, arguments: Sequence[str]) -> None:
    command = [sys.executable]
    if stack:
        command += ["-m", "mlmodelscope", "stacks", "run", stack, "--", "python"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{stack}: {done.stderr[-2000:] or done.stdout[-2000:]}")


def written_manifest(form: str, path: Path, model: onnx.ModelProto) -> ModelManifest:
    types = {1: "float32", 7: "int64"}
    source = {"graph_path": str(path)}
    if form == "ncnn":
        source["weights_path"] = str(path.with_suffix(".bin"))
    manifest = load_manifest(
        {
            "name": path.stem,
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": FORMS[form].framework},
            "inputs": [
                {"type": "image", "element_type": types[each.type.tensor_type.elem_type]} for each in model.graph.input
            ],
            "outputs": [{"type": "logits", "layer_name": 0}],
            "source": source,
        }
    )
    assert isinstance(manifest, ModelManifest)
    return manifest
