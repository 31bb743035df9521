"""What is said of records that go from one server to another."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example

_KEY = "ed25519:dHUj0FpZJ4cE-LjOQ3-4y4ZQeJnC4B2a0G0mGQ6yqTs"


class Signer(Answer):
    model_config = example(key=_KEY, name="lab")
    key: str
    name: Annotated[str | None, Field(description="What the key is called here, where it is known.")] = None


class KnownKey(Answer):
    name: str
    key: str


class KeyList(Answer):
    model_config = example(own=_KEY, accept="known", known=[{"name": "lab", "key": _KEY}])
    own: Annotated[str | None, Field(description="The server's own key, which it signs bundles with.")]
    accept: Annotated[Literal["known", "any"], Field(description="Whose records may be pushed here.")]
    known: list[KnownKey]


class Taken(Answer):
    model_config = example(record="20260725-101500-a1b2c3", is_new=True, signers=[{"key": _KEY, "name": "lab"}])
    record: str
    is_new: Annotated[bool, Field(description="False where the very same record was there already.")]
    signers: list[Signer]


class Pinned(Answer):
    model_config = example(record="20260725-101500-a1b2c3", pinned=True)
    record: str
    pinned: bool


class Origin(Answer):
    model_config = example(
        record="20260725-101500-a1b2c3",
        is_own=False,
        source="pushed by ada",
        received_at="2026-07-25T10:20:00Z",
        digest="0f" * 32,
        signers=[{"key": _KEY, "name": "lab"}],
    )
    record: str
    is_own: Annotated[bool, Field(description="Whether it was made here, or handed over by an agent.")]
    source: str | None = None
    received_at: datetime | None = None
    digest: Annotated[str | None, Field(description="Digest of the statement that was signed.")] = None
    signers: list[Signer]
