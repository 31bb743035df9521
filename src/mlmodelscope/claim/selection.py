"""Which claims a command is about: a job for each model and dataset, since one evaluation decides several claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from mlmodelscope.claim.listing import Published

_EXAMPLES = 3


@dataclass(frozen=True)
class Job:
    """The claims of one model about one dataset."""

    model: str
    dataset: str
    claims: tuple[Published, ...]

    @property
    def is_done(self) -> bool:
        """Whether each was checked as well as it can be: more samples may still decide what some left open."""
        return all(_is_done(each) for each in self.claims)


@dataclass
class LeftOut:
    """Claims that cannot be checked here, for one reason."""

    reason: str
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, claim: Published) -> None:
        self.count += 1
        if len(self.examples) < _EXAMPLES and claim.model not in self.examples:
            self.examples.append(claim.model)


@dataclass(frozen=True)
class Selection:
    jobs: tuple[Job, ...]
    left_out: tuple[LeftOut, ...]
    total: int
    """Claims that fit."""
    beyond: int = 0
    """Claims that were not looked at, because the limit was reached before."""


class Place(Protocol):
    """Where claims would be checked, and what it lacks."""

    def of_dataset(self, name: str) -> str | None: ...

    def of_model(self, model: str, dataset: str) -> str | None: ...


def select(
    claims: Iterable[Published], place: Place, limit: int | None = None, told: Callable[[int], None] = lambda done: None
) -> Selection:
    """At most `limit` jobs that can be done, in the order of the list, and why the claims before were left out.

    The order is the list's own, and what was checked before counts: so the same command, after it was interrupted,
    is about the same jobs.
    """
    rows = list(claims)
    left_out: dict[str, LeftOut] = {}
    by_job: dict[tuple[str, str], list[Published]] = {}
    for each in rows:
        by_job.setdefault((each.model, each.dataset), []).append(each)
    jobs: list[Job] = []
    seen = 0
    for number, ((model, dataset), group) in enumerate(by_job.items()):
        if limit is not None and len(jobs) >= limit:
            break
        told(number)
        seen += len(group)
        possible = []
        for each in group:
            why = _obstacle_of_claim(each) or place.of_dataset(dataset)
            if why is None:
                possible.append(each)
            else:
                left_out.setdefault(why, LeftOut(why)).add(each)
        job = Job(model, dataset, tuple(possible))
        if not possible:
            continue
        why = None if job.is_done else place.of_model(model, dataset)
        if why is None:
            jobs.append(job)
            continue
        for each in possible:
            left_out.setdefault(why, LeftOut(why)).add(each)
    ordered = sorted(left_out.values(), key=lambda each: -each.count)
    return Selection(tuple(jobs), tuple(ordered), len(rows), len(rows) - seen)


def _obstacle_of_claim(claim: Published) -> str | None:
    """What the claim itself says."""
    if not claim.is_measurable:
        return f"`{claim.metric}` cannot be measured here"
    if not claim.fits:
        return "it was measured with other steps than the manifest has"
    return None if claim.dataset else "it names no dataset"


def _is_done(claim: Published) -> bool:
    check = claim.standing.check
    if check is None:
        return False
    is_whole = check.population is not None and check.samples >= check.population
    return check.verdict != "undecided" or is_whole
