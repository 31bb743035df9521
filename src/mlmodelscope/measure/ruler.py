"""The host's end of the measuring process: it is started when a task needs it, and asked."""

from __future__ import annotations

import atexit
import importlib.util
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlmodelscope.confine.import_path import environment, import_path
from mlmodelscope.errors import MetricError, PluginError
from mlmodelscope.extras import install_extra
from mlmodelscope.layer.feature_maps import FeatureMaps
from mlmodelscope.plugins.installed import PREFIX, plugins_in
from mlmodelscope.settings import measuring_timeout_s
from mlmodelscope.types import Interval
from mlmodelscope_worker.protocol import Channel, Closed

_AT_ONCE = 64
"""Samples that are scored with one question."""
_TO_END_S = 10
"""What a process that has closed its end may take to be gone."""


@dataclass(frozen=True)
class Item:
    """One sample to score: its answer as it travelled, and what is true of it."""

    arrays: Sequence[tuple[str, str, Sequence[int], bytes]]
    """Name, element type, shape and content."""
    fields: Mapping[str, Any]
    target: Any


@dataclass(frozen=True)
class Failure:
    """Why a sample has no score."""

    reason: str


@dataclass(frozen=True)
class Measurement:
    """Numbers over some samples."""

    numbers: Mapping[str, float]
    intervals: Mapping[str, Interval]
    details: Mapping[str, Any]
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a number was left out, where the rule can tell."""


class Ruler:
    """A measuring process. Threads may share it; one asks at a time."""

    def __init__(self) -> None:
        if importlib.util.find_spec("numpy") is None:
            raise MetricError("measuring this task needs numpy", hint=install_extra("measure"))
        self._timeout_s = measuring_timeout_s()
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self.path = import_path()
        ours, theirs = socket.socketpair()
        with theirs:
            # -P: what lies in the folder that we happen to be in is not imported.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mlmodelscope.measure.main", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=environment(),
                start_new_session=True,  # Ctrl-C is the host's to handle
            )
        ours.settimeout(self._timeout_s)
        self._channel = Channel(ours)

    def close(self) -> None:
        self._channel.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def score(self, task: str, options: Mapping[str, Any], items: Sequence[Item]) -> list[bytes | Failure]:
        """A score for each sample, or the reason why there is none."""
        found: list[bytes | Failure] = []
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            told = [
                {"arrays": [each[:3] for each in item.arrays], "fields": item.fields, "target": item.target}
                for item in part
            ]
            buffers = [each[3] for item in part for each in item.arrays]
            answer, scores = self._ask({"do": "score", "task": task, "options": options, "items": told}, buffers)
            errors, remaining = answer["errors"], iter(scores)
            found += [Failure(errors[str(at)]) if str(at) in errors else next(remaining) for at in range(len(part))]
        return found

    def measure(
        self,
        task: str,
        scores: Sequence[bytes],
        names: Sequence[str],
        with_intervals: bool = True,
        with_details: bool = False,
    ) -> Measurement:
        """Measures over samples; what cannot be computed of them is left out."""
        asked = {"names": list(names), "with_intervals": with_intervals, "with_details": with_details}
        answer, _ = self._ask({"do": "measure", "task": task, **asked}, scores)
        intervals = {name: Interval(*ends) for name, ends in answer["intervals"].items()}
        return Measurement(answer["numbers"], intervals, answer["details"], answer["reasons"])

    def difference(self, task: str, name: str, before: Sequence[bytes], after: Sequence[bytes]) -> tuple[float, float]:
        """(after minus before, its standard deviation) on the same samples."""
        answer, _ = self._ask({"do": "difference", "task": task, "name": name}, [*before, *after])
        return answer["value"], answer["spread"]

    def versions(self, task: str) -> dict[str, str]:
        """What the numbers of a task are computed with."""
        found: dict[str, str] = self._ask({"do": "versions", "task": task}, ())[0]["versions"]
        return found

    def load(self, task: str) -> None:
        """PluginError where the rule of a task cannot be used."""
        self._ask({"do": "load", "task": task}, ())

    def compare_layers(self, folder: Path, pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """How far each pair of tensors is apart; they lie in files of a folder."""
        found: list[dict[str, Any]] = []
        for start in range(0, len(pairs), _AT_ONCE):
            asked = {"do": "compare_layers", "task": "layers", "folder": str(folder)}
            answer, _ = self._ask({**asked, "pairs": [dict(each) for each in pairs[start : start + _AT_ONCE]]}, ())
            found += answer["apart"]
        return found

    def difference_patterns(self, folder: Path, pair: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What the numbers of two tensors say about the mistake between them, the likeliest first."""
        asked = {"do": "difference_patterns", "task": "layers", "folder": str(folder), "pair": dict(pair)}
        found: list[dict[str, Any]] = self._ask(asked, ())[0]["found"]
        return found

    def feature_maps(self, folder: Path, pair: Mapping[str, Any]) -> FeatureMaps | None:
        """Two tensors as pictures side by side; None where there is nothing to draw."""
        asked = {"do": "feature_maps", "task": "layers", "folder": str(folder), "pair": dict(pair)}
        found = self._ask(asked, ())[0]["found"]
        if found is None:
            return None
        return FeatureMaps(**{**found, "channels": tuple(found["channels"]), "size": tuple(found["size"])})

    def weight_sums(self, told: Mapping[str, Any], content: bytes) -> list[float]:
        """Sums over a tensor of weights that do not depend on the order of its axes."""
        found: list[float] = self._ask({"do": "weight_sums", "task": "weights", "told": dict(told)}, [content])[0][
            "sums"
        ]
        return found

    def compare_weights(
        self, one: Mapping[str, Any], mine: bytes, other: Mapping[str, Any], theirs: bytes
    ) -> dict[str, Any]:
        """What a tensor of weights is to another: the same, transposed, scaled, different …"""
        asked = {"do": "compare_weights", "task": "weights", "one": dict(one), "other": dict(other)}
        found: dict[str, Any] = self._ask(asked, [mine, theirs])[0]["found"]
        return found

    def folded(self, told: Sequence[Mapping[str, Any]], contents: Sequence[bytes]) -> dict[str, Any] | None:
        """With which epsilon a normalization was multiplied into weights, and the bias that it leaves."""
        asked = {"do": "folded", "task": "weights", "told": [dict(each) for each in told]}
        found: dict[str, Any] | None = self._ask(asked, contents)[0]["found"]
        return found

    def is_bias(self, told: Mapping[str, Any], content: bytes, expected: Sequence[float]) -> bool:
        """Whether a tensor is that bias."""
        asked = {"do": "is_bias", "task": "weights", "told": dict(told), "expected": list(expected)}
        return bool(self._ask(asked, [content])[0]["found"])

    def _ask(self, question: Mapping[str, Any], buffers: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        with self._lock:
            try:
                answer, found = self._asked(question, buffers)
            except Closed:
                if not self._was_killed:
                    raise self._died(question) from None
                # By somebody, or for want of memory: no question depends on the one before, so it is put once more.
                self._channel.close()
                self._start()
                try:
                    answer, found = self._asked(question, buffers)
                except Closed:
                    raise self._died(question) from None
        if "refused" in answer:
            kind = PluginError if answer["kind"] == "PluginError" else MetricError
            raise kind(answer["refused"], hint=answer["hint"])
        if "failed" in answer:
            raise MetricError(f"measuring failed: {answer['failed']}\n{answer['traceback']}".rstrip())
        return answer, found

    def _asked(self, question: Mapping[str, Any], buffers: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        self._channel.send(question, buffers)
        answer, found = self._channel.receive()
        return answer, found

    @property
    def _was_killed(self) -> bool:
        """Whether a signal ended it."""
        try:
            return self._process.wait(_TO_END_S) < 0
        except subprocess.TimeoutExpired:
            return False

    def _died(self, question: Mapping[str, Any]) -> MetricError:
        return MetricError(f"{self._end()} while it measured {_by_whose_rule(question['task'])}")

    def _end(self) -> str:
        """How the process came to its end; one that does not answer is given it."""
        try:
            return f"the measuring process ended with exit code {self._process.wait(_TO_END_S)}"
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return f"the measuring process gave no answer for {self._timeout_s:g} s (MLMODELSCOPE_MEASURING_TIMEOUT)"


def _by_whose_rule(task: str) -> str:
    for plugin in plugins_in(f"{PREFIX}rules"):
        if plugin.name == task:
            return f"{task} by the rule of the package {plugin.owner}"
    return task


_open: list[Ruler] = []
_opening = threading.Lock()


def ruler() -> Ruler:
    """The measuring process of this program, started when it is asked for first, and anew where it died or
    packages lie in other places by now."""
    with _opening:
        if _open and not (_open[0].is_alive and _open[0].path == import_path()):
            _open.pop().close()
        if not _open:
            _open.append(Ruler())
            atexit.register(_close)
        return _open[0]


def _close() -> None:
    while _open:
        _open.pop().close()
