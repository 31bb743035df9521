"""People, their tokens and what they did, as the API answers them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

Scope = Literal["read", "run", "agent", "trust", "admin"]


class Somebody(Answer):
    model_config = example(owner="ada", scopes=["read", "run"])
    owner: str
    scopes: list[Scope]


class Token(Answer):
    model_config = example(
        id="t20260131-101500-3f9a",
        name="laboratory",
        owner="lab",
        scopes=["agent", "read"],
        created_at="2026-01-31T10:15:00Z",
        expires_at=None,
        used_at=None,
    )
    id: str
    name: str
    owner: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None


class TokenList(Answer):
    items: list[Token]


class NewToken(Answer):
    model_config = example(id="t20260131-101500-3f9a", token="mlms_…")
    id: str
    token: Annotated[str, Field(description="Shown this once; only its hash is kept.")]


class AuditEntry(Answer):
    model_config = example(number=7, at="2026-01-31T10:15:00Z", owner="root", what="make token", about="t2026…")
    number: int
    at: datetime
    owner: str
    what: str
    about: str


class AuditPage(Answer):
    items: list[AuditEntry]
