"""Metrics that records keep and claims are about, those of installed packages among them."""

from __future__ import annotations

from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.task.measure import MEASURES, Measure
from mlmodelscope.task.task import TASKS


def find(desk: Desk, person: Person, task: str | None = None) -> list[dict[str, Any]]:
    """By their names; of one task its headline first, as records show it."""
    demand(person, "read")
    known = [each for _, each in sorted(MEASURES.all().items()) if task is None or task in each.tasks]
    owner = TASKS.get(task) if task is not None else None
    headline = owner.headline if owner is not None else ()
    known.sort(key=lambda each: headline.index(each.name) if each.name in headline else len(headline))
    return [_spelled(each) for each in known]


def _spelled(each: Measure) -> dict[str, Any]:
    return {
        "name": each.name,
        "title": each.title,
        "about": each.meaning,
        "tasks": list(each.tasks),
        "unit": each.unit.name,
        "better": each.better,
        "aliases": list(each.aliases),
    }
