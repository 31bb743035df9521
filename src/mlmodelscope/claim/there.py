"""Claims checked by a server's agents: all are asked for at once, and waited for.

What was asked is found again by its key: the same command, after it was interrupted, waits for the same evaluations.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from mlmodelscope.claim.deadline import Deadline
from mlmodelscope.claim.here import How
from mlmodelscope.claim.listing import Page, Published, Wanted
from mlmodelscope.claim.result import Result, before
from mlmodelscope.claim.selection import Job
from mlmodelscope.claim.status import Standing
from mlmodelscope.client.client import Client, Evaluation
from mlmodelscope.client.questions import ENDED
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.record.checks import Check

_PAGE = 1000
_TRIES = 50
_PAUSES_S = (0.2, 5.0)
_MOST_PAGES = 1000


def list_there(client: Client, wanted: Wanted) -> Page:
    """The server's own list, page by page; as many as are wanted."""
    most = wanted.limit if wanted.limit > 0 else None
    asked = {
        "q": wanted.text or None,
        "source": wanted.source,
        "model": wanted.model,
        "metric": wanted.metric,
        "dataset": wanted.dataset,
        "status": wanted.status,
    }
    rows: list[Published] = []
    start: int | None = wanted.offset
    total = 0
    for _ in range(_MOST_PAGES):
        limit = _PAGE if most is None else min(_PAGE, most - len(rows))
        page = client.get("/published-claims", {**asked, "start": start, "limit": limit})
        rows += [_published(each) for each in page["items"]]
        total, start = int(page["total"]), page["next"]
        if start is None or (most is not None and len(rows) >= most):
            break
    return Page(tuple(rows), total)


def checks_there(client: Client, key: str) -> list[Check]:
    return [_check(each) for each in client.get(f"/published-claims/{key}/checks")["items"]]


def _published(told: Mapping[str, Any]) -> Published:
    facts = {name: told[name] for name in ("model", "metric", "value", "symbol", "dataset", "conditions", "place")}
    more = {name: told[name] for name in ("key", "fits", "is_measurable")}
    check = _check(told["check"]) if told["check"] is not None else None
    standing = Standing(told["status"], check, told["checks"], told["contradicted"])
    return Published(**facts, **more, standing=standing)


def _check(told: Mapping[str, Any]) -> Check:
    return Check(**{**told, "checked_at": datetime.fromisoformat(told["checked_at"])})


class ThereObstacles:
    """What a server's agents lack; asked of the server, model by model."""

    def __init__(self, client: Client, trust: bool) -> None:
        self._client, self._trust = client, trust
        self._datasets: dict[str, str | None] = {}

    def of_dataset(self, name: str) -> str | None:
        """Whether the server has a manifest of it; its agents fetch the files."""
        plain = name.partition("@")[0].partition(":")[0]
        if plain not in self._datasets:
            try:
                self._client.manifest("dataset", plain)
                self._datasets[plain] = None
            except UsageError:
                self._datasets[plain] = f"no manifest there describes the dataset {plain}"
        return self._datasets[plain]

    def of_model(self, model: str, dataset: str) -> str | None:
        try:
            found = self._client.resolve(_request(model, dataset, How(trust=self._trust)))
        except MLModelScopeError as error:
            return error.message.splitlines()[0]
        return None if found["matching"] else str(found["text"]).splitlines()[0]


def check_there(
    client: Client, jobs: Sequence[Job], how: How, deadline: Deadline, say: Callable[[str], None]
) -> Iterator[Result]:
    """The result of each job, as agents come to it; who stops waiting leaves them at work."""
    waiting: dict[str, tuple[Job, Evaluation]] = {}
    for job in jobs:
        if job.is_done and not how.again:
            yield before(job)
            continue
        if deadline.is_over:
            yield Result(job, "not finished", message="the budget was spent before it was asked for")
            continue
        try:
            evaluation = _asked(client, job, how)
        except MLModelScopeError as error:
            yield Result(job, "failed", message=error.message.splitlines()[0])
            continue
        waiting[evaluation.id] = job, evaluation
    if waiting:
        say(f"{len(waiting)} asked for; interrupted, the agents go on, and the same command waits for them")
    pause = _PAUSES_S[0]
    while waiting and not deadline.is_over:
        ended = list(_ended(waiting))
        for identity in ended:
            job, evaluation = waiting.pop(identity)
            say(f"{job.model} on {job.dataset} is {evaluation.state}; {len(waiting)} to go")
            yield _result(client, job, evaluation)
        pause = _PAUSES_S[0] if ended else min(1.5 * pause, _PAUSES_S[1])
        left = deadline.left_s
        if waiting:
            time.sleep(pause if left is None else max(0.0, min(pause, left)))
    for job, evaluation in waiting.values():
        why = "the budget was spent; the agents go on, and the same command waits for it"
        yield Result(job, "not finished", message=f"{why} ({evaluation.id})")


def _ended(waiting: Mapping[str, tuple[Job, Evaluation]]) -> Iterator[str]:
    for identity, (_, evaluation) in waiting.items():
        if evaluation.refresh().state in ENDED:
            yield identity


def _request(model: str, dataset: str, how: How) -> dict[str, Any]:
    chosen = {"batch_size": how.batch_size, "threads": how.threads}
    options = {name: value for name, value in chosen.items() if value != 1}
    asked = {"kind": "replicate", "model": model, "dataset": dataset, "options": options, "again": how.again}
    return {**asked, "arguments": {} if how.explain else {"explain": False}, "trust": how.trust}


def _asked(client: Client, job: Job, how: How) -> Evaluation:
    """What was asked before, unless it came to nothing: then once more."""
    request = _request(job.model, job.dataset, how)
    text = json.dumps([request, asdict(how), sorted(each.key for each in job.claims)], sort_keys=True)
    base = f"claims-check-{hashlib.sha256(text.encode()).hexdigest()[:40]}"
    for number in range(_TRIES):
        (evaluation, *_) = client.ask(request, f"{base}-{number}")
        has_failed = evaluation.state in ENDED and (evaluation.state != "finished" or how.again)
        if not has_failed:
            return evaluation
    raise UsageError(f"{job.model} on {job.dataset} was tried {_TRIES} times", hint="mlmodelscope replicate MODEL")


def _result(client: Client, job: Job, evaluation: Evaluation) -> Result:
    if evaluation.state != "finished":
        error = evaluation.facts.get("error") or {"message": f"it was {evaluation.state}"}
        return Result(job, "failed", message=str(error["message"]).splitlines()[0])
    found = [check for each in job.claims for check in checks_there(client, each.key)]
    own = tuple(check for check in found if check.replication == evaluation.id)
    return Result(job, "checked", own, "" if own else "nothing was said of the numbers as published")
