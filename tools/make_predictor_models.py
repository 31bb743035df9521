# /// script
# requires-python = ">=3.11"
# dependencies = ["tensorflow-cpu==2.21.0"]
# ///
"""Write the models in tests/worker_package/predictor/files that only TensorFlow can make.

    uv run tools/make_predictor_models.py [folder]

A convolution, ReLU, mean over the picture, ten scores; weights are `np.random.default_rng(0)`'s, so that a test can
compute the same in numpy, or put others in their place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

FILES = Path(__file__).resolve().parents[1] / "tests" / "worker_package" / "predictor" / "files"
RANDOM = np.random.default_rng(0)
FILTER = RANDOM.normal(size=(3, 3, 3, 6)).astype(np.float32)
BIAS = RANDOM.normal(size=6).astype(np.float32)
LAST = RANDOM.normal(size=(6, 10)).astype(np.float32)
LAST_BIAS = RANDOM.normal(size=10).astype(np.float32)


class Classifier(tf.Module):
    def __init__(self, *, channels_first: bool, last_bias: bool) -> None:
        super().__init__()
        self.channels_first, self.last_bias = channels_first, last_bias

    def __call__(self, pixels: tf.Tensor) -> dict[str, tf.Tensor]:
        if self.channels_first:
            pixels = tf.transpose(pixels, [0, 2, 3, 1])
        maps = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(pixels, FILTER, 1, "SAME"), BIAS))
        scores = tf.matmul(tf.reduce_mean(maps, [1, 2]), LAST)
        return {"scores": tf.nn.bias_add(scores, LAST_BIAS) if self.last_bias else scores}


class Widest(tf.Module):
    """Takes large pictures and has next to no memory of its own."""

    def __call__(self, pixels: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"scores": tf.reduce_max(pixels, [2, 3])}


def convert(module: tf.Module, shape: list[int | None], quantised: tf.DType | None = None) -> bytes:
    function = concrete(module, shape)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], module)
    if quantised is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: pictures(shape)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = quantised
    return converter.convert()


def concrete(module: tf.Module, shape: list[int | None]) -> Callable[..., dict[str, tf.Tensor]]:
    return tf.function(module).get_concrete_function(tf.TensorSpec(shape, tf.float32, name="input"))


def pictures(shape: list[int | None]) -> Iterator[list[np.ndarray]]:
    for _ in range(32):
        yield [RANDOM.random([size or 1 for size in shape], dtype=np.float32)]


def frozen(module: tf.Module, shape: list[int | None]) -> bytes:
    return convert_variables_to_constants_v2(concrete(module, shape)).graph.as_graph_def().SerializeToString()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FILES
    folder.mkdir(parents=True, exist_ok=True)
    channels_last = Classifier(channels_first=False, last_bias=True)
    written = {
        "classifier.tflite": convert(Classifier(channels_first=True, last_bias=False), [None, 3, 8, 8]),
        "wide.tflite": convert(Widest(), [None, 3, 512, 512]),
        "fixed.tflite": convert(channels_last, [1, 8, 8, 3]),
        "uint8.tflite": convert(channels_last, [1, 8, 8, 3], tf.uint8),
        "int8.tflite": convert(channels_last, [1, 8, 8, 3], tf.int8),
        "frozen.pb": frozen(channels_last, [None, 8, 8, 3]),
    }
    for name, content in written.items():
        (folder / name).write_bytes(content)
    saved = tf.Module()
    saved.serve = tf.function(channels_last, input_signature=[tf.TensorSpec([None, 8, 8, 3], tf.float32, "input")])
    tf.saved_model.save(saved, str(folder / "saved_model"), options=tf.saved_model.SaveOptions(save_debug_info=False))
    for path in sorted(folder.rglob("*")):
        print(path.relative_to(folder), path.stat().st_size if path.is_file() else "")


if __name__ == "__main__":
    main()
