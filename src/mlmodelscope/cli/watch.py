"""`watch`: follow what a server runs until it has ended, and tell who waits for it."""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, print_json, verb
from mlmodelscope.errors import ArtifactError, MLModelScopeError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.cli.watch_bars import Bars
    from mlmodelscope.client.client import Client, Evaluation

_MOST = 50
"""Followed at once: each has a connection of its own."""
_OPEN = ("running", "waiting")
_UNDELIVERED = 1
_WORST_FIRST = (1, 2, 4, 0)
Heard = tuple[str, Mapping[str, Any] | MLModelScopeError | None]
"""Of which evaluation, and what: an event, an error, or None at its end."""


@verb
def watch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Evaluations of the server, by id; by default those of yours that wait or run.",
            metavar="[EVALUATION]...",
        ),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option(
            help="POST JSON to this address, from this machine, whenever one of them ends; a receiver that is busy is "
            "asked four times.",
            metavar="URL",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Follow evaluations of a server until they end; the exit code is that of the worst verdict.

    0: finished, and each claim reproduced. 1: one failed, was cancelled or not reproduced. 2: undecided. 4: better than
    claimed. 1, too, where the webhook could not be delivered.
    """
    there = remote()
    if there is None:
        raise UsageError("`watch` follows what a server runs", hint="mlmodelscope watch --server URL")
    if webhook is not None:
        _check_address(webhook)
    client = there.client
    found = [client.evaluation(name) for name in dict.fromkeys(names)] if names else _mine(client)
    if not found:
        print("nothing of yours is waiting or running there", file=sys.stderr)
    ended, is_delivered = _follow(client, found, webhook, as_json)
    if as_json:
        print_json(ended)
    codes = [int(each["exit_code"]) for each in ended]
    return worst(codes) or (0 if is_delivered else _UNDELIVERED)


def worst(codes: Sequence[int]) -> int:
    """As `replicate` counts several claims: a failure before undecided, that before better than claimed."""
    return next((code for code in _WORST_FIRST if code in codes), max(codes, default=0))


def _check_address(url: str) -> None:
    """Before anything is waited for: an address that cannot be right would be known too late."""
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound or any(ord(letter) < 33 for letter in url):
        raise UsageError("--webhook is not an http or https address", hint="--webhook https://host.example/path")


def _mine(client: Client) -> list[Evaluation]:
    owner = str(client.get("/whoami")["owner"])
    found = [each for state in _OPEN for each in _some(client, owner, state)]
    return list({each.id: each for each in found}.values())[:_MOST]


def _some(client: Client, owner: str, state: str) -> list[Evaluation]:
    from itertools import islice

    return list(islice(client.evaluations(owner=owner, state=state, limit=_MOST), _MOST))


def _follow(
    client: Client, found: Sequence[Evaluation], webhook: str | None, as_json: bool
) -> tuple[list[dict[str, Any]], bool]:
    """(what became of each, in the order in which they ended; whether every one was delivered)."""
    from mlmodelscope.cli.watch_bars import Bars

    if len(found) > _MOST:
        raise UsageError(f"{len(found)} evaluations are too many to follow at once", hint=f"name at most {_MOST}")
    heard: queue.Queue[Heard] = queue.Queue()
    known = {each.id: each for each in found}
    verdicts: dict[str, str] = {}
    for each in found:  # daemons: after Ctrl-C nobody waits for a server that is quiet
        threading.Thread(target=_listen, args=(each, heard), daemon=True).start()
    ended: list[dict[str, Any]] = []
    is_delivered = True
    with Bars(found) as bars:
        while len(ended) < len(known):
            name, what = heard.get()
            if isinstance(what, MLModelScopeError):
                raise what
            if what is not None:
                _note(name, what, verdicts, bars)
                continue
            told = _told(client, known[name].refresh().facts, verdicts.get(name))
            ended.append(told)
            bars.end(name)
            if not as_json:
                print(_line(told), flush=True)
            if webhook is not None:
                is_delivered &= _deliver(webhook, told)
    return ended, is_delivered


def _listen(evaluation: Evaluation, heard: queue.Queue[Heard]) -> None:
    try:
        for event in evaluation.events():
            heard.put((evaluation.id, event))
        heard.put((evaluation.id, None))
    except MLModelScopeError as error:
        heard.put((evaluation.id, error))


def _note(name: str, event: Mapping[str, Any], verdicts: dict[str, str], bars: Bars) -> None:
    if event["kind"] == "verdict" and isinstance(event.get("verdict"), str):
        verdicts[name] = event["verdict"]
    bars.show(name, event)


def _told(client: Client, facts: Mapping[str, Any], verdict: str | None) -> dict[str, Any]:
    """What a webhook gets, and `--json` prints."""
    from mlmodelscope.replicate.kind import EXIT_CODES

    code = 0 if facts["state"] == "finished" else 1
    if code == 0 and verdict is not None:
        code = {str(kind): number for kind, number in EXIT_CODES.items()}.get(verdict, 1)
    names = ("id", "kind", "model", "dataset", "state", "owner", "agent", "record", "created_at", "ended_at", "error")
    kept = {name: facts.get(name) for name in names}
    return {"event": "evaluation ended", "server": client.url, **kept, "verdict": verdict, "exit_code": code}


def _line(told: Mapping[str, Any]) -> str:
    about = f"{told['id']}  {told['kind']} {told['model']}" + (f" on {told['dataset']}" if told["dataset"] else "")
    became = told["verdict"] or told["state"]
    reason = f": {told['error']['message']}" if told["error"] else ""
    return f"{about}: {became}{reason}" + (f", record {told['record']}" if told["record"] else "")


def _deliver(url: str, told: Mapping[str, Any]) -> bool:
    from mlmodelscope.provision.send import send

    try:
        send(url, json.dumps(told, default=str).encode(), "application/json")
    except ArtifactError as error:  # the others are still to be followed
        print(f"the webhook was not told of {told['id']}: {error.message}", file=sys.stderr)
        return False
    return True
