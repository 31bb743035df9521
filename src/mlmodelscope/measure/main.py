"""The measuring process: read a question, compute, answer."""

from __future__ import annotations

import platform
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from mlmodelscope.measure.interval import intervals, paired
from mlmodelscope.measure.rule import ScoreError, rule_of, scores_of
from mlmodelscope_worker.protocol import Channel, Closed

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
    told = scores_of(rule, items, asked["options"])
    errors = {str(place): str(each) for place, each in enumerate(told) if isinstance(each, ScoreError)}
    return {"errors": errors}, [each for each in told if not isinstance(each, ScoreError)]


def measure(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """Numbers over all samples, with their intervals where those are wanted."""
    rule = rule_of(asked["task"])
    found = rule.numbers(buffers, asked["names"], None)
    ends = intervals(rule, buffers, found) if asked["with_intervals"] else {}
    details = rule.details(buffers) if asked["with_details"] else {}
    return {"numbers": found, "intervals": ends, "details": details}, ()


def difference(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """How far a measure moves between two answers to the same samples, and how sure that is."""
    half = len(buffers) // 2
    value, spread = paired(rule_of(asked["task"]), buffers[:half], buffers[half:], asked["name"])
    return {"value": value, "spread": spread}, ()


def versions(asked: dict[str, Any], buffers: Sequence[bytes]) -> Answer:
    """What the numbers were computed with."""
    found = {"python": platform.python_version(), "numpy": np.__version__}
    if "faster_coco_eval" in sys.modules:
        found["faster-coco-eval"] = version("faster-coco-eval")
    return {"versions": found}, ()


_DO: dict[str, Callable[[dict[str, Any], Sequence[bytes]], Answer]] = {
    "score": score,
    "measure": measure,
    "difference": difference,
    "versions": versions,
}


def main() -> None:
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    while True:
        try:
            asked, buffers = channel.receive()
        except Closed:
            return
        try:
            told, found = _DO[asked["do"]](asked, buffers)
        except Exception as error:
            told, found = {"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}, ()
        channel.send(told, found)


if __name__ == "__main__":
    main()
