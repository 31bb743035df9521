"""What a model says of something: a model that stays open, and the same once for a few files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, Unpack

from mlmodelscope.dataset.class_names import class_names
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import InputError, UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL
from mlmodelscope.model_input import (
    COLUMNS,
    DOCUMENT,
    FILE,
    TEXT,
    Inputs,
    ModelInput,
    read_inputs,
    takes,
    turns_input,
)
from mlmodelscope.plan.input import part_for_functions
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.steps import STEPS
from mlmodelscope.preparation import Asked, Conditions, ModelSource, ask
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.record.sample_rows import Row, rows_of
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.questions import kept_of
from mlmodelscope.task.shape import Shape, named_by
from mlmodelscope.task.task import task_named
from mlmodelscope.worker.answers import cut_batches
from mlmodelscope.worker.client import Stage, Worker
from mlmodelscope.worker.process import WorkerProcess
from mlmodelscope_worker.parameters import ParameterError

_FEW = 16
_SETTLED = ("repeats", "keep")

LOOSE_IMAGES = schema.DatasetManifest(
    name="images",
    version="1.0.0",
    task="general",
    format="list",
    sources=(schema.DatasetSource(url="images", checksum="sha256:" + "0" * 64),),
)
"""Single images as a dataset: without labels, and without files to fetch."""

LOOSE_TURNS = schema.DatasetManifest(
    name="turns",
    version="1.0.0",
    task="text_generation",
    format="documents",
    sources=(schema.DatasetSource(url="turns", checksum="sha256:" + "0" * 64),),
    prompt={"turns": "turns"},
)
"""Conversations as a dataset: what a language model is asked for is a text."""

__all__ = ["LOOSE_IMAGES", "OpenModel", "Prediction", "asked_content", "plan_prediction", "predict"]


@dataclass(frozen=True)
class Prediction:
    """The best classes for one input, or why there are none."""

    image: str
    """What was asked about: a file, a URL, or the text or row itself, cut where it is long."""
    classes: tuple[int, ...]
    names: tuple[str, ...]
    scores: tuple[float, ...]
    error: str | None
    answer: str | None = None
    """The answer as JSON, where it is no list of classes."""
    stages: tuple[Stage, ...] = ()
    """Where the time went; the stages of a batch count for each input of it."""
    shapes: tuple[Shape, ...] = ()
    """What there is to see of the answer, in pixels of the input, where its task knows how to show it."""
    prompt: Mapping[str, Any] | None = None
    """What a language model was shown, in text and tokens, as `task/spelled.py` reads it."""

    @property
    def value(self) -> Any:
        """The answer as JSON means it; a text that is no JSON is itself."""
        try:
            return None if self.answer is None else json.loads(self.answer)
        except ValueError:  # a manifest's own function may say anything
            return self.answer


def plan_prediction(model: ModelSource, options: Options, **conditions: Unpack[Conditions]) -> Plan:
    """As the plan of an evaluation, for any input."""
    return _ask(model, options, **conditions).plan()


def _ask(model: ModelSource, options: Options, **conditions: Unpack[Conditions]) -> Asked:
    asked = ask(model, LOOSE_IMAGES, options, **conditions)
    if asked.model.job_type == "training":
        raise UsageError(f"{asked.model.name} describes a training, and nothing that could be asked")
    if asked.model.task == LANGUAGE_MODEL:
        return replace(asked, aspects=replace(asked.aspects, dataset=LOOSE_TURNS))
    return asked


def write_settings(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is other than planned of how a text is written, checked: `longest`, `temperature`, `seed`, `stop` …"""
    if not given:
        return {}
    if part_of(plan) != DOCUMENT:
        raise UsageError(f"{plan.model.name} is not a language model: it has no settings for how it writes")
    settled = next((name for name in given if name in _SETTLED), None)
    if settled is not None:
        raise UsageError(f"`{settled}` is for evaluations: here one text is written, and nothing is recorded")
    try:
        known = STEPS["write"].resolve(given)
    except ParameterError as error:
        listed = f"\nknown: {', '.join(each for each in error.known if each not in _SETTLED)}" if error.known else ""
        raise UsageError(f"`{error.parameter}` of how a text is written: {error.message}{listed}") from None
    tokens = known["stop_tokens"]
    plain = {
        **known,
        "stop": list(known["stop"] or ()),
        "stop_tokens": None if tokens is None else [int(each) for each in tokens],
    }
    return {name: plain[name] for name in given}


class OpenModel:
    """A model that stays open in a worker: opening it takes seconds, an answer milliseconds.

    Not thread-safe: one caller at a time.
    """

    def __init__(
        self,
        plan: Plan,
        artifacts: ArtifactStore,
        *,
        reads: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        started: Callable[[WorkerProcess], None] = lambda process: None,
    ) -> None:
        """`reads` are files that will be asked about: a stack in a container sees nothing else."""
        site = provision(plan, artifacts)
        self._place = tempfile.TemporaryDirectory(prefix="mlmodelscope-inputs-")
        try:
            site = replace(site, reads=(*site.reads, *reads, Path(self._place.name)))
            self._worker = Worker(site, plan, environment=environment, started=started)
        except BaseException:
            self._place.cleanup()
            raise
        self._plan = plan
        # A manifest's own code is promised files, unless declared steps have read them before.
        self._wants_files = bool(plan.functions) and plan.input is None
        try:
            self._names = class_names(plan, self._worker.classes, artifacts)
        except BaseException:
            self.kill()
            raise

    @property
    def load_ns(self) -> int:
        """How long the framework took to load it."""
        return self._worker.opened.load_ns

    @property
    def process(self) -> WorkerProcess:
        return self._worker.process

    def answer(self, contents: Sequence[bytes | Path | Sample], called: Sequence[str] = ()) -> list[Prediction]:
        """What the model says of each; one that cannot be read has an error, and the others their answers.

        Many files are answered side by side, and then there are no stages to tell of.
        """
        buffers: list[bytes] = []
        samples = [self._sample(number, content, buffers) for number, content in enumerate(contents)]
        batches = cut_batches(samples, self._plan.scenario.batch_size)
        found: list[tuple[Row, list[Stage]]] = []
        try:
            if len(batches) > _FEW and not buffers:
                for batch, answers in zip(batches, self._worker.run(batches), strict=True):
                    found += [(row, []) for row in rows_of(answers, batch.samples)]
            else:
                for batch in batches:
                    answers, stages = self._worker.ask(batch, buffers)
                    found += zip(rows_of(answers, batch.samples), stages, strict=True)
        finally:
            for each in Path(self._place.name).iterdir():
                each.unlink()
        return [
            self._prediction(called[number] if called else str(number), row, stages)
            for number, (row, stages) in enumerate(found)
        ]

    def converse(
        self,
        content: Sample,
        settings: Mapping[str, Any],
        heard: Callable[[str], None] = lambda text: None,
        called: str = "0",
    ) -> Prediction:
        """What a language model writes; `heard` gets it piece by piece."""
        (batch,) = cut_batches([content], 1)
        answers, (stages,) = self._worker.converse(batch, write_settings(self._plan, settings), heard)
        (row,) = rows_of(answers, batch.samples)
        return self._prediction(called, row, stages)

    def stop(self) -> None:
        """Enough of what is being written; from any thread."""
        self._worker.stop()

    def _prediction(self, name: str, row: Row, stages: Sequence[Stage]) -> Prediction:
        best = row.classes or ClassAnswer((), ())
        text: str | None = row.text
        shapes: tuple[Shape, ...] = ()
        prompt = None
        if isinstance(row.answer, ArrayAnswer):
            kept = kept_of(row.answer)
            prompt = json.loads(kept) if kept is not None else None
            task = task_named(self._plan.task)
            values = task.values(None, row.answer, None)
            text = json.dumps(self._named(task.plain(values)), ensure_ascii=False)
            shapes = tuple(task.shapes(values, None, named_by(self._names)))
        names = tuple(map(self._name, best.classes))
        return Prediction(name, best.classes, names, best.scores, row.error, text, tuple(stages), shapes, prompt)

    def _name(self, number: int) -> str:
        return self._names[number] if 0 <= number < len(self._names) else str(number)

    def _named(self, answer: Any) -> Any:
        """Things with the names of their classes."""
        if not isinstance(answer, list):
            return answer
        return [{**each, "label": self._name(each["class"])} if "class" in each else each for each in answer]

    def _sample(self, number: int, content: bytes | Path | Sample, buffers: list[bytes]) -> Sample:
        if isinstance(content, Sample):
            return content
        if part_of(self._plan) in (TEXT, COLUMNS, DOCUMENT):
            raise InputError(f"{self._plan.model.name} {takes(part_of(self._plan))}, not files")
        if isinstance(content, bytes) and not self._wants_files:
            buffers.append(content)
            return Sample(str(number), {"buffer": len(buffers) - 1}, "", None)
        if isinstance(content, bytes):
            path = Path(self._place.name) / str(number)
            path.write_bytes(content)
            content = path
        return Sample(str(number), {"file": str(content)}, "", None)

    def close(self) -> None:
        self._worker.close()
        self._place.cleanup()

    def kill(self) -> None:
        """End it at once."""
        self._worker.kill()
        self._place.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.close() if kind is None else self.kill()


def predict(
    model: ModelSource,
    inputs: Inputs,
    options: Options | None = None,
    write: Mapping[str, Any] | None = None,
    **conditions: Unpack[Conditions],
) -> list[Prediction]:
    """What a model says of files or URLs, of texts or of rows, whichever its first input takes. Nothing is recorded.

    `write` is how a language model writes: `longest`, `temperature`, `seed`, `stop` …; the watcher's `wrote` gets the
    text piece by piece.
    """
    asked = _ask(model, options or Options(), **conditions)
    plan = asked.plan()
    settings = write_settings(plan, write or {})
    given = read_inputs(inputs, part_of(plan))
    contents = [_content(each, number, asked.artifacts) for number, each in enumerate(given)]
    reads = [each for each in contents if isinstance(each, Path)]
    with OpenModel(plan, asked.artifacts, reads=reads) as opened:
        if part_of(plan) == DOCUMENT:
            samples = zip(given, (each for each in contents if isinstance(each, Sample)), strict=True)
            return [_written(opened, sample, settings, asked, each.name) for each, sample in samples]
        return opened.answer(contents, [each.name for each in given])


def _written(opened: OpenModel, sample: Sample, settings: Mapping[str, Any], asked: Asked, called: str) -> Prediction:
    if sample.id != "0":  # what is read along is on lines of its own
        asked.watcher.wrote("\n")
    return opened.converse(sample, settings, asked.watcher.wrote, called)


def part_of(plan: Plan) -> str:
    """The part of a sample that the model's first input takes; functions are given texts, rows and files."""
    if plan.input is not None:
        return plan.input.part
    inputs = plan.context.get("inputs") or ()
    return part_for_functions(inputs[0]["type"]) if inputs else FILE


def sample_of(parts: Mapping[str, Any], number: int = 0) -> Sample:
    """A text or a row as a sample of a dataset that has no other."""
    return Sample(str(number), {"parts": {name: dict(part) for name, part in parts.items()}}, "", None)


def asked_content(plan: Plan, content: bytes, parts: Mapping[str, Any] | None) -> bytes | Sample:
    """What came with a question, as this model takes it: a file's bytes, or the parts of a text or a row."""
    part = part_of(plan)
    if part not in (TEXT, COLUMNS, DOCUMENT):
        return content
    if part == DOCUMENT and parts is not None and TEXT in parts:  # a text alone is what the user says
        parts = turns_input([{"role": "user", "content": parts[TEXT]["text"]}]).parts
    if parts is None or part not in parts:
        kinds = {COLUMNS: "a row", DOCUMENT: "a conversation"}
        given = "a file" if parts is None else next((kinds[each] for each in parts if each in kinds), "a text")
        hint = f"give `{'cells' if part == COLUMNS else 'text'}` as the input"
        raise InputError(f"{plan.model.name} {takes(part)}, not {given}", hint=hint)
    return sample_of(parts)


def _content(given: ModelInput, number: int, artifacts: ArtifactStore) -> bytes | Path | Sample:
    if isinstance(given.content, Mapping):
        return sample_of(given.content, number)
    return given.content if isinstance(given.content, bytes) else artifacts.fetch(str(given.content)).path
