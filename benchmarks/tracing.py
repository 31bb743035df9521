"""What tracing costs: nothing while it is off, beside a worker without any of it; and little at the model's level.

The worker without tracing is a copy of its source from which the request, and the file behind it, are taken out.
"""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import harness
import material
import numpy as np

import mlmodelscope_worker

OFF_GOAL, MODEL_GOAL = 1.0, 2.0
SAMPLES = 32
BLOCK = 8  # batches in turn: so few that both workers see the same machine


def make_task(model: str, batch_size: int) -> dict[str, Any]:
    from mlmodelscope_worker.pipeline import STEPS

    written = [("decode", None), ("resize", {"dimensions": [224, 224]}), ("mean", 127.5), ("layout", "NCHW")]
    steps = [{"name": name, "parameters": STEPS[name].resolve(value)} for name, value in written]
    return {
        "predictor": {"name": "onnxruntime", "files": {"graph": model}, "options": {"threads": 1}},
        "inputs": [{"part": "image", "layer_name": None, "element_type": "float32", "steps": steps}],
        "outputs": [{"role": "logits", "layer_name": None, "place": 0, "steps": []}],
        "answer": {"steps": [], "probabilities": False, "top_k": 5, "label_offset": 0},
        "batch_size": batch_size,
    }


def copy_without(folder: Path) -> Path:
    """The worker's source as it would be if nobody had thought of tracing."""
    package = Path(mlmodelscope_worker.__file__).parent
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / package.name / "scenario" / "traced.py").unlink()
    main = folder / package.name / "main.py"
    text = main.read_text()
    start, end = text.index("    def trace(self"), text.index("    def train(self")
    changed = (text[:start] + text[end:]).replace('"trace", ', "")
    assert "trace(" not in changed and '"trace"' not in changed
    main.write_text(changed)
    return folder


class Worker:
    """A worker's desk with a model open, in this process; where its source lies says which worker it is."""

    def __init__(self, source: str, model: str, paths: list[str]) -> None:
        sys.path.insert(0, source)
        for name in [name for name in sys.modules if name.split(".")[0] == "mlmodelscope_worker"]:
            del sys.modules[name]
        from mlmodelscope_worker import main

        sys.path.remove(source)
        assert main.__file__ is not None and main.__file__.startswith(source)
        self._paths = paths
        self._answered = 0
        self._all = threading.Event()
        self._wanted = 0
        self.errors = 0
        self._desk = main.Desk(self)
        self._read = functools.partial(main.from_header, main.REQUESTS)
        self._desk.open(self._read({"do": "open", "task": make_task(model, 1)}), [])

    def send(self, header: Any, buffers: Any = ()) -> None:
        """What the desk answers comes here."""
        if header["do"] == "answers":
            self._answered += len(header["answers"])
            self.errors += sum(bool(answer["errors"]) for answer in header["answers"])
            if self._answered >= self._wanted:
                self._all.set()

    def block(self) -> float:
        """CPU milliseconds of a batch, in a short block of them."""
        content = [{"batch": n, "samples": [{"file": self._paths[n % len(self._paths)]}]} for n in range(BLOCK)]
        self._answered, self._wanted = 0, BLOCK
        self._all.clear()
        cpu_s = time.process_time()
        self._desk.batches(self._read({"do": "batches", "batches": content, "threads": 1, "lanes": 1}), [])
        self._all.wait()
        return 1e3 * (time.process_time() - cpu_s) / BLOCK

    def close(self) -> None:
        self._desk.close()


def trace_model(model: str, paths: list[str], runs: int) -> tuple[list[int], list[int], list[str]]:
    """Nanoseconds of the same batches, plain and traced, which take turns in the worker itself."""
    from mlmodelscope_worker.messages import REQUESTS, Trace, from_header
    from mlmodelscope_worker.scenario.traced import trace
    from mlmodelscope_worker.session import Session

    session = Session(from_header(REQUESTS, {"do": "open", "task": make_task(model, 1)}).task)
    samples = [{"file": path} for path in paths]
    plain, model_run = (run["spans"] for run in trace(session, Trace(samples, "model", runs, 5), []).runs)
    durations = [
        [end - start for name, _, start, end, _, _ in spans if name == "batch"] for spans in (plain, model_run)
    ]
    faults = [] if len(durations[0]) == len(durations[1]) == runs else ["a traced batch is missing"]
    return durations[0], durations[1], faults


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    blocks, runs = (20, 60) if arguments.quick else (300, 600)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = str(material.write_small_model(folder / "small.onnx"))
        paths = sorted(map(str, material.write_images(folder / "pictures", SAMPLES).glob("*.jpg")))
        plain, traced, faults = trace_model(model, paths, runs)
        here = str(Path(mlmodelscope_worker.__file__).parent.parent)
        workers = {
            "tracing off": Worker(here, model, paths),
            "without tracing": Worker(str(copy_without(folder / "without")), model, paths),
        }
        turns = {name: worker.block for name, worker in workers.items()}
        harness.interleave(turns, 3)  # uncounted
        off: dict[str, list[float]] = {name: [] for name in turns}
        for turn in range(blocks):  # whoever comes second finds warmer caches, so each does half of the times
            order = list(turns.items())[:: 1 if turn % 2 else -1]
            for name, values in harness.interleave(dict(order), 1).items():
                off[name] += values
        faults += [f"{name}: {worker.errors} batches failed" for name, worker in workers.items() if worker.errors]
        for worker in workers.values():
            worker.close()
    ratios = np.array(traced) / np.array(plain)
    pairs = np.array(off["tracing off"]) / np.array(off["without tracing"])
    off_percent = 100 * (float(np.median(pairs)) - 1)
    model_percent = 100 * (float(np.median(ratios)) - 1)
    harness.print_table(
        ("CPU ms a batch", "median (lowest … highest)"),
        [(name, harness.spread(values, 3)) for name, values in off.items()],
    )
    print()
    harness.print_table(
        ("wall ms a batch", "p25", "p50", "p75"),
        [
            (name, *(f"{np.percentile(values, p) / 1e6:.3f}" for p in (25, 50, 75)))
            for name, values in (("plain", plain), ("traced at the model's level", traced))
        ],
    )
    print()
    ratio = 1 + max(off_percent, model_percent) / 100
    meaning = (
        f"time of a batch with / without, the worse of two; goals: "
        f"off <= {OFF_GOAL} % more, seen {off_percent:+.2f} %; "
        f"model level <= {MODEL_GOAL} % more, seen {model_percent:+.2f} %"
    )
    results = {"off_cpu_ms": off, "plain_ns": plain, "traced_ns": traced}
    harness.finish("tracing", ratio, meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
