"""Sounds made here, as WAVE files, and a classifier of them by the energies of their bands, as an ONNX graph.

A sound is a tone of one of four families over noise: they differ in pitch and in how fast overtones fade, and overlap,
so that the classifier errs at times. Files have two channels that differ, at 22,050 Hz; the model hears 16,000.
"""

import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.sound import EncodedSound

RATE, SAMPLES = 22050, 8820
FAMILIES = ((260, 0.9), (330, 0.75), (420, 0.9), (540, 0.7))
"""(pitch in hertz, how much of an overtone the next one has)."""
BANDS = 24
RIGHT: list[dict[str, Any]] = [
    {"decode_audio": {"library": "wave"}},
    {"mono": "mean"},
    {"resample": {"rate": 16000, "library": "soxr"}},
    {"frames": {"length": 400, "hop": 160, "edges": "center", "padding": "reflect"}},
    {"window": {"shape": "hann"}},
    {"spectrum": {"n_fft": 512}},
    {"mel": {"count": BANDS, "scale": "htk", "norm": "none"}},
    {"log": {"base": "natural", "floor": 1e-10}},
]
Bed = tuple[list[dict[str, Any]], Callable[[list[dict[str, Any]]], Any], Any]


def one_sound(family: int, chance: np.random.Generator) -> np.ndarray:
    """[2, samples] of int16."""
    pitch, fading = FAMILIES[family]
    pitch, fading = pitch * chance.normal(1, 0.13), fading * chance.normal(1, 0.12)
    time = np.arange(SAMPLES) / RATE
    tone = sum(fading**each * np.sin(2 * np.pi * pitch * each * time + each) for each in range(1, 25))
    tone = tone * np.clip(time / 0.05, 0, 1) * np.exp(-time * chance.uniform(1, 6))
    noise = chance.normal(0, 0.25, (2, SAMPLES)) * [[0.3], [1.6]]
    loud = 0.1 * chance.uniform(0.5, 1)
    return np.clip((tone * [[1.0], [0.5]] + noise) * loud * 32767, -32768, 32767).astype("<i2")


def write_sound(path: Path, channels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(channels.T.tobytes())


def features_of(path: Path, steps: list[dict[str, Any]]) -> np.ndarray:
    value: Any = EncodedSound(path.read_bytes())
    for each in steps:
        ((name, given),) = each.items()
        value = STEPS[name].function(value, **STEPS[name].resolve(given))
    return np.asarray(value.array)


def pooled(features: np.ndarray) -> np.ndarray:
    """What the graph makes of them: means over time, and means of the first frames less those of the others."""
    return np.concatenate([features.mean(0), (features[:8] - features.mean(0)).mean(0)])


def fitted(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(weights, bias) of a softmax regression, by plain gradient descent."""
    mean, std = rows.mean(0), rows.std(0) + 1e-6
    scaled, wanted = (rows - mean) / std, np.eye(len(FAMILIES))[labels]
    weights, bias = np.zeros((rows.shape[1], len(FAMILIES))), np.zeros(len(FAMILIES))
    for _ in range(400):
        sums = scaled @ weights + bias
        shares = np.exp(sums - sums.max(1, keepdims=True))
        wrong = shares / shares.sum(1, keepdims=True) - wanted
        weights -= 0.5 * (scaled.T @ wrong / len(rows) + 0.003 * weights)
        bias -= 0.5 * wrong.mean(0)
    weights = weights / std[:, None]
    return weights, bias - mean @ weights


def write_classifier(path: Path, weights: np.ndarray, bias: np.ndarray, bands: int = BANDS) -> Path:
    def node(kind: str, given: str, made: str, **more: Any) -> Any:
        return helper.make_node(kind, given.split(), [made], **more)

    nodes = [
        node("ReduceMean", "features", "mean", axes=[1], keepdims=1),
        node("Sub", "features mean", "centered"),
        node("Slice", "centered first last axis", "begin"),
        node("ReduceMean", "begin", "rise", axes=[1], keepdims=1),
        node("Concat", "mean rise", "both", axis=2),
        node("Squeeze", "both axis", "row"),
        node("MatMul", "row weights", "product"),
        node("Add", "product bias", "sums"),
        node("Softmax", "sums", "answer", axis=1),
    ]
    whole = {"first": [0], "last": [8], "axis": [1]}
    constants = [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in whole.items()]
    constants += [
        numpy_helper.from_array(value.astype(np.float32), name)
        for name, value in (("weights", weights), ("bias", bias))
    ]
    graph = helper.make_graph(
        nodes,
        "sounds",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", "time", bands])],
        [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["n", len(FAMILIES)])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    path.write_bytes(model.SerializeToString())
    return path


def model_of(graph: Path, steps: list[dict[str, Any]]) -> Any:
    return load_manifest(
        {
            "name": "sounds",
            "version": "1.0.0",
            "task": "audio_classification",
            "framework": {"name": "onnxruntime", "version": ">=1.0"},
            "inputs": [{"type": "audio", "element_type": "float32", "processing": steps}],
            "outputs": [{"type": "probability", "element_type": "float32"}],
            "source": {"graph_path": str(graph)},
        }
    )


def sound_bed(folder: Path, right: list[dict[str, Any]] | None = None, bands: int = BANDS, count: int = 96) -> Bed:
    """(right steps, a function of steps that gives a model, dataset)."""
    steps = RIGHT if right is None else right
    chance = np.random.default_rng(5)
    rows, labels = [], []
    for number in range(160):
        write_sound(folder / "heard.wav", one_sound(number % 4, chance))
        rows.append(pooled(features_of(folder / "heard.wav", steps)))
        labels.append(number % 4)
    for number in range(count):
        write_sound(folder / "sounds" / f"family-{number % 4}" / f"{number:03}.wav", one_sound(number % 4, chance))
    graph = write_classifier(folder / "sounds.onnx", *fitted(np.array(rows), np.array(labels)), bands)
    dataset = load_manifest(
        {
            "name": "tones",
            "version": "1.0.0",
            "task": "audio_classification",
            "format": "audio",
            "sources": [{"url": str(folder / "sounds")}],
            "size": count,
        }
    )
    return steps, lambda given: model_of(graph, given), dataset
