"""The measuring process: read a question, compute, answer."""

from __future__ import annotations

import os
import platform
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.measure.difference_pattern import patterns
from mlmodelscope.measure.feature_maps import feature_maps
from mlmodelscope.measure.folded import folded, is_bias
from mlmodelscope.measure.interval import intervals, paired
from mlmodelscope.measure.layer_values import compare_files
from mlmodelscope.measure.rule import (
    RULES,
    ScoreError,
    reasons_of,
    refuse_numbers,
    refuse_scores,
    rule_of,
    scores_of,
)
from mlmodelscope.measure.weight_values import compare_weights, sums
from mlmodelscope_worker.protocol import Channel, Closed

_PACKAGES = {"faster_coco_eval": "faster-coco-eval", "sacrebleu": "sacrebleu", "rapidfuzz": "rapidfuzz"}
"""What rules import when they need it."""
Answer = tuple[dict[str, Any], Sequence[bytes]]


def score(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Each sample's score, or why there is none."""
    rule, remaining = rule_of(asked["task"]), iter(buffers)
    items = [
        (
            {name: np.frombuffer(next(remaining), dtype).reshape(shape) for name, dtype, shape in item["arrays"]},
            item["fields"],
            item["target"],
        )
        for item in asked["items"]
    ]
    with RULES.blaming(asked["task"]):
        told = scores_of(rule, items, asked["options"])
        if RULES.origin(asked["task"]) is not None:
            refuse_scores(told, len(items))
    errors = {str(place): str(each) for place, each in enumerate(told) if isinstance(each, ScoreError)}
    return {"errors": errors}, [each for each in told if not isinstance(each, ScoreError)]


def measure(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Numbers over all samples, with their intervals where those are wanted."""
    rule = rule_of(asked["task"])
    with RULES.blaming(asked["task"]):
        found = rule.numbers(buffers, asked["names"], None)
        details = rule.details(buffers) if asked["with_details"] else {}
        if RULES.origin(asked["task"]) is not None:
            refuse_numbers(found, details)
        ends = intervals(rule, buffers, found) if asked["with_intervals"] else {}
        reasons = reasons_of(rule, buffers, [name for name in asked["names"] if name not in found])
    return {"numbers": found, "intervals": ends, "details": details, "reasons": reasons}, ()


def difference(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """How far a measure moves between two answers to the same samples, and how sure that is."""
    rule, half = rule_of(asked["task"]), len(buffers) // 2
    with RULES.blaming(asked["task"]):
        value, spread = paired(rule, buffers[:half], buffers[half:], asked["name"])
    return {"value": value, "spread": spread}, ()


def versions(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """What the numbers were computed with."""
    found = {"python": platform.python_version(), "numpy": np.__version__}
    for module, package in _PACKAGES.items():
        if module in sys.modules:
            found[package] = version(package)
    plugin = RULES.origin(asked["task"])
    if plugin is not None:
        found[plugin.package] = plugin.version
    return {"versions": found}, ()


def load(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Whether there is a rule of this name, and whether it can be used."""
    rule_of(asked["task"])
    return {}, ()


def compare_layers(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """How far tensors of two models are apart, which lie in files of a folder."""
    return {"apart": compare_files(Path(asked["folder"]), asked["pairs"])}, ()


def difference_patterns(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """What the numbers of two tensors say about the mistake between them."""
    return {"found": patterns(Path(asked["folder"]), asked["pair"])}, ()


def draw_feature_maps(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Two tensors as pictures; none where there is nothing to draw."""
    return {"found": feature_maps(Path(asked["folder"]), asked["pair"])}, ()


def weight_sums(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Sums over a tensor of weights."""
    return {"sums": sums(asked["told"], buffers[0])}, ()


def weights_compared(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """What one tensor of weights is to another."""
    return {"found": compare_weights(asked["one"], buffers[0], asked["other"], buffers[1])}, ()


def fold(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Whether a normalization was multiplied into weights."""
    return {"found": folded(asked["told"], buffers)}, ()


def folded_bias(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Whether a tensor is the bias that it left."""
    return {"found": is_bias(asked["told"], buffers[0], asked["expected"])}, ()


_DO: dict[str, Callable[[dict[str, Any], Sequence[bytes]], Answer]] = {
    "score": score,
    "measure": measure,
    "difference": difference,
    "versions": versions,
    "load": load,
    "compare_layers": compare_layers,
    "difference_patterns": difference_patterns,
    "feature_maps": draw_feature_maps,
    "weight_sums": weight_sums,
    "compare_weights": weights_compared,
    "folded": fold,
    "is_bias": folded_bias,
}


def main() -> None:
    os.dup2(2, 1)  # whatever a stranger's rule prints must not stand among the results that a program reads
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    while True:
        try:
            asked, buffers = channel.receive()
        except Closed:
            return
        try:
            told, found = _DO[asked["do"]](asked, buffers)
        except MLModelScopeError as error:
            told, found = {"refused": error.message, "hint": error.hint, "kind": type(error).__name__}, ()
        except Exception as error:
            told, found = {"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}, ()
        channel.send(told, found)


if __name__ == "__main__":
    main()
