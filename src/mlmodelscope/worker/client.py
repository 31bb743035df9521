"""What the host asks of a worker: open a model, measure it, answer samples."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mlmodelscope.dataset.classes import read_classes
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.provision.stack.provisioner import Needs
from mlmodelscope.worker.answers import Answers, Batch
from mlmodelscope.worker.loaded import Loaded, loaded_from
from mlmodelscope.worker.plugins import inside_the_stack, module_paths
from mlmodelscope.worker.process import Buffer, WorkerDied, WorkerProcess


@dataclass(frozen=True)
class Stage:
    """What an answer took its time for: load, a step, run …"""

    name: str
    duration_ns: int


@dataclass(frozen=True)
class Latency:
    batch_size: int
    warm_up_ns: list[int]
    raw_ns: list[int]
    parts_ns: dict[str, list[int]] = field(default_factory=dict)
    """Durations of what a call is made of, such as copies to a device, where it has several parts."""


@dataclass(frozen=True)
class Progress:
    """How far a training is, and how good."""

    progress: float
    metrics: dict[str, float]


@dataclass(frozen=True)
class Trained:
    """What a training returned."""

    result: Any
    wall_s: float


class Worker:
    """One open model in a worker process; `around` is a command that starts it and looks on."""

    def __init__(
        self,
        site: Site,
        plan: Plan,
        *,
        around: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        started: Callable[[WorkerProcess], None] = lambda process: None,
        tensors: bool = False,
    ) -> None:
        """`started` gets the process before the model is open, which may take long and can be ended so. With `tensors`
        the model is open alone, for `infer`: nothing prepares samples or reads answers."""
        self._site = site
        needs = needs_of(site, plan)
        if environment:
            needs = replace(needs, environment={**needs.environment, **environment})
        self._process = WorkerProcess(site.stack, needs, around)
        try:
            started(self._process)
            task = {**task_of(site, plan), "tensors": True} if tensors else task_of(site, plan)
            self._process.send({"do": "open", "task": task})
            self.opened, _ = self._process.receive("opened")
        except BaseException:
            self._process.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.__exit__(kind, error, trace)

    def close(self) -> None:
        self._process.close()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    @property
    def classes(self) -> int | None:
        """How many scores the model gives for a sample, where its output shape says so."""
        if not self.opened["outputs"]:
            return None
        shape = (self.opened["outputs"][self.opened["output"]]["shape"] or [])[1:]
        return math.prod(shape) if shape and None not in shape else None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def process(self) -> WorkerProcess:
        return self._process

    def measure_latency(self, samples: Sequence[Sample], plan: Plan) -> Latency:
        """Time the model alone, on the first samples that can be prepared."""
        request = {
            "do": "latency",
            "samples": [sample.content for sample in samples],
            "warm_up_runs": plan.scenario.warm_up_runs,
            "max_runs": plan.scenario.timed_runs,
            "budget_s": plan.scenario.timed_budget_s,
        }
        self._process.send(request)
        header, _ = self._receive("latency")
        return Latency(header["batch_size"], header["warm_up_ns"], header["raw_ns"], header.get("parts_ns", {}))

    def run(self, batches: Iterable[Batch], one_at_a_time: bool = False) -> Iterator[Answers]:
        """Answers in the order of the batches. Some batches are under way ahead, but never without bound."""
        waiting: deque[Batch] = deque()
        window = 1 if one_at_a_time else self._site.batches_under_way
        source = iter(batches)
        while True:
            if len(waiting) <= window // 2:  # several at a time: a message costs more than what it says
                fresh = list(islice(source, window - len(waiting)))
                if fresh:
                    self._send(fresh)
                    waiting.extend(fresh)
            if not waiting:
                return
            header, buffers = self._receive("answers")
            parts = iter(buffers)
            for answer in header["answers"]:
                yield _answers(waiting.popleft().index, answer, list(islice(parts, answer["parts"])))

    def ask(self, batch: Batch, buffers: Sequence[bytes] = ()) -> tuple[Answers, list[list[Stage]]]:
        """The answers to a batch that somebody waits for, and what each of its samples took."""
        content = [sample.content for sample in batch.samples]
        self._process.send({"do": "ask", "samples": content}, tuple(buffers))
        header, answered = self._receive("asked")
        stages = [[Stage(name, duration) for name, duration in each] for each in header["stages"]]
        return _answers(batch.index, header, answered), stages

    def _receive(self, expected: str) -> tuple[dict[str, Any], list[bytes]]:
        """What was asked for. A worker whose server is gone is as good as dead, and is replaced like one."""
        header, buffers = self._process.receive(expected, "lost")
        if header["do"] == "lost":
            raise WorkerDied(header["message"])
        return header, buffers

    def _send(self, batches: Sequence[Batch], buffers: tuple[bytes, ...] = ()) -> None:
        content = [{"batch": batch.index, "samples": [sample.content for sample in batch.samples]} for batch in batches]
        request = {"do": "batches", "batches": content, "lanes": self._site.lanes, "threads": self._site.threads}
        self._process.send(request, buffers)

    def train(self, data: Mapping[str, Sequence[str]]) -> Iterator[Progress | Trained]:
        """Run a training task: how it goes, and in the end what came out."""
        self._process.send({"do": "train", "data": dict(data)})
        while True:
            header, _ = self._process.receive("progress", "trained")
            if header["do"] == "trained":
                yield Trained(header["result"], header["train_ns"] / 1e9)
                return
            yield Progress(header["progress"], header["metrics"])

    def trace(self, samples: Sequence[Sample], level: str, runs: int, warm_up_runs: int) -> dict[str, Any]:
        """Spans of some batches, a run for each level down to the one named."""
        content = [sample.content for sample in samples]
        self._process.send(
            {"do": "trace", "samples": content, "level": level, "runs": runs, "warm_up_runs": warm_up_runs}
        )
        header, _ = self._receive("traced")
        return header

    def watch(
        self, samples: Sequence[Sample], runs: int, *, counted: bool = False, budget_s: float = 0.0
    ) -> dict[str, Any]:
        """Runs of the model for somebody who looks on: when each began and ended, and what was counted in it."""
        content = [sample.content for sample in samples]
        request = {"do": "watch", "samples": content, "runs": runs, "counted": counted, "budget_s": budget_s}
        self._process.send(request)
        header, _ = self._receive("watched")
        return header

    def peak(self, device: str, threads: int) -> dict[str, Any]:
        """What the machine can do at its best, measured in the worker's own stack; or a `problem`, in words."""
        self._process.send({"do": "peak", "device": device, "threads": threads})
        header, _ = self._receive("peak")
        return header

    def load(self, samples: Sequence[Sample], request: Mapping[str, Any]) -> Loaded:
        """One run of a scenario, made and timed in the worker itself."""
        header, buffers = self._ask_load(samples, request)
        return loaded_from(header, buffers)

    def loadgen(self, samples: Sequence[Sample], request: Mapping[str, Any]) -> dict[str, Any]:
        """The same by MLPerf's LoadGen: what it says of the run."""
        header, _ = self._ask_load(samples, {**request, "scenario": "loadgen"})
        found: dict[str, Any] = header["loadgen"]
        return found

    def _ask_load(self, samples: Sequence[Sample], request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        content = [sample.content for sample in samples]
        self._process.send({**request, "do": "load", "samples": content})
        return self._receive("loaded")

    def infer(
        self, tensors: Sequence[Mapping[str, Any]], buffers: Sequence[Buffer], outputs: Sequence[str] = ()
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """Tensors in, tensors out: each with its name, element type and shape, its values as bytes."""
        self._process.send({"do": "infer", "tensors": list(tensors), "outputs": list(outputs)}, buffers)
        header, found = self._receive("inferred")
        return header["tensors"], found

    def prepare(self, samples: Sequence[Sample]) -> list[tuple[dict[str, Any], bytes] | str]:
        """The tensors that the model would get, each with shape and element type, or the reason why there is none."""
        self._process.send({"do": "prepare", "samples": [sample.content for sample in samples]})
        header, buffers = self._process.receive("prepared")
        remaining = iter(buffers)
        return [
            (described, next(remaining)) if described else header["errors"][str(slot)]
            for slot, described in enumerate(header["tensors"])
        ]


def _answers(batch: int, header: dict[str, Any], buffers: list[bytes]) -> Answers:
    classes, scores = buffers if buffers else (b"", b"")
    errors = {int(slot): message for slot, message in header["errors"].items()}
    answers = tuple(header["answers"]) if "answers" in header else None
    return Answers(batch, header["k"], classes, scores, errors, header["run_ns"], header["improbable"], answers)


def needs_of(site: Site, plan: Plan) -> Needs:
    """What a worker for the plan wants of the world outside its stack."""
    device = str(plan.predictor.options.get("device") or "cpu")
    return Needs(
        environment=plan.stack.environment,
        reads=site.reads,
        writes=(Path(site.folder),) if site.folder else (),
        gpu=device != "cpu",
        network=plan.predictor.name == "remote",
        modules=module_paths(plan),
    )


def task_of(site: Site, plan: Plan) -> dict[str, Any]:
    """The part of a plan that the worker needs, with files where they are on this machine."""
    task: dict[str, Any] = {
        "predictor": {
            "name": plan.predictor.name,
            "files": site.model_files,
            "options": {**plan.predictor.options, **plan.predictor.where},
        },
        "input": plan.input.model_dump(mode="json") if plan.input else None,
        "output": plan.output.model_dump(mode="json", exclude={"names"}),
        "batch_size": plan.scenario.batch_size,
    }
    if inside_the_stack(plan):
        task["plugins"] = [each.model_dump(mode="json") for each in inside_the_stack(plan)]
    if plan.functions:
        task |= {
            "task": plan.task,
            "functions": {stage: each.model_dump(mode="json") for stage, each in plan.functions.items()},
            "context": plan.context,
            "files": {**site.model_files, **site.other_files},
            "features": read_classes(Path(site.other_files["features"])) if "features" in site.other_files else [],
            "hyperparameters": plan.hyperparameters,
            "seed": plan.seed,
            "count": plan.dataset.subset.count or plan.dataset.size,
            "folder": site.folder,
            "source": plan.dataset.sources[0].name if plan.dataset.sources else "data",
        }
    return task
