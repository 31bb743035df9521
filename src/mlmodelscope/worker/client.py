"""What the host asks of a worker: open a model, measure it, answer samples."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mlmodelscope.dataset.classes import read_classes
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import WorkerError
from mlmodelscope.manifest.listing import named_files
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.predictor import ELSEWHERE
from mlmodelscope.plugins.steps import ANSWER_STEPS, OUTPUT_STEPS, STEPS
from mlmodelscope.provision.site import Site
from mlmodelscope.provision.stack.provisioner import Needs
from mlmodelscope.worker.answers import Answers, Batch
from mlmodelscope.worker.loaded import Loaded, loaded_from
from mlmodelscope.worker.plugins import inside_the_stack, module_paths
from mlmodelscope.worker.process import Buffer, WorkerProcess
from mlmodelscope_worker import messages
from mlmodelscope_worker.messages import BatchAnswer, Content, Latency, Opened, PredictorTask, Progress, Task, Trained

__all__ = ["Latency", "OpenWorker", "Progress", "Stage", "Trained", "Worker", "needs_of", "task_of"]


@dataclass(frozen=True)
class Stage:
    """Where the time of an answer went: load, a step, run …"""

    name: str
    duration_ns: int


class OpenWorker:
    """One open model in a worker process, and the loop that keeps it busy with batches."""

    def __init__(
        self,
        site: Site,
        plan: Plan,
        task: Task,
        *,
        around: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        started: Callable[[WorkerProcess], None] = lambda process: None,
    ) -> None:
        self._site = site
        self._by_name = plan.predictor.name == "recorded"
        needs = needs_of(site, plan)
        if environment:
            needs = replace(needs, environment={**needs.environment, **environment})
        self._process = WorkerProcess(site.stack, needs, around)
        try:
            started(self._process)
            self._process.send(messages.Open(task))
            self.opened, _ = self._process.receive(Opened)
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
    def pid(self) -> int:
        return self._process.pid

    @property
    def process(self) -> WorkerProcess:
        return self._process

    def stream(
        self, batches: Iterable[Batch], window: int, *, active: Sequence[str] | None = None
    ) -> Iterator[tuple[Batch, dict[str, Any], list[bytes]]]:
        """Answers in the order of the batches, as they travel. At most `window` batches are under way."""
        waiting: deque[Batch] = deque()
        source = iter(batches)
        while True:
            if len(waiting) <= window // 2:  # several at a time: a message costs more than what it says
                fresh = list(islice(source, window - len(waiting)))
                if fresh:
                    self._send(fresh, active)
                    waiting.extend(fresh)
            if not waiting:
                return
            message, buffers = self._process.receive(messages.Answered)
            content = iter(buffers)
            for answer, parts in zip(message.answers, message.parts, strict=True):
                yield waiting.popleft(), answer, list(islice(content, parts))

    def _send(self, batches: Sequence[Batch], active: Sequence[str] | None) -> None:
        told = named_contents if self._by_name else contents
        content = [{"batch": batch.index, "samples": told(batch.samples)} for batch in batches]
        chosen = list(active) if active is not None else None
        self._process.send(messages.RunBatches(content, self._site.lanes, self._site.threads, chosen))


class Worker(OpenWorker):
    """A model with the one pipeline of its plan; `around` is a command that starts its process and looks on."""

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
        task = task_of(site, plan)._replace(tensors=tensors)
        super().__init__(site, plan, task, around=around, environment=environment, started=started)

    @property
    def classes(self) -> int | None:
        """How many scores the model gives for a sample, where its output shape says so."""
        if not self.opened.outputs or self.opened.output is None:
            return None
        shape = (self.opened.outputs[self.opened.output]["shape"] or [])[1:]
        return math.prod(shape) if shape and None not in shape else None

    def measure_latency(self, samples: Sequence[Sample], plan: Plan) -> Latency:
        """Time the model alone, on the first samples that can be prepared."""
        load = plan.scenario
        self._process.send(
            messages.MeasureLatency(contents(samples), load.warm_up_runs, load.timed_runs, load.timed_budget_s)
        )
        return self._process.receive(Latency)[0]

    def run(self, batches: Iterable[Batch], one_at_a_time: bool = False) -> Iterator[Answers]:
        """Answers in the order of the batches. Some batches are under way ahead, but never without bound."""
        window = 1 if one_at_a_time else self._site.batches_under_way
        for batch, answer, buffers in self.stream(batches, window):
            yield _answers(batch, BatchAnswer(**answer), buffers)

    def ask(self, batch: Batch, buffers: Sequence[bytes] = ()) -> tuple[Answers, list[list[Stage]]]:
        """The answers to a batch that somebody waits for, and what each of its samples took."""
        self._process.send(messages.Ask(contents(batch.samples)), tuple(buffers))
        message, answered = self._process.receive(messages.AskedFor)
        stages = [[Stage(name, duration) for name, duration in each] for each in message.stages]
        return _answers(batch, message.answer, answered), stages

    def converse(
        self, batch: Batch, settings: Mapping[str, Any], heard: Callable[[str], None]
    ) -> tuple[Answers, list[list[Stage]]]:
        """The text that a language model writes about one sample; `heard` gets it piece by piece."""
        (content,) = contents(batch.samples)
        self._process.send(messages.Converse(content, dict(settings)))
        while True:
            message, answered = self._process.receive_any()
            if isinstance(message, messages.Piece):
                heard(message.text)
                continue
            if not isinstance(message, messages.AskedFor):
                raise WorkerError(f"the worker said `{type(message).__name__}` where a text was due")
            stages = [[Stage(name, duration) for name, duration in each] for each in message.stages]
            return _answers(batch, message.answer, answered), stages

    def stop(self) -> None:
        """Enough of the text that is being written; from any thread."""
        self._process.send(messages.Stop())

    def train(self, data: Mapping[str, Sequence[str]]) -> Iterator[Progress | Trained]:
        """Run a training task: how it goes, and in the end what came out."""
        self._process.send(messages.Train({name: list(paths) for name, paths in data.items()}))
        while True:
            message, _ = self._process.receive_any()
            assert isinstance(message, (Progress, Trained)), message
            yield message
            if isinstance(message, Trained):
                return

    def trace(self, samples: Sequence[Sample], level: str, runs: int, warm_up_runs: int) -> messages.Traced:
        """Spans of some batches, a run for each level down to the one named."""
        self._process.send(messages.Trace(contents(samples), level, runs, warm_up_runs))
        return self._process.receive(messages.Traced)[0]

    def trace_steps(self, data: Mapping[str, Sequence[str]], runs: int, warm_up_runs: int) -> messages.Traced:
        """Steps of a training, whole and in parts."""
        told = {name: list(paths) for name, paths in data.items()}
        self._process.send(messages.TraceSteps(told, runs, warm_up_runs))
        return self._process.receive(messages.Traced)[0]

    def watch(
        self, samples: Sequence[Sample], runs: int, *, counted: bool = False, budget_s: float = 0.0
    ) -> messages.Watched:
        """Runs of the model while the host looks on: when each began and ended, and what was counted in it."""
        self._process.send(messages.Watch(contents(samples), runs, counted, budget_s))
        return self._process.receive(messages.Watched)[0]

    def peak(self, device: str, threads: int) -> messages.Peak:
        """What the machine can do at its best, measured in the worker's own stack."""
        self._process.send(messages.MeasurePeak(device, threads))
        return self._process.receive(messages.Peak)[0]

    def read_layers(self, request: messages.ReadLayers) -> messages.LayersRead:
        """What the layers pass on, in files of a folder that the worker can write to."""
        self._process.send(request)
        return self._process.receive(messages.LayersRead)[0]

    def read_steps(self, request: messages.ReadSteps) -> tuple[messages.StepsRead, Answers | None]:
        """What each step makes of some samples, in files of a folder, and the answers, where outputs were given."""
        self._process.send(request)
        message, buffers = self._process.receive(messages.StepsRead)
        if message.answer is None:
            return message, None
        return message, _answers(Batch(0, ()), BatchAnswer(**message.answer), buffers)

    def read_weights(self, request: messages.ReadWeights) -> messages.WeightsRead:
        """The weights of one layer, in files of a folder that the worker can write to."""
        self._process.send(request)
        return self._process.receive(messages.WeightsRead)[0]

    def try_changes(self, request: messages.TryChanges) -> messages.ChangesTried:
        """One layer run alone, as it is and with likely mistakes."""
        self._process.send(request)
        return self._process.receive(messages.ChangesTried)[0]

    def load(self, request: messages.RunLoad) -> Loaded:
        """One run of a scenario, made and timed in the worker itself."""
        self._process.send(request)
        return loaded_from(*self._process.receive(messages.Loaded))

    def loadgen(self, request: messages.RunLoad) -> dict[str, Any]:
        """The same by MLPerf's LoadGen: what it says of the run."""
        self._process.send(request)
        return self._process.receive(messages.LoadgenLoaded)[0].loadgen

    def infer(
        self, tensors: Sequence[Mapping[str, Any]], buffers: Sequence[Buffer], outputs: Sequence[str] = ()
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """Tensors in, tensors out: each with its name, element type and shape, its values as bytes."""
        self._process.send(messages.Infer([dict(each) for each in tensors], list(outputs)), buffers)
        message, found = self._process.receive(messages.Inferred)
        return message.tensors, found

    def spell(self, samples: Sequence[Sample]) -> list[dict[str, Any] | str]:
        """What a language model would be shown of each, see `mlmodelscope_worker/spelling.py`; or why there is none."""
        self._process.send(messages.Spell(contents(samples)))
        message, buffers = self._process.receive(messages.Spelled)
        texts = iter(buffers)
        return [
            message.errors[str(slot)] if str(slot) in message.errors else json.loads(next(texts))
            for slot in range(len(samples))
        ]

    def prepare(self, samples: Sequence[Sample]) -> list[tuple[dict[str, Any], bytes] | str]:
        """The first tensor that the model would get, with shape and element type, or the reason why there is none."""
        self._process.send(messages.Prepare(contents(samples)))
        message, buffers = self._process.receive(messages.Prepared)
        remaining = iter(buffers)
        found: list[tuple[dict[str, Any], bytes] | str] = []
        for slot, described in enumerate(message.tensors):
            if described is None:
                found.append(message.errors[str(slot)])
            else:
                contents_of = [next(remaining) for _ in described]
                found.append((described[0], contents_of[0]))
        return found


def contents(samples: Sequence[Sample]) -> list[Content]:
    return [dict(sample.content) for sample in samples]


def named_contents(samples: Sequence[Sample]) -> list[Content]:
    """For who knows answers by the names of samples alone."""
    return [{"id": sample.id} for sample in samples]


def _answers(batch: Batch, answer: BatchAnswer, buffers: list[bytes]) -> Answers:
    errors = {int(slot): message for slot, message in answer.errors.items()}
    return Answers(batch.index, errors, answer.run_ns, answer.content, tuple(buffers))


def needs_of(site: Site, plan: Plan) -> Needs:
    """What a worker for the plan wants of the world outside its stack."""
    device = str(plan.predictor.options.get("device") or "cpu")
    return Needs(
        environment=plan.stack.environment,
        reads=site.reads,
        writes=(Path(site.folder),) if site.folder else (),
        gpu=device != "cpu",
        network=plan.predictor.name in ELSEWHERE,
        modules=module_paths(plan),
    )


def task_of(site: Site, plan: Plan) -> Task:
    """The part of a plan that the worker needs, with files where they are on this machine."""
    options = {**plan.predictor.options, **plan.predictor.where}
    task = Task(
        predictor=PredictorTask(plan.predictor.name, site.model_files, options),
        batch_size=plan.scenario.batch_size,
        task=plan.task,
        generation=_generation_of(site, plan),
        **reading_of(plan, site.step_files),
        plugins=[each.model_dump(mode="json") for each in inside_the_stack(plan)],
    )
    return _with_functions(task, site, plan) if plan.functions else task


def _generation_of(site: Site, plan: Plan) -> dict[str, Any] | None:
    if plan.generation is None:
        return None
    asked = plan.generation.model_dump(mode="json")
    return {**asked, "graph": site.step_files[asked["graph"]] if asked["graph"] is not None else None}


def reading_of(plan: Plan, files: Mapping[str, str]) -> dict[str, Any]:
    """What a worker must know of a plan's inputs, outputs and answers; `files` are those that steps name."""
    outputs = [{**each.model_dump(mode="json"), "place": place} for place, each in enumerate(plan.outputs)]
    inputs = [each.model_dump(mode="json") for each in plan.inputs]
    answer = plan.answer.model_dump(mode="json", exclude={"names"})
    for registry, parts in ((STEPS, inputs), (OUTPUT_STEPS, outputs), (ANSWER_STEPS, [answer])):
        for step in (step for part in parts for step in part["steps"]):
            for parameter, name in named_files(registry, step["name"], step["parameters"]).items():
                step["parameters"][parameter] = files[name]
    return {"inputs": inputs, "outputs": outputs, "answer": answer}


def _training_of(plan: Plan, files: Mapping[str, str]) -> dict[str, Any] | None:
    if plan.training is None:
        return None
    told = plan.training.model_dump(mode="json")
    for step in told["processing"]:
        for parameter, name in named_files(STEPS, step["name"], step["parameters"]).items():
            step["parameters"][parameter] = files[name]
    return told


def _with_functions(task: Task, site: Site, plan: Plan) -> Task:
    """The same with what the manifest's own functions want to know."""
    names = site.other_files.get("features")
    return task._replace(
        functions={stage: each.model_dump(mode="json") for stage, each in plan.functions.items()},
        context=plan.context,
        files={**site.model_files, **site.other_files},
        named_files=dict(site.step_files),
        features=read_classes(Path(names)) if names else [],
        hyperparameters=plan.hyperparameters,
        seed=plan.seed,
        count=plan.dataset.subset.count or plan.dataset.size,
        folder=site.folder,
        source=plan.dataset.sources[0].name if plan.dataset.sources else "data",
        training=_training_of(plan, site.step_files),
    )
