"""Claims and what became of them: replications asked for, watched, and looked at later."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import RowMapping

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.request import Request
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.ledger.verdicts import Verdicts
from mlmodelscope.replicate.finding import Finding, Goal
from mlmodelscope.replicate.kind import FORMER_CHANGES
from mlmodelscope.replicate.outcome import Findings
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import evaluations, requests

_LONGEST = 10_000


def ask(desk: Desk, person: Person, request: Request, key: str | None) -> str:
    """A request of the kind `replicate`; its id."""
    if request.kind != "replicate":
        raise UsageError(f"a replication is asked for, not {request.kind}")
    return requests.ask(desk, person, request, key)


def find(
    desk: Desk, person: Person, limit: int, before: tuple[datetime, str] | None, **wanted: str | None
) -> list[dict[str, Any]]:
    """Newest first."""
    demand(person, "read")
    rows = desk.history.list(limit=limit, before=before, kind="replicate", **wanted)
    verdicts = Verdicts(desk.store.database).of([row["id"] for row in rows])
    return [_summary(row, verdicts.get(row["id"])) for row in rows]


def get(desk: Desk, person: Person, identity: str) -> dict[str, Any]:
    """All that is known of it: while it runs what was tried so far, in the end what was found."""
    demand(person, "read")
    row = _row(desk, identity)
    verdicts = Verdicts(desk.store.database)
    told = verdicts.of([identity]).get(identity)
    finding = None
    if row["state"] == "finished" and told is not None:
        with contextlib.suppress(UsageError):  # the record was deleted since; the verdict stays
            finding = _findings(desk, row, told).finding()
    tried = _rounds(verdicts.rounds(identity))
    return {**_summary(row, told), "goal": _goal(verdicts.goal(identity)), "tried": tried, "finding": finding}


def samples(
    desk: Desk, person: Person, identity: str, *, kind: str | None, start: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """(some of the samples whose answer flipped, how many there are), the most telling first."""
    demand(person, "read")
    wanted = FORMER_CHANGES.get(kind, kind) if kind else None
    flips = [each for each in _found(desk, identity).flips() if wanted is None or each.kind == wanted]
    return [each.model_dump(by_alias=True) for each in flips[start : start + limit]], len(flips)


def picture(desk: Desk, person: Person, identity: str, name: str) -> bytes:
    """What the model sees of a sample: a PNG file."""
    demand(person, "read")
    return _found(desk, identity).picture(name)


def report(desk: Desk, person: Person, identity: str, form: Literal["html", "junit", "md"]) -> str:
    demand(person, "read")
    found = _found(desk, identity)
    return found.page() if form == "html" else found.text("junit.xml" if form == "junit" else "summary.md")


def _row(desk: Desk, identity: str) -> RowMapping:
    row = desk.queue.get(identity)
    if row["kind"] != "replicate":
        raise UsageError(f"there is no replication `{identity}`")
    return row


def _found(desk: Desk, identity: str) -> Findings:
    row = _row(desk, identity)
    told = Verdicts(desk.store.database).of([identity]).get(identity)
    if row["state"] != "finished" or told is None:
        raise UsageError(f"there is no finding of `{identity}` yet")
    return _findings(desk, row, told)


def _findings(desk: Desk, row: RowMapping, told: dict[str, Any]) -> Findings:
    record = desk.store.get(str(row["record"]))  # that it is there, and that its name is one
    return Findings(desk.store, record.id, str(told.get("finding")))


def _summary(row: RowMapping, told: dict[str, Any] | None) -> dict[str, Any]:
    finding = read_verdict(told) if told is not None else None
    return {
        **evaluations.spell(row),
        "verdict": finding.verdict if finding else None,
        "claim": finding.claim if finding else None,
        "measured": finding.measured if finding else None,
        "verdicts": list(finding.verdicts) if finding else [],
        "explained_by": [each.words for each in finding.explained_by] if finding else [],
        "text": finding.said[0] if finding and finding.said else None,
    }


def read_verdict(told: dict[str, Any]) -> Finding | None:
    """A verdict as an agent told it, where it can be understood."""
    try:
        return Finding.model_validate({name: told[name] for name in Finding.model_fields if name in told})
    except ValidationError:
        return None


def _goal(told: dict[str, Any] | None) -> Goal | None:
    try:
        return Goal.model_validate(told) if told is not None else None
    except ValidationError:
        return None


def _rounds(told: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for each in told:
        variants = [_variant(one) for one in each.get("variants", ()) if isinstance(one, dict)]
        found.append({"samples": _count(each.get("samples")), "variants": [one for one in variants if one is not None]})
    return found[-_LONGEST:]


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _variant(told: dict[str, Any]) -> dict[str, Any] | None:
    expected, deviation = told.get("expected"), told.get("deviation", 0.0)
    if not isinstance(expected, (int, float)) or not isinstance(deviation, (int, float)):
        return None
    if not isinstance(told.get("pitfalls"), list):
        return None
    why = told.get("why")
    return {
        "pitfalls": [str(name) for name in told["pitfalls"]],
        "words": str(told.get("words", "")),
        "expected": float(expected),
        "deviation": float(deviation),
        "gained": _count(told.get("gained")),
        "lost": _count(told.get("lost")),
        "out": told.get("out") is True,
        "why": str(why) if why is not None else None,
    }
