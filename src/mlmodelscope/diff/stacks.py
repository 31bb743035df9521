"""One model in several stacks: each is compared with the first one, which is read once."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from mlmodelscope.diff.answers import same_answers
from mlmodelscope.diff.diff import SHARE_OF_DISK, OpenSide, compare_sides
from mlmodelscope.diff.reading import Reading
from mlmodelscope.diff.result import EXIT_CODES, Difference, Outcome
from mlmodelscope.diff.side import Place, RandomInput, Side, SideRequest
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.errors import MLModelScopeError, UsageError, WorkerError
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import DatasetSource, ModelSource
from mlmodelscope.provision.stack.fitting import fitting_stacks, model_for_stack
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.answers import Answers
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import shared_folder

Judgment = Literal["reference", "same bits", "rounding", "fault", "undecided", "no verdict"]
ALL = "all"
"""In place of names: the running Python, and every known stack that is built and reads the model's file."""
_OUTCOMES: Mapping[Judgment, Outcome] = {
    "fault": "different",
    "undecided": "undecided",
    "no verdict": "no verdict",
}


@dataclass(frozen=True)
class StackRow:
    """A stack beside the first one."""

    stack: str
    """As it was asked for."""
    judgment: Judgment
    words: str
    runs: str = ""
    """The stack with its packages."""
    predictor: str = ""
    layers: int = 0
    samples: int | None = None
    """How many have an answer on both sides, where samples were asked about."""
    same_answers: int | None = None
    same_bits: bool | None = None
    """Whether every output is the same to the bit."""
    largest: float | None = None
    """Largest absolute difference of an output."""
    relative: float | None = None
    """Of the output's largest value."""
    first_layer: str | None = None
    """The layer, or the step before or behind the model, that differs first."""
    kind: str | None = None
    """The mistake that it looks like."""
    difference: Difference | None = None

    def to_json(self) -> dict[str, Any]:
        body = asdict(replace(self, difference=None))
        return {**body, "difference": self.difference.to_json() if self.difference is not None else None}


@dataclass(frozen=True)
class StackDifferences:
    model: str
    rows: tuple[StackRow, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def outcome(self) -> Outcome:
        """A fault counts before what is not known."""
        found = {_OUTCOMES.get(row.judgment, "same") for row in self.rows}
        order: tuple[Outcome, ...] = ("different", "no verdict", "undecided", "same")
        return next(each for each in order if each in found)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    def to_json(self) -> dict[str, Any]:
        rows = [row.to_json() for row in self.rows]
        return {"model": self.model, "outcome": self.outcome, "stacks": rows, "notes": list(self.notes)}


def diff_stacks(
    model: ModelSource,
    stacks: Sequence[str],
    dataset: DatasetSource | None = None,
    *,
    samples: int = 2,
    random: RandomInput | None = None,
    tolerance: Tolerance | None = None,
    first_options: Mapping[str, Any] | None = None,
    other_options: Mapping[str, Any] | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> StackDifferences:
    """Where each stack begins to differ from the first one, on samples of a dataset or on numbers by chance."""
    settings = settings or Settings.from_environment()
    found = find_model(model)
    names = _names(stacks, list(fitting_stacks(found, settings)) if ALL in stacks else [])
    asked = [
        SideRequest(model_for_stack(found, name), name, dict((other_options if at else first_options) or {}))
        for at, name in enumerate(names)
    ]  # a name that is misspelled is found before anything runs
    with ExitStack() as held:
        folder = Path(held.enter_context(shared_folder()))
        most = shutil.disk_usage(folder).free // SHARE_OF_DISK
        place = Place(settings, watcher or Watcher(), trust, folder, most)
        by_chance = random if random is not None or dataset is not None else RandomInput()
        rest = (dataset if random is None else None, samples, place)
        side = Side("A", asked[0], *rest)
        worker = held.enter_context(side.open())
        reading = side.read(worker, by_chance)
        table = _Table(side, worker, reading, tolerance or Tolerance(), folder)
        for name, request in zip(names[1:], asked[1:], strict=True):
            table.add(name, request, rest)
            table.forget_last()
        return StackDifferences(found.reference, (table.reference(names[0]), *table.rows), tuple(table.notes))


def _names(stacks: Sequence[str], fitting: Sequence[str]) -> list[str]:
    """Each once, in their order."""
    named = [each for name in stacks for each in (fitting if name == ALL else (name,))]
    found = list(dict.fromkeys(named))
    if len(found) < 2:
        said = f"only {found[0]} is named" if found else "no stack is named"
        raise UsageError(
            f"{said}, and one stack is nothing to compare with",
            hint="name two or more, such as --stacks current,onnxruntime-1.17; mlmodelscope stacks lists them",
        )
    return found


class _Table:
    """The first stack, open and read, and the rows of the others so far."""

    def __init__(self, side: Side, worker: Worker, reading: Reading, tolerance: Tolerance, folder: Path) -> None:
        self._first: OpenSide = (side, worker)
        self._reading, self._tolerance, self._folder = reading, tolerance, folder
        self._kept = {each.name for each in folder.iterdir()}
        self._plans: dict[str, Plan] = {}
        self.rows: list[StackRow] = []
        self.notes: list[str] = [f"A: {note}" for note in reading.notes]
        self._own = _answers(side, worker, reading)

    def reference(self, name: str) -> StackRow:
        side = self._first[0]
        return StackRow(
            name,
            "reference",
            "the others are compared with it",
            side.stack,
            side.plan.predictor.name or "functions",
            len(self._reading.layers),
        )

    def add(self, name: str, request: SideRequest, rest: tuple[DatasetSource | None, int, Place]) -> None:
        try:
            side = Side("B", request, *rest)
        except MLModelScopeError as error:
            self.rows.append(StackRow(name, "no verdict", _line(error)))
            return
        twin = next((other for other, plan in self._all_plans().items() if _is_same(plan, side.plan)), None)
        if twin is not None:
            self.notes.append(f"{name} is {twin} here: the same packages")
        self._plans[name] = side.plan
        try:
            with side.open() as worker:
                self.rows.append(self._compared(name, side, worker))
        except MLModelScopeError as error:
            said = f"cannot be compared: {_line(error)}"
            self.rows.append(StackRow(name, "no verdict", said, side.stack, side.plan.predictor.name or "functions"))

    def forget_last(self) -> None:
        """What was read of the last stack need not stay on the disk."""
        for each in self._folder.iterdir():
            if each.name not in self._kept:
                each.unlink(missing_ok=True)

    def _all_plans(self) -> dict[str, Plan]:
        return {"the first": self._first[0].plan, **self._plans}

    def _compared(self, name: str, side: Side, worker: Worker) -> StackRow:
        reading = side.read(worker, self._reading)
        found = compare_sides([self._first, (side, worker)], self._tolerance, self._folder, [self._reading, reading])
        outputs = [pair.apart for pair in found.pairs if pair.is_output and pair.apart is not None]
        is_same = bool(outputs) and all(each.unequal == 0 and not each.different_not_finite for each in outputs)
        theirs = _answers(side, worker, reading)
        same = None
        if self._own is not None and theirs is not None:
            same = same_answers(side.plan.task, self._own, theirs)
        return StackRow(
            name,
            _judgment(found, is_same),
            found.sentence,
            side.stack,
            side.plan.predictor.name or "functions",
            len(reading.layers),
            same[1] if same is not None else None,
            same[0] if same is not None else None,
            is_same if outputs else None,
            max((each.largest for each in outputs), default=None),
            _finite(max((each.relative for each in outputs), default=None)),
            _where(found),
            found.faults[0].kind if found.faults else None,
            found,
        )


def _judgment(found: Difference, is_same: bool) -> Judgment:
    if found.outcome == "same":
        return "same bits" if is_same else "rounding"
    return "fault" if found.outcome == "different" else found.outcome


def _where(found: Difference) -> str | None:
    """The layer that differs first; with samples, what differs in front of the model counts before."""
    part = next((part for part in found.parts if part.verdict == "differs"), None)
    if part is None or part.part == "model":
        return found.named
    return f"{part.part}: {part.step}" if part.step else part.part


def _answers(side: Side, worker: Worker, reading: Reading) -> Answers | None:
    """What the stack's own steps make of its own outputs."""
    if not side.has_samples:
        return None
    try:
        return side.steps(worker, reading.outputs)[1]
    except WorkerError:
        return None


def _is_same(one: Plan, other: Plan) -> bool:
    return (one.stack.packages, one.stack.recipe, one.predictor) == (
        other.stack.packages,
        other.stack.recipe,
        other.predictor,
    )


def _line(error: MLModelScopeError) -> str:
    return next(iter(error.message.splitlines()), "")


def _finite(value: float | None) -> float | None:
    return value if value is not None and value < float("inf") else None


def stack_names(text: str) -> list[str]:
    """Comma-separated names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def differing(rows: Iterable[StackRow]) -> list[StackRow]:
    return [row for row in rows if row.difference is not None and row.judgment == "fault"]
