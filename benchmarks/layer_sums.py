"""The sum of a model's layers over its plain run, corrected and as the framework told it, in the Python of a stack.

    PYTHONPATH=src STACK/bin/python benchmarks/layer_sums.py onnxruntime squeezenet.onnx 1,3,224,224
    PYTHONPATH=src STACK/bin/python benchmarks/layer_sums.py tflite mobilenet.tflite 1,192,192,3

`mlmodelscope stacks show NAME` says where a stack is. Plain and profiled runs take turns; single-threaded.
"""

import importlib
import sys
from statistics import fmean, median

import numpy as np

from mlmodelscope_worker.clock import nanoseconds

RUNS = 150


def main(framework: str, path: str, sizes: str) -> None:
    module = importlib.import_module(f"mlmodelscope_worker.predictor.{framework}")
    predictor = getattr(module, framework)({"graph": path}, threads=1)
    shape = [int(size) for size in sizes.split(",")]
    element_type = predictor.inputs[0].element_type if predictor.inputs else "float32"
    tensors = [(np.random.default_rng(0).random(shape) * 255).astype(element_type)]
    plain: list[int] = []

    def between() -> None:
        predictor.run(tensors)
        start = nanoseconds()
        predictor.run(tensors)
        plain.append(nanoseconds() - start)

    profiles = predictor.profile_runs(tensors, RUNS, between)
    beside = plain[-RUNS:] if len(profiles) > 1 else [round(fmean(plain))]  # one that tells a mean has means beside it
    sums = [sum(layer.duration_ns for layer in profile) for profile in profiles]
    told = [sum(layer.more.get("raw_ns", layer.duration_ns) for layer in profile) for profile in profiles]
    corrected = median(own / each for own, each in zip(sums, beside, strict=True))
    raw = median(own / each for own, each in zip(told, beside, strict=True))
    note = profiles[-1].note or "nothing is corrected"
    print(f"{len(profiles[0])} layers, plain {median(beside) / 1e3:.0f} us, {note}")
    print(f"ratio: {corrected:.3f}  (sum of the layers / plain run; as told: {raw:.3f})")


if __name__ == "__main__":
    main(*sys.argv[1:4])
