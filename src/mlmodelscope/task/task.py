"""A task: what is true of a sample, what is answered, and which numbers follow. Everybody asks it; nobody names one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Protocol

from mlmodelscope.plugins.registry import Registry
from mlmodelscope.task.class_answer import CLASS_TASKS
from mlmodelscope.task.measure import MEASURES, Measure
from mlmodelscope.task.shape import Named, Shape
from mlmodelscope.types import Interval
from mlmodelscope_worker.parameters import Kind, ParameterError


class Number(Protocol):
    """A measured number, whoever keeps it."""

    @property
    def value(self) -> float: ...


@dataclass(frozen=True)
class Terms:
    """What the numbers of an evaluation depend on beside its answers."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The task's own, such as how many classes are kept, or by which rule boxes are matched."""
    by_function: bool = False
    """Whether a manifest's own code made the answers: its scores may stand for anything."""
    claimed: tuple[str, ...] = ()
    """Metrics that are claimed, which may be those of installed packages."""


@dataclass(frozen=True)
class Outcome:
    """What all samples together amount to."""

    numbers: Mapping[str, Interval | float] = field(default_factory=dict)
    """By the name of the measure."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What a single number cannot tell: per class, what is taken for what, …"""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a number or a detail could not be computed."""
    notes: tuple[str, ...] = ()
    """What a reader should know before believing the numbers."""
    ruler: Mapping[str, str] = field(default_factory=dict)
    """Versions of what the numbers were computed with, where that is a process of its own."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of one sample: its score, where the table keeps one, or why there is none."""

    score: bytes | None = None
    error: str | None = None


class Tally(Protocol):
    """Takes the samples of an evaluation in, some at a time."""

    def take(self, pairs: Sequence[tuple[Any, Any]]) -> Sequence[Scored]:
        """(what is true of a sample, what was answered) for each of some samples."""

    def outcome(self) -> Outcome: ...


@dataclass(frozen=True)
class Column:
    """One column of a record's table of samples."""

    name: str
    type: str
    """`string`, `bool`, `binary`, `int32`, `float32`, `float64`, or `list<…>` of a number."""


@dataclass(frozen=True)
class Option:
    """Something that a task leaves open about how answers are scored."""

    kind: Kind
    default: Any


_COLUMNS = (Column("target", "string"), Column("score", "binary"))
_NAME = "[a-z][a-z0-9_]*"
_EVERY_TASKS = ("id", "digest", "error", "answer")
"""Columns that the table of samples has for every task."""
_RIGHT = "right"
"""A column of those tasks alone whose samples are right or wrong by their class."""
_TYPE = re.compile("string|bool|binary|(list<)?(int32|float32|float64)(?(1)>)")


@dataclass(frozen=True)
class Task:
    name: str
    title: str
    tally: Callable[[Terms], Tally]
    headline: tuple[str, ...] = ()
    """The measures that are shown first, the one that stands for all of them at the very front."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """How answers are scored, as far as that is not settled: a manifest's `measure`."""
    is_ruled: bool = False
    """Whether the ruler scores its answers; else the host counts them itself."""
    nothing: Any = None
    """The answer that stands for that of a sample which failed; without one such samples are passed over."""
    roles: tuple[tuple[str, ...], ...] = ()
    """Sets of outputs that it can make answers of without a function; none where only functions do."""
    is_single: bool = False
    """Whether an answer is made of one output, and others would be a mistake."""
    steps: Callable[[Sequence[str]], Sequence[Mapping[str, Any]]] = lambda roles: ()
    """Answer steps that a manifest without any has, by the roles of its outputs."""
    has_classes: bool = True
    """Whether answers name classes, whose numbers may be off by one."""
    truth: tuple[str, ...] = ()
    """What it needs of a dataset's truth beyond a class, or boxes with classes: `masks`, `keypoints`, `classes`."""
    columns: tuple[Column, ...] = _COLUMNS
    """What its table of samples has: `target`, a JSON text, and `score` for one that is ruled, and more of its own."""
    values: Callable[[Any, Any, bytes | None], Mapping[str, Any]] = lambda target, answer, score: {}
    """What the columns hold of a sample: of its target, its answer and its score."""
    plain: Callable[[Mapping[str, Any]], Any] = lambda row: None
    """The answer in a row of the table, as JSON has it; None where the columns have none."""
    shapes: Callable[[Mapping[str, Any], Any, Named], Sequence[Shape]] = lambda row, target, named: ()
    """What people see of a row: its truth and its answer. The target is that of the dataset where it is available, else
    None; a row that was made without one has no truth. The last argument names classes."""
    glance: Callable[[Mapping[str, Any], Named], Sequence[Shape]] | None = None
    """The same of many rows in a list, without pixels; by default all of it."""
    compared: Callable[[Mapping[str, Any]], Sequence[tuple[float, float]]] | None = None
    """The numbers of a row, (the true one, the one that was answered), where answers are numbers."""
    has_residuals: bool = True
    """Whether those numbers are on one scale, so that one less the other means something."""
    quality: str = ""
    """What the number is that its samples are sorted by, the worst first: a sentence. See `task/quality.py`."""
    sentence: Callable[[int, Mapping[str, Number]], str] = lambda samples, numbers: ""
    """The result of so many samples in words, without an end; empty where there is nothing to say."""
    ends: Callable[[str, Mapping[str, Any], int], tuple[int, int] | None] = lambda metric, details, samples: None
    """For a share of samples: how many count at either end of all the ways to read the answers, where that is known."""

    def __post_init__(self) -> None:
        names = [each.name for each in self.columns]
        for each in self.columns:
            if each.name in _EVERY_TASKS or names.count(each.name) > 1:
                raise ValueError(f"the column `{each.name}` of the task `{self.name}` is there already")
            if not re.fullmatch(_NAME, each.name) or not _TYPE.fullmatch(each.type):
                raise ValueError(f"`{each.name}` of the type `{each.type}` cannot be a column of `{self.name}`")
        if self.is_ruled and (not set(_COLUMNS) <= set(self.columns) or _RIGHT in names):
            raise ValueError(
                f"the task `{self.name}` needs the columns target (string) and score (binary), and no `{_RIGHT}`"
            )

    def glanced(self, row: Mapping[str, Any], named: Named) -> Sequence[Shape]:
        """What a list says of a row."""
        return self.glance(row, named) if self.glance is not None else self.shapes(row, None, named)

    @property
    def measures(self) -> list[Measure]:
        """Those of the task itself, and others that were imported by now; the headline first, then its very own."""
        order = {name: place for place, name in enumerate(self.headline)}
        for name in order:
            MEASURES.get(name)  # a package may have its measures in a module of their own
        known = [each for each in MEASURES.things.values() if self.name in each.tasks]
        return sorted(known, key=lambda each: (order.get(each.name, len(order)), each.tasks[0] != self.name))

    def settle(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every option explicit; ParameterError where one is not known or cannot be that."""
        unknown = [name for name in given if name not in self.options]
        if unknown:
            raise ParameterError(f"unknown option `{unknown[0]}`", parameter=unknown[0], known=sorted(self.options))
        found = {}
        for name, option in self.options.items():
            try:
                found[name] = option.kind.check(given[name]) if given.get(name) is not None else option.default
            except ParameterError as error:
                error.parameter = name
                raise
        return found


class NoTally:
    """For answers that nobody can score."""

    def __init__(self, terms: Terms) -> None:
        pass

    def take(self, pairs: Sequence[tuple[Any, Any]]) -> Sequence[Scored]:
        return [Scored()] * len(pairs)

    def outcome(self) -> Outcome:
        return Outcome()


TASKS: Registry[Task] = Registry(
    "task",
    "tasks",
    {},
    Task,
    lambda task: task.tally,
    names=_NAME,
    named=attrgetter("name"),
    built_in={
        **dict.fromkeys(CLASS_TASKS, "mlmodelscope.task.classification"),
        "object_detection": "mlmodelscope.task.detection",
        "semantic_segmentation": "mlmodelscope.task.segmentation",
        "image_enhancement": "mlmodelscope.task.enhancement",
        "instance_segmentation": "mlmodelscope.task.instances",
        "keypoint_detection": "mlmodelscope.task.keypoints",
        "multilabel_classification": "mlmodelscope.task.multilabel",
        "regression": "mlmodelscope.task.regression",
        "tabular_regression": "mlmodelscope.task.regression",
        "time_series_forecasting": "mlmodelscope.task.forecasting",
        "text_similarity": "mlmodelscope.task.similarity",
        "anomaly_detection": "mlmodelscope.task.anomaly",
        "embedding": "mlmodelscope.task.embedding",
        "recommendation": "mlmodelscope.task.recommendation",
        "token_classification": "mlmodelscope.task.tokens",
        "question_answering": "mlmodelscope.task.answering",
        "translation": "mlmodelscope.task.translation",
        "summarization": "mlmodelscope.task.summarization",
        "speech_recognition": "mlmodelscope.task.speech",
        "multiple_choice": "mlmodelscope.task.choice",
        "language_modeling": "mlmodelscope.task.likelihood",
        "text_generation": "mlmodelscope.task.generation",
    },
)


def add_task(task: Task) -> Task:
    """Register a task under its name."""
    taken = TASKS.things.get(task.name)
    if taken is not None and taken is not task:
        raise ValueError(f"the name `{task.name}` is taken by the task {taken.title}")
    TASKS.things[task.name] = task
    return task


def task_named(name: str) -> Task:
    """The task of this name; one that answers without scoring, where none is known."""
    found = TASKS.find(name)
    if found is None:
        return Task(name, name.replace("_", " "), NoTally)
    return found if TASKS.origin(name) is None else _blamed(found)


_CALLED = ("tally", "steps", "values", "plain", "shapes", "sentence", "ends")


def _blamed(task: Task) -> Task:
    """A stranger's task: whatever its functions raise names the package."""

    def careful(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            with TASKS.blaming(task.name, OSError):
                return function(*arguments)

        return call

    named: dict[str, Any] = {name: careful(getattr(task, name)) for name in _CALLED}
    if task.compared is not None:
        named["compared"] = careful(task.compared)
    return replace(task, **named)
