"""What our load generator adds to a model's time, beside a bare loop and beside MLPerf's own LoadGen, in turns.

LoadGen is compared where it is installed (`pip install mlcommons-loadgen`). `--verdicts N` also asks N times, on the
machine as it is and with a program beside it that takes a processor, whether a first bench without any hint is stable.
"""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, thread_time_ns
from typing import Any

import harness
import material
import numpy as np
from timed_region import open_ours

from mlmodelscope_worker.messages import RunLoad
from mlmodelscope_worker.predictor import Predictor, Tensor
from mlmodelscope_worker.scenario.load.closed import single_stream
from mlmodelscope_worker.scenario.load.loadgen import drive

ADDED_US, LOOP_PERCENT, LOADGEN_PERCENT = 5, 2, 2
BLOCK = 200  # calls in turn, so that all see the same machine
FOREVER_NS = 10**15


class Null(Predictor):
    """Answers at once."""

    concurrent = True
    inputs = (Tensor("input", "float32", [1, 1]),)
    outputs = (Tensor("output", "float32", [1, 1]),)

    def run(self, tensors: Any) -> Any:
        return tensors


class Inputs:
    """What LoadGen is given to call: the very calls of our own generator."""

    def __init__(self, calls: list[tuple[Any, Any]]) -> None:
        self.calls = calls


class Model:
    """A session as far as LoadGen's driver looks at it."""

    batch_size = 1

    def __init__(self, predictor: Any) -> None:
        self.predictor = predictor


def time_ours(calls: list[tuple[Any, Any]]) -> tuple[list[int], float]:
    """(latencies that we record, CPU nanoseconds of a query with all that is done from the first to the last)."""
    kept = single_stream(calls, BLOCK, FOREVER_NS, perf_counter_ns)
    return [end - due for end, due in zip(kept.ended_ns, kept.due_ns, strict=True)], kept.cpu_ns / BLOCK


def time_bare(call: Callable[[Any], Any], inputs: Any) -> float:
    """CPU nanoseconds that a call takes in a loop that does nothing else."""
    start = thread_time_ns()
    for _ in range(BLOCK):
        call(inputs)
    return (thread_time_ns() - start) / BLOCK


def in_turns(calls: list[tuple[Any, Any]], rounds: int) -> tuple[list[int], list[float], list[float]]:
    """Our latencies, our time for a query and the bare loop's, block by block."""
    call, inputs = calls[0]
    latencies: list[int] = []
    ours, bare = [], []
    gc.disable()
    for turn in range(rounds + 3):
        first_bare = turn % 2 == 0  # whoever comes second finds warmer caches
        if first_bare:
            loop = time_bare(call, inputs)
        raw, whole = time_ours(calls)
        if not first_bare:
            loop = time_bare(call, inputs)
        if turn >= 3:
            latencies += raw
            ours.append(whole)
            bare.append(loop)
    gc.enable()
    return latencies, ours, bare


def beside_loadgen(
    calls: list[tuple[Any, Any]], predictor: Any, rounds: int, seconds: float
) -> dict[str, list[tuple[float, ...]]]:
    """The least, p50 and p90 of each, round after round, in microseconds."""
    found: dict[str, list[tuple[float, ...]]] = {"ours": [], "LoadGen": []}
    expected = time_bare(*calls[0])
    asked = RunLoad(
        [], "single-stream", seconds, queries=64, seed=1, driven="single-stream", expected_ns=float(expected)
    )

    def ours() -> None:
        gc.disable()
        kept = single_stream(calls, 10**6, int(seconds * 1e9), perf_counter_ns)
        gc.enable()
        raw = [(end - due) / 1e3 for end, due in zip(kept.ended_ns, kept.due_ns, strict=True)]
        found["ours"].append(tuple(float(np.percentile(raw, each)) for each in (0, 50, 90)))

    def theirs() -> None:
        said = drive(Inputs(calls), Model(predictor), asked)
        names = ("min_latency_ns", "50.00_percentile_latency_ns", "90.00_percentile_latency_ns")
        found["LoadGen"].append(tuple(said[f"result_{name}"] / 1e3 for name in names))

    for turn in range(rounds):
        for contender in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
            contender()
    return found


def ask_verdicts(place: Path, tries: int, hog: bool) -> list[list[str]]:
    """What a first bench without hints says, each time in a fresh home: the reasons, none where it is stable."""
    from mlmodelscope import Settings
    from mlmodelscope.benching import Request, bench

    place.mkdir()
    model = material.write_small_model(place / "small.onnx")
    steps = {"decode": {}, "resize": {"dimensions": [224, 224]}, "mean": 127.5, "layout": "NCHW"}
    manifest = material.model_manifest(model, "onnxruntime", steps)
    dataset = material.dataset_manifest(material.write_images(place / "pictures", 8))
    found = []
    beside = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if hog else None
    try:
        for turn in range(tries):
            settings = Settings(home=place / f"home-{turn}", cache=place / "cache")
            record = bench(manifest, dataset, request=Request(budget_s=4), settings=settings)
            assert record.bench is not None
            found.append(list(record.bench.stability.because))
    finally:
        if beside is not None:
            beside.kill()
            beside.wait()
    return found


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--no-loadgen", action="store_true", help="do not compare with LoadGen even if it is there")
    parser.add_argument("--verdicts", type=int, default=0, metavar="N", help="ask so many times whether it is stable")
    arguments = parser.parse_args()
    rounds = 20 if arguments.quick else 400
    busy_s, started = harness.machine_busy_s() - time.process_time(), time.perf_counter()
    null = Null()
    with tempfile.TemporaryDirectory() as place:
        session = open_ours(material.write_small_model(Path(place) / "small.onnx"))
    tensor = np.random.default_rng(0).normal(0, 1, (1, 3, 224, 224)).astype(np.float32)
    nothing = [(null.run, [tensor])]
    small = [(session.predictor.run, [tensor])]
    larger = [(session.predictor.run, [np.repeat(tensor, 16, axis=0)])]  # so long that LoadGen's own share is small
    null_raw, null_ours, null_bare = in_turns(nothing, rounds)
    raw, ours, bare = in_turns(small, rounds)
    others_s = harness.machine_busy_s() - time.process_time() - busy_s
    others = others_s / ((time.perf_counter() - started) * harness.cores())
    added_us = (float(np.percentile(null_raw, 50)) - float(np.median(null_bare))) / 1e3
    slower = 100 * (float(np.median(np.array(ours) / np.array(bare))) - 1)
    harness.print_table(
        ("microseconds a query", "p50 recorded", "p90 recorded", "bare loop, CPU", "all in all, CPU"),
        [
            (
                name,
                f"{np.percentile(latencies, 50) / 1e3:.2f}",
                f"{np.percentile(latencies, 90) / 1e3:.2f}",
                f"{np.median(loop) / 1e3:.2f}",
                f"{np.median(whole) / 1e3:.2f}",
            )
            for name, latencies, whole, loop in (
                ("null predictor", null_raw, null_ours, null_bare),
                ("0.1 ms model", raw, ours, bare),
            )
        ],
    )
    print(f"\nothers took {100 * others:.0f} % of the machine meanwhile")
    results: dict[str, Any] = {"null_ns": null_raw[::50], "ours_ns": ours, "bare_ns": bare, "others": others}
    faults = [] if len(raw) == rounds * BLOCK else ["a query is missing"]
    agreement = "not compared: mlcommons-loadgen is not installed, or not wanted"
    if importlib.util.find_spec("mlperf_loadgen") is not None and not arguments.no_loadgen:
        found, agreement = _compare_with_loadgen(session.predictor, small, larger, arguments.quick)
        results |= found
    if arguments.verdicts:
        results |= _count_verdicts(arguments.verdicts)
    print()
    meaning = (
        f"CPU time of a query with our generator / in a bare loop; goals: null predictor p50 <= {ADDED_US} us added, "
        f"seen {added_us:+.2f} us; 0.1 ms model <= {LOOP_PERCENT} % slower, seen {slower:+.2f} %; "
        f"p90 beside LoadGen: {agreement}"
    )
    harness.finish("scenarios", 1 + slower / 100, meaning, arguments.quick, results, faults)


def _compare_with_loadgen(predictor: Any, small: Any, larger: Any, quick: bool) -> tuple[dict[str, Any], str]:
    """(what was measured, how far we are off, in words): the 1 ms model is the one that counts."""
    results: dict[str, Any] = {}
    rows, agreement = [], ""
    for name, calls in (("0.1 ms model", small), ("1 ms model", larger)):
        turns, seconds = (4, 0.2) if quick else (40, 0.5)
        found = beside_loadgen(calls, predictor, turns, seconds)
        mine, theirs = np.array(found["ours"]), np.array(found["LoadGen"])
        off = 100 * (np.median(mine / theirs, axis=0) - 1)
        for place, percentile in enumerate(("least", "p50", "p90")):
            spreads = (harness.spread(list(each[:, place]), 1) for each in (mine, theirs))
            rows.append((f"{name}, {percentile}", *spreads, f"{off[place]:+.2f} %"))
        agreement = (
            f"goal within {LOADGEN_PERCENT} % for the 1 ms model, seen {off[2]:+.2f} % "
            f"(p50 {off[1]:+.2f} %, least {off[0]:+.2f} %)"
        )
        results[f"loadgen_us, {name}"] = found
    print()
    harness.print_table(("microseconds, in turns", "ours", "LoadGen", "difference"), rows)
    return results, agreement


def _count_verdicts(count: int) -> dict[str, Any]:
    """Why benches were unstable, as the machine is and beside a hog."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for hog in (False, True):
            reasons = ask_verdicts(Path(place) / str(hog), count, hog)
            unstable = sum(bool(each) for each in reasons)
            print(f"\n{'beside a hog' if hog else 'as it is'}: unstable in {unstable} of {len(reasons)} benches")
            for reason in sorted({reason for each in reasons for reason in each})[:5]:
                print(f"  {reason}")
            results["hog" if hog else "quiet"] = reasons
    return results


if __name__ == "__main__":
    main()
