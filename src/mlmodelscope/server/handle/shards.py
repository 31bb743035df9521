"""Evaluations in parts: when the last part is in, they become one record."""

from __future__ import annotations

import shutil
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.ledger.change import ENDED
from mlmodelscope.ledger.request import Failure, Work
from mlmodelscope.record.packed import opened
from mlmodelscope.server.desk import Desk
from mlmodelscope.sharding import join_shards

_LARGEST_PART = 1 << 30


def place_of(desk: Desk, whole: str, number: int) -> Path:
    return desk.store.home / "shards" / whole / f"{number}.zip"


def keep(desk: Desk, evaluation: str, attempt: int, packed: Path) -> None:
    """A part is done: its answers are kept, then it is said."""
    row = desk.queue.get(evaluation)
    shard = Work.model_validate_json(row["work"]).shard
    if shard is None or row["part_of"] is None:
        raise UsageError(f"evaluation {evaluation} is not a part of another")
    with opened(packed, min(_LARGEST_PART, desk.config.largest_upload), "part of an evaluation") as inside:
        if inside.testzip() is not None:  # it is read when all parts are there, and then it must be whole
            raise UsageError("this part of an evaluation is damaged")
    destination = place_of(desk, row["part_of"], shard.number)
    destination.parent.mkdir(parents=True, exist_ok=True)
    draft = destination.with_suffix(f".{attempt}.draft")
    shutil.copyfile(packed, draft)
    draft.replace(destination)
    desk.queue.finish(evaluation, attempt, None)
    advance(desk, row["part_of"])


def advance_all(desk: Desk) -> None:
    """What a server that was killed had not come to."""
    for whole in desk.parts.open_wholes():
        advance(desk, whole)


def advance(desk: Desk, whole: str) -> None:
    """Join the parts when all are there; end it when one has failed."""
    if desk.queue.get(whole)["state"] in ENDED:
        return
    states = desk.parts.states(whole)
    count = sum(states.values())
    desk.parts.progress(whole, states.get("finished", 0), count)
    if set(states) == {"finished"}:
        with desk.store.lock(f"join-{whole}"):  # the last two parts may come in at the same moment
            if desk.queue.get(whole)["state"] not in ENDED:
                _join(desk, whole, count)
    elif "failed" in states:
        desk.parts.end_whole(whole, None, desk.parts.failure(whole))
    elif "cancelled" in states and set(states) <= set(ENDED):
        desk.parts.end_whole(whole, None)


def _join(desk: Desk, whole: str, count: int) -> None:
    paths = [place_of(desk, whole, number) for number in range(count)]
    try:
        record = join_shards(paths, desk.store)
        desk.parts.end_whole(whole, record.id)
    except MLModelScopeError as error:
        failure = Failure(kind=type(error).__name__, message=error.message, hint=error.hint)
        desk.parts.end_whole(whole, None, failure)
    shutil.rmtree(paths[0].parent, ignore_errors=True)
