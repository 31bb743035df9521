"""Write what a builder makes as ONNX, and compare the file's answers with the library's own; run inside a stack.

    python -m mlmodelscope_worker.builder.export REQUEST.json

The request has `build`, `weights` and perhaps `config` (files), `size` (height and width of pictures, or nothing),
`output` and `report`: the file to write and where the findings go, for exporters print what they please.
"""

import importlib
import json
import sys
import warnings

import numpy as np

from ..predictor.predictor import ModelError
from ..predictor.pytorch import torch_on
from .built import read_build

_BATCHES = (2, 1, 3)
"""The model is exported with the first; the others show that the batch is open."""
_TOKENS = 9


def main(path):
    with open(path) as file:
        asked = json.load(file)
    try:
        report = export(asked)
    except ModelError as error:
        report = {"refused": str(error)}
    with open(asked["report"], "w") as file:
        json.dump(report, file)


def export(asked):
    torch, _ = torch_on("cpu", 1)
    build = read_build(asked)
    built = importlib.import_module("mlmodelscope_worker.builder.%s" % build.builder).build(torch, build)
    module = _flat(torch, built)
    examples = [_examples(built.inputs, asked["size"], batch) for batch in _BATCHES]
    tensors = tuple(torch.from_numpy(each) for each in examples[0])
    exporter = _write(torch, module, tensors, built, asked["output"])
    difference, largest = _compare(torch, module, examples, built, asked["output"])
    return {
        "inputs": [each.describe() for each in built.inputs],
        "outputs": [each.name for each in built.outputs],
        "difference": difference,
        "largest": largest,
        "exporter": exporter,
    }


def _examples(inputs, size, batch):
    """Arrays that it takes: noise for pictures and sounds, and few different tokens for texts."""
    random = np.random.RandomState(batch)
    arrays = []
    for each in inputs:
        if each.element_type == "int64":
            tokens = random.randint(0, 2, (batch, _TOKENS)).astype(np.int64)
            tokens[:, 0] = 1  # a text of which nothing is to be read has no answer
            arrays.append(tokens)
        elif each.shape is not None and len(each.shape) == 4 and size:
            arrays.append(random.standard_normal((batch, each.shape[1] or 3, size[0], size[1])).astype(np.float32))
        else:
            raise ModelError("models that take pictures or texts are exported, `%s` is neither" % each.name)
    return arrays


def _flat(torch, built):
    names = [each.name for each in built.outputs]

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = built.module

        def forward(self, *tensors):
            answer = self.model(*tensors)
            return tuple(answer[name] for name in names) if isinstance(answer, dict) else answer

    return Flat().eval()


def _write(torch, module, tensors, built, output):
    """Which exporter wrote it: today's, or the older one for what today's cannot."""
    names = {"input_names": [each.name for each in built.inputs], "output_names": [each.name for each in built.outputs]}
    axes = {
        each.name: {0: "batch", 1: "tokens"} if each.element_type == "int64" else {0: "batch"} for each in built.inputs
    }
    faults = []
    for is_new in (True, False):
        try:
            with warnings.catch_warnings(), torch.inference_mode():
                warnings.simplefilter("ignore")
                if is_new:
                    more = {
                        "dynamic_shapes": {
                            "tensors": tuple(_dimensions(torch, axes[each.name]) for each in built.inputs)
                        }
                    }
                else:
                    more = {"dynamic_axes": dict(axes, **{name: {0: "batch"} for name in names["output_names"]})}
                torch.onnx.export(module, tensors, output, dynamo=is_new, external_data=False, **names, **more)
            return "torch.onnx %s, %s" % (torch.__version__, "torch.export" if is_new else "tracing")
        except Exception as error:  # exporters raise all there is
            faults.append(str(error).strip().split("\n")[0][:300])
    raise ModelError("PyTorch %s cannot export it: %s" % (torch.__version__, "; ".join(faults)))


def _dimensions(torch, axes):
    return {axis: torch.export.Dim(name) for axis, name in axes.items()}


def _compare(torch, module, examples, built, output):
    """(the largest difference, the largest number) of the file's answers and the library's own."""
    import onnxruntime

    session = onnxruntime.InferenceSession(output, providers=["CPUExecutionProvider"])
    difference = largest = 0.0
    for arrays in examples:
        with torch.inference_mode():
            wanted = module(*[torch.from_numpy(each) for each in arrays])
        wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
        given = {each.name: array for each, array in zip(built.inputs, arrays)}
        for ours, theirs in zip(session.run(None, given), wanted):
            theirs = theirs.numpy()
            if ours.shape != theirs.shape or not np.isfinite(ours).all():
                raise ModelError(
                    "the exported file answers with the shape %s, the library %s" % (ours.shape, theirs.shape)
                )
            difference = max(difference, float(np.abs(ours - theirs).max()))
            largest = max(largest, float(np.abs(theirs).max()))
    return difference, largest


if __name__ == "__main__":
    main(sys.argv[1])
