"""Who asks in the tables of routes and roles, and what each of them has on the server to ask about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.cluster.description import AgentDescription, describe_agent
from mlmodelscope.ledger.queue import Planned
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.provision.cache import uploads_of
from mlmodelscope.server.desk import Desk

from .inside import Inside

SCOPES = {
    "none": (),
    "read": ("read",),
    "run": ("run",),
    "read+run": ("read", "run"),
    "agent": ("agent",),
    "trust": ("trust",),
    "local": ("read", "run"),
    "admin": ("admin",),
}
"""Somebody without a token on another machine, tokens by their scopes, and a program on the server's own machine."""
ELSEWHERE = {"X-Forwarded-For": "203.0.113.7"}
"""Says that a question was not asked on this machine."""
NEEDS: Mapping[str, frozenset[str]] = {
    "nothing": frozenset(SCOPES),
    "to be known": frozenset(SCOPES) - {"none"},
    "read": frozenset({"read", "read+run", "local", "admin"}),
    "run": frozenset({"run", "read+run", "local", "admin"}),
    "run with a token": frozenset({"run", "read+run", "admin"}),
    "read and run": frozenset({"read+run", "local", "admin"}),
    "agent": frozenset({"agent", "admin"}),
    "read or agent": frozenset({"read", "read+run", "local", "agent", "admin"}),
    "admin": frozenset({"admin"}),
}
"""Who may, by what an operation needs."""
MODEL = "name: {name}\nversion: 1.0.0\ntask: classification\nframework: {{name: fake}}\n" + (
    "inputs: [{{type: image, processing: {{decode: {{color_layout: RGB}}}}}}]\n"
    "outputs: [{{type: logits, processing: {{softmax: }}}}]\n"
    "source: {{graph_path: 'https://host.example/net.json', graph_checksum: 'sha256:" + "01" * 32 + "'}}\n"
)


@dataclass(frozen=True)
class Own:
    """What somebody has on the server, so that nothing is refused because it is another's."""

    owner: str
    token: str | None
    manifest: str
    digest: str
    trace: str
    evaluation: str
    """Taken by their agent."""
    waiting: str
    ended: str
    agent: str
    description: AgentDescription
    revoked: str
    """The id of a token that may go."""


def owns(server: Inside, role: str, number: int, described: AgentDescription, place: Path) -> Own:
    desk = server.desk
    owner = "local" if role in ("none", "local") else f"{role} token"
    token = None if role in ("none", "local") else desk.tokens.make("a role", owner, SCOPES[role])[1]
    name, agent = f"model-{number}", f"agent-{number}"
    text = MODEL.format(name=name)
    desk.manifests.put("model", name, "1.0.0", parse_manifest(text).digest, owner, text)
    description = described.model_copy(update={"id": agent})
    desk.agents.join(agent, "known", description.model_dump_json(), 600, owner)
    held, waiting, ended = (_evaluation(desk, owner, agents) for agents in ([agent], ["nobody"], ["nobody"]))
    desk.queue.cancel(ended)
    assert [each.id for each in desk.queue.take(agent, 1, 600, alone=True)] == [held]
    revoked = desk.tokens.make("goes", owner, ["read"])[0]
    digest = _artifact(desk, owner, f"content of {number}".encode(), place)
    return Own(
        owner, token, name, digest, _trace(server, owner, number), held, waiting, ended, agent, description, revoked
    )


def _evaluation(desk: Desk, owner: str, agents: list[str]) -> str:
    planned = Planned(Work(kind="evaluate", model="name: m"), "m", "d", agents)
    request = desk.queue.add(owner, Request(model="m"), [planned])
    return str(desk.history.list(request=request)[0]["id"])


def _artifact(desk: Desk, owner: str, content: bytes, place: Path) -> str:
    digest = hashlib.sha256(content).hexdigest()
    draft = place / digest
    draft.write_bytes(content)
    uploads_of(desk.settings).put_file(draft, digest)
    desk.artifacts.add(digest, len(content), "file", owner)
    return digest


def _trace(server: Inside, owner: str, number: int) -> str:
    """Sent with a token that is then forgotten."""
    identity = f"{number + 1:032x}"
    token = server.token("run", owner=owner)
    assert server.ask("POST", "/api/v1/otlp/v1/traces", token, json=spans_of(identity)).status_code == 200
    return identity


def spans_of(trace: str) -> dict[str, Any]:
    span = {"traceId": trace, "spanId": "051581bf3cb55c13", "name": "a", "endTimeUnixNano": 9}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def everybody(server: Inside, place: Path) -> dict[str, Own]:
    described = describe_agent(server.desk.settings, name="any")
    return {role: owns(server, role, number, described, place) for number, role in enumerate(SCOPES)}
