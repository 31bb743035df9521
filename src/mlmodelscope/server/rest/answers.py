"""What the API answers, described: programs that are made from openapi.json know every field by its name and type.

This is what all answers share; each kind of thing has a module of its own.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


def example(**values: Any) -> ConfigDict:
    """One that a reader of the API sees."""
    return ConfigDict(frozen=True, json_schema_extra={"examples": [values]})


class Health(Answer):
    model_config = example(status="up", version="0.1.0")
    status: Literal["up"]
    version: str


class Ready(Answer):
    status: Literal["ready"]


class Fault(Answer):
    """One thing that is wrong, and where."""

    model_config = ConfigDict(frozen=True, extra="allow")
    path: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    known: list[str] = []
    hint: str | None = None
