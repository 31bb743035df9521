"""What the API answers where something went wrong."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from mlmodelscope.server.rest.answers import Answer, Fault
from mlmodelscope.server.rest.evaluation_answers import Resolution


class Problem(Answer):
    """What went wrong (RFC 9457), sent as application/problem+json."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:mlmodelscope:UsageError",
                    "title": "UsageError",
                    "status": 404,
                    "detail": "there is no evaluation `e1`",
                    "request_id": "5f1d7a84c9e04b6e",
                }
            ]
        },
    )
    type: str
    title: Annotated[str, Field(description="The kind of error: the same for the same reason.")]
    status: int
    detail: Annotated[str, Field(description="What is wrong, for people.")]
    hint: Annotated[str | None, Field(description="What to do about it.")] = None
    request_id: Annotated[str | None, Field(description="By which the server's log knows this question.")] = None
    scope: Annotated[str | None, Field(description="What the token would have to have.")] = None
    problems: list[Fault] | None = None
    resolution: Resolution | None = None
