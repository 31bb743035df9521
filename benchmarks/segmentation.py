"""What mean IoU costs beside a bare numpy loop: 500 pictures of 500 x 500 pixels and 21 classes, in one process.

Both read the same PNG files with Pillow, whose time is measured first and taken off. The bare loop adds up one
confusion matrix; ours keeps a score for each sample, and has all five numbers, their intervals and the details.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import harness
import numpy as np

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.picture import read_indices, read_sent
from mlmodelscope.measure.segmentation import MEASURES, RULE
from mlmodelscope_worker.png import write_png

CLASSES, SIDE, GOAL_S = 21, 500, 2.0
Sample = tuple[dict[str, np.ndarray], dict[str, Any], dict[str, Any]]


def made(folder: Path, count: int) -> list[Sample]:
    """Blocks of classes as segmentations have them, a tenth of them answered wrong; void pixels among them."""
    chance, found = np.random.default_rng(0), []
    for number in range(count):
        blocks = chance.integers(0, CLASSES, (25, 25))
        told = np.where(chance.random(blocks.shape) < 0.1, chance.integers(0, CLASSES, blocks.shape), blocks)
        truth = np.where(chance.random(blocks.shape) < 0.02, 255, blocks)
        truth, told = (np.kron(each, np.ones((SIDE // 25, SIDE // 25))).astype(np.uint8) for each in (truth, told))
        (folder / f"{number}.png").write_bytes(write_png(truth))
        fields = {"size": [SIDE, SIDE], "none": 255, "covered": [0, 0, SIDE, SIDE]}
        target = {"mask": {"file": str(folder / f"{number}.png")}, "labels": {"classes": CLASSES}}
        found.append(({"map": np.frombuffer(write_png(told), np.uint8)}, fields, target))
    return found


def reading(samples: list[Sample]) -> None:
    for arrays, _, target in samples:
        read_sent(arrays["map"])
        read_indices(target["mask"]["file"])


def bare(samples: list[Sample]) -> float:
    matrix = np.zeros((CLASSES, CLASSES), np.int64)
    for arrays, _, target in samples:
        told, truth = read_sent(arrays["map"]), read_indices(target["mask"]["file"])
        known = truth != 255
        pairs = CLASSES * truth[known].astype(int) + told[known]
        matrix += np.bincount(pairs, minlength=CLASSES**2).reshape(CLASSES, CLASSES)
    shared = np.diag(matrix)
    return float(np.mean(shared / (matrix.sum(axis=0) + matrix.sum(axis=1) - shared)))


def ours(samples: list[Sample]) -> float:
    options = {"void": 255, "absent": "skip", "uncovered": "wrong"}
    scores = [RULE.score(*each, options) for each in samples]
    found = RULE.numbers(scores, MEASURES, None)
    intervals(RULE, scores, found)
    RULE.details(scores)
    return found["miou"]


def cpu_s(call: Callable[[list[Sample]], Any], samples: list[Sample]) -> tuple[float, Any]:
    start = time.process_time()
    told = call(samples)
    return time.process_time() - start, told


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, times = (50, 1) if arguments.quick else (500, 5)
    with tempfile.TemporaryDirectory() as folder:
        samples = made(Path(folder), count)
        cpu_s(ours, samples[:2])  # whatever is imported late
        runs = [{name: cpu_s(call, samples) for name, call in CALLS.items()} for _ in range(times)]
    faults: list[str] = []
    if abs(runs[0]["bare loop"][1] - runs[0]["ours"][1]) > 1e-12:
        faults = ["the bare loop has another number"]
    read_s = median(each["reading"][0] for each in runs)
    beyond = {name: median(each[name][0] for each in runs) - read_s for name in ("bare loop", "ours")}
    rows = [("reading", f"{read_s:.3f}"), *((name, f"{each:.3f}") for name, each in beyond.items())]
    harness.print_table((f"{count} pictures of {SIDE} x {SIDE}", "CPU s (beyond reading)"), rows)
    print(f"\ngoal for 500 pictures: {GOAL_S:g} s beyond reading; here {beyond['ours'] * 500 / count:.2f} s")
    results = {"reading_s": read_s, "bare_s": beyond["bare loop"], "ours_s": beyond["ours"], "pictures": count}
    meaning = "CPU time beyond reading, ours / a bare numpy loop"
    harness.finish("segmentation", beyond["ours"] / beyond["bare loop"], meaning, arguments.quick, results, faults)


CALLS: dict[str, Callable[[list[Sample]], Any]] = {"reading": reading, "bare loop": bare, "ours": ours}


if __name__ == "__main__":
    main()
