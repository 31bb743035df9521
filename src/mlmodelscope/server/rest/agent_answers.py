"""Agents as the API answers them, and what it answers agents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.ledger.request import Work
from mlmodelscope.server.rest.answers import Answer


class Agent(Answer):
    id: str
    state: Literal["online", "draining", "gone"]
    joined_at: datetime
    seen_at: datetime
    description: AgentDescription


class AgentList(Answer):
    items: list[Agent]


class Joined(Answer):
    lease_s: Annotated[float, Field(description="Seconds for which it is believed to be there without a heartbeat.")]


class Beat(Answer):
    gone: Annotated[list[str], Field(description="Evaluations that are not its own any more.")]
    cancel: Annotated[list[str], Field(description="Evaluations that it is to end.")]
    draining: Annotated[bool, Field(description="Whether it is to take nothing more.")]


class Assigned(Answer):
    id: str
    attempt: int
    work: Work
    timeout_s: int | None


class Taken(Answer):
    evaluations: list[Assigned]


class Kept(Answer):
    record: str
