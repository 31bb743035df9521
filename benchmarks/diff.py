"""Peak memory and time of `diff` on a network of 100 layers, beside plain forward passes that also read their layers.

The plain loop opens both models with ONNX Runtime, runs each once, and once more with every layer as an output, which
it writes to files: what a script does that looks at layers. `diff` does the same in two workers, pairs and compares the
layers, and names the one that differs. Memory is that of the largest process of each.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import harness

GOAL_TIME, GOAL_LAYERS = 3.0, 2.0
BLOCKS, BATCH = 33, 8
CHANNELS, SIDE = 32, 56
WORKER, RULER = "mlmodelscope_worker", "mlmodelscope.measure"


def write_models(folder: Path, blocks: int) -> int:
    """Convolutions, normalizations and activations, and the same with a fault in the middle; how many layers."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    nodes, weights, taken = [], [], "x"
    for block in range(blocks):
        inside = 3 if block == 0 else CHANNELS
        own = f"block{block}"
        kernel = (random.normal(size=(CHANNELS, inside, 3, 3)) * (2 / (inside * 9)) ** 0.5).astype("f4")
        weights.append(numpy_helper.from_array(kernel, f"{own}.weight"))
        for name, values in (
            ("scale", np.ones(CHANNELS)),
            ("shift", random.normal(size=CHANNELS) * 0.1),
            ("mean", np.zeros(CHANNELS)),
            ("variance", np.ones(CHANNELS)),
        ):
            weights.append(numpy_helper.from_array(values.astype("f4"), f"{own}.{name}"))
        norm = [f"{own}.conv", *(f"{own}.{name}" for name in ("scale", "shift", "mean", "variance"))]
        nodes += [
            helper.make_node("Conv", [taken, f"{own}.weight"], [f"{own}.conv"], name=f"{own}.conv", pads=[1] * 4),
            helper.make_node("BatchNormalization", norm, [f"{own}.norm"], name=f"{own}.norm"),
            helper.make_node("Relu", [f"{own}.norm"], [f"{own}.relu"], name=f"{own}.relu"),
        ]
        taken = f"{own}.relu"
    nodes.append(helper.make_node("GlobalAveragePool", [taken], ["y"], name="pool"))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", CHANNELS, 1, 1])
    graph = helper.make_graph(nodes, "deep", [given], [made], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (folder / "a.onnx").write_bytes(model.SerializeToString())
    middle = model.graph.node[3 * (blocks // 2) + 1]
    middle.attribute.append(onnx.helper.make_attribute("epsilon", 1e-2))
    (folder / "b.onnx").write_bytes(model.SerializeToString())
    return len(model.graph.node)


def run_plain(folder: Path) -> dict[str, Any]:
    """Both models: a run, and one with every layer, which is written to a file."""
    import numpy as np
    import onnx
    import onnxruntime

    given = np.random.default_rng(0).normal(size=(BATCH, 3, SIDE, SIDE)).astype("f4")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    start = time.perf_counter()
    for name in "ab":
        place = folder / f"{name}.onnx"
        onnxruntime.InferenceSession(str(place), options).run(None, {"x": given})
        model = onnx.load(place)
        names = [node.output[0] for node in model.graph.node][:-1]
        model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(each) for each in names)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        for number, value in enumerate(session.run(None, {"x": given})):
            (folder / f"{name}{number}.raw").write_bytes(value.tobytes())
    return {"wall_s": time.perf_counter() - start, "peak_mib": peak_mib(os.getpid())}


def run_open(folder: Path) -> dict[str, Any]:
    """A worker whose model is open, and then one that has run it once on the same input, with no layer read."""
    from mlmodelscope.diff.side import Place, Side
    from mlmodelscope.settings import Settings
    from mlmodelscope.watcher import Watcher

    settings = Settings(home=folder / "home", cache=folder / "cache")
    place = Place(settings, Watcher(), False, folder, 1 << 30)
    watch, tensor = Watch(), {"name": "x", "element_type": "float32", "shape": [BATCH, 3, SIDE, SIDE]}
    with Side("A", side(folder, "a"), None, 1, place).open() as worker:
        time.sleep(0.2)  # long enough to be looked at
        opened = watch.seen(WORKER)
        worker.infer([tensor], [bytes(BATCH * 3 * SIDE * SIDE * 4)])
        time.sleep(0.2)
        return {"peak_mib": watch.end()[WORKER], "opened_mib": opened}


def run_ours(folder: Path) -> dict[str, Any]:
    from mlmodelscope.diff.diff import diff
    from mlmodelscope.diff.side import RandomInput
    from mlmodelscope.settings import Settings

    settings = Settings(home=folder / "home", cache=folder / "cache")
    watch = Watch()
    start = time.perf_counter()
    found = diff(side(folder, "a"), side(folder, "b"), random=RandomInput(0, BATCH), settings=settings)
    wall_s = time.perf_counter() - start
    return {"wall_s": wall_s, "peaks_mib": watch.end(), "named": found.named, "layers": len(found.pairs)}


def side(folder: Path, name: str) -> Any:
    from mlmodelscope.diff.side import SideRequest
    from mlmodelscope.manifest.load import load_manifest
    from mlmodelscope.manifest.schema import ModelManifest

    manifest = load_manifest(
        {
            "name": name,
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "onnxruntime"},
            "inputs": [{"type": "image", "element_type": "float32"}],
            "outputs": [{"type": "logits", "layer_name": 0}],
            "source": {"graph_path": str(folder / f"{name}.onnx")},
        }
    )
    assert isinstance(manifest, ModelManifest)
    return SideRequest(manifest)


class Watch:
    """The highest memory of each kind of child process, looked at while they run."""

    def __init__(self) -> None:
        self._peaks: dict[str, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def seen(self, kind: str) -> float:
        return self._peaks.get(kind, 0.0)

    def end(self) -> dict[str, float]:
        self._ended.set()
        self._thread.join()
        return {**self._peaks, "host": peak_mib(os.getpid())}

    def _look(self) -> None:
        while not self._ended.wait(0.02):
            for place in Path("/proc").glob("[0-9]*"):
                try:
                    if f"PPid:\t{os.getpid()}\n" not in (place / "status").read_text():
                        continue
                    command = (place / "cmdline").read_bytes().decode(errors="replace")
                except OSError:  # it ended
                    continue
                kind = next((kind for kind in (RULER, WORKER) if kind in command), None)
                if kind is not None:
                    self._peaks[kind] = max(self._peaks.get(kind, 0.0), peak_mib(int(place.name)))


def peak_mib(process: int) -> float:
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


PARTS = {"plain": run_plain, "open": run_open, "diff": run_ours}


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs=2, help="for the benchmark itself: contender, folder")
    arguments = parser.parse_args()
    if arguments.part:
        harness.say(PARTS[arguments.part[0]](Path(arguments.part[1])))
        return
    rounds = 1 if arguments.quick else 3
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        layers = write_models(folder, BLOCKS)
        contenders = {
            name: (lambda name=name: harness.run_child(harness.part(__file__, name, folder)).said) for name in PARTS
        }
        seen = harness.interleave(contenders, rounds)
    largest_mib = BATCH * CHANNELS * SIDE * SIDE * 4 / (1 << 20)
    ran, opened = (max(each[name] for each in seen["open"]) for name in ("peak_mib", "opened_mib"))
    worker = max(each["peaks_mib"].get(WORKER, 0.0) for each in seen["diff"])
    beyond = (worker - ran) / largest_mib
    ratio = min(each["wall_s"] for each in seen["diff"]) / min(each["wall_s"] for each in seen["plain"])
    rows = [
        ("plain loop", f"{max(each['peak_mib'] for each in seen['plain']):.1f}", harness.spread(walls(seen["plain"]))),
        ("a worker, its model open", f"{opened:.1f}", ""),
        ("a worker that ran its model", f"{ran:.1f}", ""),
        ("diff, a worker", f"{worker:.1f}", harness.spread(walls(seen["diff"]))),
    ]
    for kind, name in ((RULER, "diff, what compares"), ("host", "diff, the host")):
        rows.append((name, f"{max(each['peaks_mib'].get(kind, 0.0) for each in seen['diff']):.1f}", ""))
    print(f"{layers} layers, batch of {BATCH}, the largest layer has {largest_mib:.2f} MiB")
    harness.print_table(("", "peak, MiB", "seconds"), rows)
    faults = [f"diff named {each['named']}" for each in seen["diff"] if each["named"] != f"block{BLOCKS // 2}.norm"]
    meaning = (
        f"time of diff / two plain passes that read their layers; goal <= {GOAL_TIME:g}; memory beyond a worker that "
        f"ran the model: {beyond:.1f} of the largest layer, goal <= {GOAL_LAYERS:g}"
    )
    harness.finish(
        "diff",
        ratio,
        meaning,
        arguments.quick,
        {**seen, "layers_beyond_a_run": beyond, "layers_beyond_the_open_model": (worker - opened) / largest_mib},
        faults,
    )


def walls(said: list[dict[str, Any]]) -> list[float]:
    return [each["wall_s"] for each in said]


if __name__ == "__main__":
    main()
