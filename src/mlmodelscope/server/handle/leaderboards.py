"""Leaderboards: which datasets have results, and the results on one of them with the numbers that were published."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mlmodelscope.claim.status import NOT_CHECKED, standings
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.plan.claim import claim_of, is_measurable
from mlmodelscope.plan.claim_key import key_of
from mlmodelscope.record.checks import read_checks
from mlmodelscope.record.leaderboard import Board, Place, claims_in, find_boards, find_places
from mlmodelscope.report.claims import is_same_dataset
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.task.measure import measure_or_bare


@dataclass(frozen=True)
class _Named:
    """What a claim is about, as far as a leaderboard knows it."""

    name: str
    version: str
    split: str | None


def find(desk: Desk, person: Person) -> list[dict[str, Any]]:
    """All tables, by dataset; in each those over all samples first."""
    demand(person, "read")
    with desk.store.database.reading() as connection:
        return [_spell_board(each) for each in find_boards(connection)]


def of_dataset(
    desk: Desk, person: Person, dataset: str, *, board: str | None, q: str | None, start: int, limit: int
) -> dict[str, Any]:
    """The tables of a dataset, and a page of one of them: the first unless another is chosen."""
    demand(person, "read")
    with desk.store.database.reading() as connection:
        boards = find_boards(connection, dataset)
        if board is not None and board not in {each.id for each in boards}:
            raise UsageError(f"there is no leaderboard `{board}` of {dataset}")
        chosen = next((each for each in boards if board in (None, each.id)), None)
        places = find_places(connection, chosen) if chosen is not None else []
        words = (q or "").lower().split()
        found = [each for each in places if all(word in _text(each) for word in words)]
        page = found[start : start + limit]
        published = claims_in(connection, [each.row["record"] for each in page])
    end = start + len(page)
    return {
        "dataset": dataset,
        "boards": [_spell_board(each) for each in boards],
        "board": _spell_board(chosen) if chosen is not None else None,
        "items": _spell_places(desk, chosen, page, published) if chosen is not None else [],
        "total": len(found),
        "next": end if page and end < len(found) else None,
    }


def _text(place: Place) -> str:
    row = place.row
    return f"{row['model']} {row['model_version']} {row['framework']} {row['stack']} {row['machine']}".lower()


def _spell_board(board: Board) -> dict[str, Any]:
    measure = measure_or_bare(board.metric)
    names = ("id", "dataset", "version", "split", "task", "metric", "subset", "models", "records")
    own = {name: getattr(board, name) for name in names}
    return {**own, "title": measure.title, "better": measure.better, "newest": spoken(board.newest)}


def _spell_places(desk: Desk, board: Board, page: list[Place], published: dict[str, str]) -> list[dict[str, Any]]:
    claims = {place.row["record"]: _claims(board, place, published.get(place.row["record"])) for place in page}
    keys = [each["key"] for found in claims.values() for each in found]
    known = standings(read_checks(desk.store.database, claims=keys)) if keys else {}
    unit = measure_or_bare(board.metric).unit.name
    found = []
    for place in page:
        row = {**place.row, "created_at": spoken(place.row["created_at"]), "unit": place.row["unit"] or unit}
        own = [{**each, "status": known.get(each["key"], NOT_CHECKED).status} for each in claims[row["record"]]]
        found.append({"rank": place.rank, "ties_first": place.ties_first, **row, "claims": own})
    return found


def _claims(board: Board, place: Place, published: str | None) -> list[dict[str, Any]]:
    """Those numbers of the model's manifest that are about this metric on this very dataset."""
    about = _Named(board.dataset, board.version, board.split)
    reference = f"{place.row['model']}@{place.row['model_version']}"
    found = []
    for data in json.loads(published or "[]"):
        try:
            written = Claim.model_validate(data)
            claim = claim_of(written, board.task) if is_measurable(written) else None
        except (ValueError, MLModelScopeError):  # of another release, or a unit that the metric does not have
            continue
        if claim is not None and claim.metric == board.metric and is_same_dataset(claim.dataset, about):
            own = {"key": key_of(reference, written), "value": claim.value, "published": claim.published}
            found.append({**own, "source": claim.source, "conditions": claim.conditions})
    return found
