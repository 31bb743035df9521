"""What a GPU does with real networks, and what we add: latency, throughput, copies, and the bare loop beside ours.

    PYTHONPATH=src python benchmarks/gpu.py                      every framework that is installed here
    PYTHONPATH=src python benchmarks/gpu.py --framework jax --device cuda:1

It needs numpy, a framework and the worker's source, nothing else; `--device cpu` shows that it runs.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any

import harness
import networks
import numpy as np

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS
from mlmodelscope_worker.scenario.single_stream import measure_latency, measure_parts
from mlmodelscope_worker.session import aligned, open_predictor

PACKAGES = {"pytorch": ("torch",), "jax": ("jax", "flatbuffers"), "onnxruntime": ("onnxruntime", "onnx")}
BATCHES = (1, 8, 32, 128)
CALLS = 10  # of each in turn, so that both see the same machine
WARM_UP = 5
PARTS = ("copy to device", "run", "copy from device")
Call = Callable[[np.ndarray], np.ndarray]


def bare_pytorch(path: str, device: str) -> Call:
    import torch

    module = torch.jit.load(path, map_location=device).eval()

    def call(images: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return np.asarray(module(torch.from_numpy(images).to(device)).cpu().numpy())

    return call


def bare_jax(path: str, device: str) -> Call:
    import jax
    from jax import export

    family, _, number = device.partition(":")
    place = jax.devices(family)[int(number or 0)]
    function = jax.jit(export.deserialize(bytearray(Path(path).read_bytes())).call)
    return lambda images: np.asarray(function(jax.device_put(images, place)))


def bare_onnxruntime(path: str, device: str) -> Call:
    import onnxruntime

    family, _, number = device.partition(":")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    provider: Any = "CPUExecutionProvider"
    if family == "cuda":
        onnxruntime.preload_dlls()
        provider = ("CUDAExecutionProvider", {"device_id": number or "0"})
    session = onnxruntime.InferenceSession(path, options, providers=[provider])
    return lambda images: np.asarray(session.run(None, {"images": images})[0])


def time_bare(call: Call, images: np.ndarray) -> list[int]:
    raw = [0] * CALLS
    for place in range(CALLS):
        start = perf_counter_ns()
        call(images)
        raw[place] = perf_counter_ns() - start
    return raw


def measure(predictor: Any, bare: Call, batch: int, budget_s: float) -> dict[str, Any]:
    """Ours and the bare loop in turns, until the time is spent; then the parts."""
    images = aligned((batch, 3, 224, 224), np.float32)
    images[...] = np.random.default_rng(batch).normal(0, 1, images.shape)
    warm_up, _ = measure_latency(predictor, [images], WARM_UP, 1, 0)
    for _ in range(WARM_UP):
        expected = bare(images)
    answer = predictor.run([images])[0]
    ours, beside = [], []
    deadline = perf_counter() + budget_s
    while not ours or perf_counter() < deadline:
        beside += time_bare(bare, images)
        ours += measure_latency(predictor, [images], 0, CALLS, 600)[1]
    parts = measure_parts(predictor, [images], 60)
    return {
        "batch": batch,
        "calls": len(ours),
        "first_call_ms": warm_up[0] / 1e6,
        "ours_ms": {f"p{p}": float(np.percentile(ours, p)) / 1e6 for p in (10, 50, 90, 99)},
        "bare_ms": {f"p{p}": float(np.percentile(beside, p)) / 1e6 for p in (10, 50, 90, 99)},
        "parts_ms": {name: median(raw) / 1e6 for name, raw in parts.items()},
        "input_mb": images.nbytes / 1e6,
        "off_by": float(np.abs(answer - expected).max() / np.abs(expected).max()),
        "first_answer": [float(value) for value in answer[0, :5]],
    }


def run_part(framework: str, network: str, device: str, batches: list[int], budget_s: float) -> dict[str, Any]:
    save = getattr(networks, f"save_for_{framework}")
    with tempfile.TemporaryDirectory() as place:
        path = save(network, Path(place))
        bare = globals()[f"bare_{framework}"](path, device)
        options = PREDICTORS[framework].resolve({"device": device})
        start = perf_counter()
        with open_predictor(PredictorTask(framework, {"graph": path}, options)) as predictor:
            load_s = perf_counter() - start
            rows = [measure(predictor, bare, batch, budget_s) for batch in batches]
    version = importlib.import_module(PACKAGES[framework][0]).__version__
    return {"framework": framework, "version": version, "network": network, "load_s": load_s, "rows": rows}


def describe_gpu() -> str:
    command = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no NVIDIA GPU"


def faults_of(results: list[dict[str, Any]]) -> list[str]:
    """Wrong answers: TF32 has ten bits, and two builds of a network may round each its own way."""
    found = []
    for result in results:
        for row in result["rows"]:
            where = f"{result['framework']} {result['network']} batch {row['batch']}"
            if not row["off_by"] < 0.02:
                found.append(f"{where}: our answer is off the bare loop's by {row['off_by']:.3g} of the largest score")
            first = next(other for other in results if other["network"] == result["network"])["rows"][0]
            if row["batch"] == first["batch"]:
                one, other = np.array(row["first_answer"]), np.array(first["first_answer"])
                if not np.allclose(one, other, atol=0.02 * np.abs(other).max()):
                    found.append(f"{where}: {one} where another framework has {other}")
    return found


def show(results: list[dict[str, Any]]) -> None:
    table = []
    for result in results:
        for row in result["rows"]:
            p50, parts = row["ours_ms"]["p50"], row["parts_ms"]
            table.append(
                (
                    f"{result['framework']} {result['network']}",
                    row["batch"],
                    f"{p50:.3f}",
                    f"{row['ours_ms']['p99']:.3f}",
                    f"{1000 * row['batch'] / p50:.0f}",
                    *(f"{parts[name]:.3f}" if name in parts else "" for name in PARTS),
                    f"{row['bare_ms']['p50']:.3f}",
                    f"{p50 / row['bare_ms']['p50']:.3f}",
                    f"{row['first_call_ms']:.0f}",
                )
            )
    head = ("ms", "batch", "p50", "p99", "samples/s", "copy in", "run", "copy out", "bare p50", "ratio", "first call")
    harness.print_table(head, table)


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--framework", choices=sorted(PACKAGES), action="append", help="several may be given")
    parser.add_argument("--network", choices=sorted(networks.NETWORKS), action="append")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batches", default=",".join(map(str, BATCHES)))
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    batches = [int(each) for each in arguments.batches.split(",")]
    if arguments.part:
        framework, network = arguments.part
        harness.say(run_part(framework, network, arguments.device, batches, 0.2 if arguments.quick else 4))
        return
    here = [name for name, packages in PACKAGES.items() if all(map(importlib.util.find_spec, packages))]
    results, gpu = [], describe_gpu()
    for framework in arguments.framework or here:
        for network in arguments.network or networks.NETWORKS:
            command = [sys.executable, __file__, "--part", framework, network, "--device", arguments.device]
            command += ["--batches", arguments.batches, *(["--quick"] if arguments.quick else [])]
            results.append(harness.run_child(command).said)
    print(gpu, *sorted({f"{each['framework']} {each['version']}" for each in results}), sep=", ")
    show(results)
    print()
    ratios = [row["ours_ms"]["p50"] / row["bare_ms"]["p50"] for each in results for row in each["rows"]]
    meaning = f"largest p50 that we record / p50 of the bare loop, of {len(ratios)}; median {median(ratios):.3f}"
    harness.finish("gpu", max(ratios), meaning, arguments.quick, {"gpu": gpu, "runs": results}, faults_of(results))


if __name__ == "__main__":
    main()
