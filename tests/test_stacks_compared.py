"""Six real stacks that exclude one another, one command, and the library that moved the result.

The model's own preprocessing adds a Python number to a NumPy byte. NumPy 1 makes a wider number of the two, NumPy 2
stays in eight bits and wraps around (NEP 50): the same code, another picture.
"""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope import Settings
from mlmodelscope.provision.stack.interpreter import find_uv
from worker_package.predictor import onnx_models

MODEL = """
name: adds-to-bytes
version: 1.0.0
task: classification
framework: {{name: onnxruntime, version: "*"}}
inputs: [{{type: image, shape: [3, 8, 8]}}]
outputs: [{{type: classes}}]
source: {{graph_path: {graph}}}
preprocess:
  gets: sample
  code: |
    def preprocess(ctx, data):
        import numpy as np
        from PIL import Image

        pixels = np.asarray(Image.open(data).convert("RGB").resize((8, 8), Image.BILINEAR))
        return (pixels.astype("float32") - (pixels.min() + 128)).transpose(2, 0, 1) / 64
postprocess: |
  def postprocess(ctx, data):
      return list(data[0])
"""
STACK = """
name: {name}
version: 1.0.0
framework: {{name: onnxruntime, version: "*"}}
stack:
  python: "3.11"
  requirements: [onnxruntime=={onnxruntime}, numpy=={numpy}, pillow=={pillow}]
"""
# onnxruntime 1.17 was built for NumPy 1, so that not every combination exists: six of eight do.
STACKS = [
    *product(("1.31.1",), ("1.26.4", "2.2.6"), ("9.5.0", "11.3.0")),
    *product(("1.17.3",), ("1.26.4",), ("9.5.0", "11.3.0")),
]


@pytest.mark.slow(reason="six stacks are built and evaluated")
def test_six_stacks_are_one_command_and_the_library_is_named(tmp_path: Path, settings: Settings) -> None:
    if find_uv() is None:
        pytest.skip("without uv, six stacks take too long")
    folder = tmp_path / "pictures"
    for number in range(6):  # bright ones: what is added makes more than a byte holds
        (folder / f"class{number}").mkdir(parents=True)
        Image.new("RGB", (8, 8), (200 + number, 180, 240)).save(folder / f"class{number}" / "one.png")
    graph = onnx_models.classifier(tmp_path)["graph"]
    model = tmp_path / "model.yml"
    model.write_text(MODEL.format(graph=graph))
    names = []
    for runtime, numpy, pillow in STACKS:
        path = tmp_path / f"ort{runtime}-numpy{numpy}-pillow{pillow}.yml"
        path.write_text(STACK.format(name=path.stem, onnxruntime=runtime, numpy=numpy, pillow=pillow))
        names.append(str(path))
    dataset = tmp_path / "dataset.yml"
    head = "name: pictures\nversion: 1.0.0\ntask: classification\nformat: folder\n"
    dataset.write_text(f"{head}sources: [{{url: {folder}}}]\n")
    command = ["evaluate", str(model), str(dataset), "--stacks", ",".join(names), "--trust", "--json"]
    environment = {
        **os.environ,
        "MLMODELSCOPE_HOME": str(settings.home),
        "MLMODELSCOPE_CACHE": str(settings.cache),
    }
    done = subprocess.run(
        [sys.executable, "-m", "mlmodelscope", *command], env=environment, capture_output=True, text=True, check=False
    )
    told = done.stderr + done.stdout
    if "could not be built" in told or "there is no Python" in told:
        pytest.skip(f"a stack cannot be built here: {told.strip()[-300:]}")
    assert done.returncode == 0, done.stderr
    swept = json.loads(done.stdout)
    assert len(swept["stacks"]) == len(STACKS) == 6
    said = {cause["sentence"] for cause in swept["causes"]}
    assert any(each.startswith("numpy 1.26.4 → 2.2.6 changed") and "nothing" not in each for each in said), said
    assert "pillow 9.5.0 → 11.3.0 changed nothing" in said
