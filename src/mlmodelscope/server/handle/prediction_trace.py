"""A prediction in the trace of whoever asked for it: what the server, the agent and the model did, as spans beside the
caller's own, which its program sends by OTLP."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import traces
from mlmodelscope.trace.caller import Caller
from mlmodelscope.trace.intake import Arrived, Message, Row

_LOG = logging.getLogger("mlmodelscope.server")
_SERVICE = "mlmodelscope"


def join(desk: Desk, person: Person, caller: Caller, began_ns: int, ended_ns: int, found: Mapping[str, Any]) -> None:
    """Keep the spans of a prediction; an answer is not lost because they find no room.

    `found` is the answer, or `error` alone. The trace has no resource of ours: it is the caller's.
    """
    arrived = Arrived(list(_rows(caller, began_ns, ended_ns, found)))
    try:
        message = traces.take(desk, person, Message({caller.trace_id: arrived}))
    except (MLModelScopeError, OSError) as error:
        _LOG.warning("the spans of a prediction were not kept: %s", error)
        return
    if message.rejected:
        _LOG.warning("the spans of a prediction were not kept: %s", message.reason)


def _rows(caller: Caller, began_ns: int, ended_ns: int, found: Mapping[str, Any]) -> Iterator[Row]:
    """Times of the agent are durations by its own clock: they end when the server had the answer."""
    name = f"predict {found['model']}" if "model" in found else "predict"
    said = {key: found[key] for key in ("model", "version", "stack", "warm", "agent", "error") if key in found}
    whole = _row(name, "application", began_ns, ended_ns, caller.span_id, {"kind": "prediction", **said})
    yield whole
    if "wall_ns" not in found:
        return
    start = max(began_ns, ended_ns - int(found["wall_ns"]))
    agent = _row(f"agent {found['agent']}", "application", start, ended_ns, whole.id, {"kind": "agent"})
    yield agent
    if found.get("load_ns"):
        end = min(ended_ns, start + int(found["load_ns"]))
        yield _row("load model", "application", start, end, agent.id, {})
    yield from _stages(found.get("stages", ()), start, ended_ns, agent.id)


def _stages(stages: Sequence[Mapping[str, Any]], start_ns: int, end_ns: int, parent: str) -> Iterator[Row]:
    """One behind the other, the last at the end."""
    moment = end_ns - sum(int(each["duration_ns"]) for each in stages)
    for each in stages:
        end = moment + int(each["duration_ns"])
        yield _row(str(each["name"]), "model", max(start_ns, moment), max(start_ns, end), parent, {})
        moment = end


def _row(name: str, level: str, start_ns: int, end_ns: int, parent: str, said: Mapping[str, Any]) -> Row:
    words = json.dumps({"service.name": _SERVICE, **said}, separators=(",", ":"), default=str)
    return Row(secrets.token_hex(8), parent, name[:500], level, start_ns, end_ns, words)
