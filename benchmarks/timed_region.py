"""What we add to the time of a framework call that we report: ours and the bare call of the same model, interleaved."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import harness
import material
import numpy as np

from mlmodelscope_worker.messages import PredictorTask, Task
from mlmodelscope_worker.scenario.offline import Batch
from mlmodelscope_worker.scenario.single_stream import measure_latency
from mlmodelscope_worker.session import Session

GOAL_US = 20
BESIDE = {"latency that we record": "bare call, same input", "run_ns that we record": "bare call, new input"}
CALLS = 50  # of each in turn, so that all of them see the same machine


def open_bare(model: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def open_ours(model: Path) -> Session:
    """The worker's own session, as it stands in a worker process."""
    return Session(
        Task(
            PredictorTask("onnxruntime", {"graph": str(model)}, {"threads": 1}),
            inputs=[{"part": "image", "layer_name": None, "element_type": "float32", "steps": []}],
            outputs=[{"role": "logits", "layer_name": None, "place": 0, "steps": []}],
            answer={"steps": [], "probabilities": False, "top_k": 5, "label_offset": 0},
            batch_size=1,
        )
    )


def time_bare(session: Any, tensor: Any, fresh: bool) -> list[int]:
    """The call alone; with `fresh` its input is written anew each time, as in an evaluation, and is in other caches."""
    raw, held = [0] * CALLS, tensor.copy()
    feed = {"images": held}
    for call in range(CALLS):
        if fresh:
            held[...] = tensor
        start = perf_counter_ns()
        session.run(["logits"], feed)
        raw[call] = perf_counter_ns() - start
    return raw


def time_single_stream(session: Session, tensor: Any) -> list[int]:
    """What `latency` in a record is made of."""
    _, raw = measure_latency(session.predictor, [tensor], warm_up_runs=0, max_runs=CALLS, budget_s=60)
    return raw


def time_evaluation(session: Session, tensor: Any) -> list[int]:
    """`run_ns` of each batch, as a dataset evaluation records it."""
    raw = []
    for call in range(CALLS):
        batch = Batch(call, [{}], [])
        batch.tensors = [tensor[0]]
        answer, _ = session.infer(batch)
        raw.append(answer.run_ns)
    return raw


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory() as place:
        model = material.write_small_model(Path(place) / "small.onnx")
        bare, ours = open_bare(model), open_ours(model)
    tensor = np.random.default_rng(0).normal(0, 1, (1, 3, 224, 224)).astype(np.float32)
    faults = []
    if not np.array_equal(bare.run(["logits"], {"images": tensor})[0], ours.predictor.run([tensor])[0]):
        faults.append("the predictor's answer is not the bare session's")
    contenders = {
        "bare call, same input": lambda: time_bare(bare, tensor, fresh=False),
        "latency that we record": lambda: time_single_stream(ours, tensor),
        "bare call, new input": lambda: time_bare(bare, tensor, fresh=True),
        "run_ns that we record": lambda: time_evaluation(ours, tensor),
    }
    harness.interleave(contenders, 5)  # uncounted
    seen = harness.interleave(contenders, 20 if arguments.quick else 400)
    percentiles = {
        name: {f"p{p}_us": float(np.percentile(np.concatenate(raw), p)) / 1e3 for p in (10, 50, 90, 99)}
        for name, raw in seen.items()
    }
    added = {name: percentiles[name]["p50_us"] - percentiles[base]["p50_us"] for name, base in BESIDE.items()}
    harness.print_table(
        ("microseconds", "p10", "p50", "p90", "p99", "added at p50"),
        [
            (name, *(f"{value:.1f}" for value in values.values()), f"{added[name]:+.1f}" if name in added else "")
            for name, values in percentiles.items()
        ],
    )
    print()
    worst = max(added, key=added.__getitem__)
    ratio = percentiles[worst]["p50_us"] / percentiles[BESIDE[worst]]["p50_us"]
    meaning = f"p50 that we record / p50 of the bare call; goal <= {GOAL_US} us more, seen {added[worst]:.1f} us more"
    harness.finish("timed_region", ratio, meaning, arguments.quick, percentiles, faults)


if __name__ == "__main__":
    main()
