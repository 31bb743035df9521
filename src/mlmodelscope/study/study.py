"""A study: one of the papers' experiments as a command, with our numbers beside the paper's.

A study is a function that takes a request and gives an outcome: tables, what the paper says, and a chart. It is
registered by name with its places in the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mlmodelscope.evaluation import evaluate
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import DatasetSource, ModelSource
from mlmodelscope.provision.machine import Machine, describe_machine
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.settings import Settings
from mlmodelscope.study.paper import Fact, Paper
from mlmodelscope.watcher import Watcher

DEFAULT_MODEL = "efficientnet-lite0"
DEFAULT_DATASET = "imagenet-70"
"""Small, and can be had everywhere."""


@dataclass(frozen=True)
class Request:
    """What an evaluator may choose; a study takes what concerns it."""

    model: ModelSource = DEFAULT_MODEL
    dataset: DatasetSource | None = None
    settings: Settings = field(default_factory=Settings.from_environment)
    watcher: Watcher = field(default_factory=Watcher)
    software: str | None = None
    trust: bool = False
    limit: int | None = None
    batch_sizes: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    stacks: tuple[str, ...] = ()
    runs: int | None = None
    again: bool = False

    def evaluate(self, options: Options | None = None, **changes: Any) -> Record:
        """The request's model on its dataset; a limit takes of each class its share."""
        given: dict[str, Any] = {"model": self.model, "software": self.software, **changes}
        dataset = self.dataset
        if dataset is None and self.model == DEFAULT_MODEL:
            dataset = DEFAULT_DATASET
        return evaluate(
            given["model"],
            dataset,
            options or Options(limit=self.limit, stratified=self.limit is not None),
            software=given["software"],
            hardware=given.get("hardware"),
            trust=self.trust,
            settings=self.settings,
            again=self.again,
            made_for="study",
            watcher=self.watcher,
        )


@dataclass(frozen=True)
class Column:
    key: str
    heading: str
    show: Callable[[Any], str] = str


@dataclass(frozen=True)
class Table:
    """Rows for programs, and how people read them."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]

    def texts(self) -> list[list[str]]:
        return [[_shown(column, row.get(column.key)) for column in self.columns] for row in self.rows]


def _shown(column: Column, value: Any) -> str:
    return "" if value is None else column.show(value)


@dataclass(frozen=True)
class Outcome:
    """What a study found."""

    about: str
    """What was measured, on what, in which stack, where: none of it is the paper's."""
    tables: tuple[Table, ...]
    facts: tuple[Fact, ...] = ()
    """What the paper says, as printed there."""
    notes: tuple[str, ...] = ()
    chart: str | None = None
    records: tuple[str, ...] = ()

    def to_json(self, name: str) -> dict[str, Any]:
        study = STUDIES[name]
        return {
            "study": name,
            "title": study.title,
            "paper": [{"paper": paper.title, "place": place} for paper, place in study.places],
            "about": self.about,
            "tables": {table.name: [dict(row) for row in table.rows] for table in self.tables},
            "facts": [
                {"paper": fact.paper.title, "place": fact.place, "what": fact.what, "value": fact.value}
                for fact in self.facts
            ],
            "notes": list(self.notes),
            "records": list(self.records),
        }


@dataclass(frozen=True)
class Study:
    name: str
    title: str
    places: tuple[tuple[Paper, str], ...]
    """Where the papers show it."""
    run: Callable[[Request], Outcome]
    options: tuple[str, ...] = ()
    """Options beside those that all studies take."""

    @property
    def where(self) -> str:
        return "; ".join(f"{paper.name} paper, {place}" for paper, place in self.places)


STUDIES: dict[str, Study] = {}

Run = Callable[[Request], Outcome]


def study(name: str, title: str, *places: tuple[Paper, str], options: Sequence[str] = ()) -> Callable[[Run], Run]:
    """Register a study."""

    def register(function: Run) -> Run:
        STUDIES[name] = Study(name, title, places, function, tuple(options))
        return function

    return register


def about(record: Record, *, dataset: bool = True) -> str:
    """Model, data, stack and machine in one line."""
    plan = record.plan
    on = f" on {words.plural(record.samples, 'sample')} of {plan.dataset.reference}" if dataset else ""
    packages = ", ".join(f"{name} {version}" for name, version in plan.stack.packages.items())
    return f"{plan.model.reference}{on}; {packages}; {machine_words(record.machine)}"


def machine_words(machine: Machine | None = None) -> str:
    machine = machine or describe_machine()
    return f"{machine.cpu}, {words.plural(machine.cores, 'core')} to use"


def differs(record: Record, theirs: str) -> str:
    """Why the paper's numbers are not ours to reach."""
    return (
        f"The paper measured {theirs}. Model, data, software and machine are others here: compare what happens, "
        f"not the figures. Ours is {record.plan.model.reference}."
    )


def remembered(records: Sequence[Record], started: datetime) -> tuple[str, ...]:
    """Times that were measured earlier are still true, but not of the same hour."""
    earlier = sum(record.created_at < started for record in records)
    if not earlier:
        return ()
    return (f"From the store: {earlier} of {words.plural(len(records), 'record')}; --again measures anew.",)


def now() -> datetime:
    return datetime.now(UTC)
