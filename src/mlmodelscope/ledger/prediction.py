"""A prediction as somebody asks for it, and as an agent gets it. Nothing of it is written down: it lives seconds."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mlmodelscope.ledger.request import Failure, ManifestChoice, Where, Work
from mlmodelscope.model_input import row_input, text_input, turns_input
from mlmodelscope.task.shape import Shape
from mlmodelscope_worker.pipeline.turns import MOST_TURNS

LONGEST_S = 600.0
_FORMS = ("base64", "url", "text", "cells", "turns")


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChatTurn(Part):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Input(Part):
    """What the model is asked about: exactly one of these."""

    base64: Annotated[str | None, Field(description="A file, such as an image, in base64.")] = None
    url: Annotated[str | None, Field(max_length=2000, description="Where the file is; the agent fetches it.")] = None
    text: Annotated[str | None, Field(description="A text, for models that take one.")] = None
    text_pair: Annotated[
        str | None, Field(description="The second text, beside `text`, such as the context of a question.")
    ] = None
    cells: Annotated[
        dict[str, int | float | str | None] | None,
        Field(description="A row of a table by column, for models that take one; null where nothing is known."),
    ] = None
    turns: Annotated[
        list[ChatTurn] | None,
        Field(max_length=MOST_TURNS, description="A conversation, for language models; the user asks last."),
    ] = None

    @model_validator(mode="after")
    def _check(self) -> Input:
        given = [name for name in _FORMS if getattr(self, name) is not None]
        if len(given) != 1:
            known = f"{', '.join(_FORMS[:-1])} and {_FORMS[-1]}"
            raise ValueError(f"exactly one of {known} is needed, not {' and '.join(given) or 'none'}")
        if self.text_pair is not None and self.text is None:
            raise ValueError("text_pair is the second text beside `text`, which is not given")
        if self.url is not None:
            try:
                is_of_the_web = urlsplit(self.url).scheme in ("http", "https")
            except ValueError:
                is_of_the_web = False
            if not is_of_the_web:
                raise ValueError("the address must begin with http:// or https://")
        return self

    def parts(self) -> dict[str, dict[str, Any]] | None:
        """A text or a row as the parts of a sample; None where it is a file. UsageError where it is too large."""
        if self.text is not None:
            found = text_input(self.text, self.text_pair)
        elif self.cells is not None:
            found = row_input(self.cells)
        elif self.turns is not None:
            found = turns_input([each.model_dump() for each in self.turns])
        else:
            return None
        return {name: dict(part) for name, part in (found.parts or {}).items()}

    def content(self) -> bytes | None:
        """What came with the question; None where it must be fetched. ValueError where it is no base64."""
        if self.text is not None and self.text_pair is None:
            return self.text.encode()
        if self.text is not None or self.cells is not None or self.turns is not None:
            return json.dumps(self.parts()).encode()
        if self.base64 is None:
            return None
        try:
            return base64.b64decode(self.base64, validate=True)
        except binascii.Error as error:
            raise ValueError(f"input.base64: {error}") from None


class PredictionRequest(Part):
    """A model, something to ask it about, and where it may run."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"model": "efficientnet-lite0", "input": {"url": "https://example.org/cat.jpg"}}]
        },
    )

    model: ManifestChoice
    input: Input
    software: ManifestChoice | None = None
    options: Annotated[dict[str, Any], Field(description="As the library's `Options`: top_k, threads …")] = {}
    write: Annotated[
        dict[str, Any] | None,
        Field(description="How a language model writes: longest, temperature, top_p, top_k, seed, stop."),
    ] = None
    where: Where = Where()
    trust: bool = Field(default=False, description="Let code in the manifests run; needs the scope `trust`.")
    timeout_s: Annotated[float, Field(gt=0, le=LONGEST_S, description="Seconds after which nobody waits any more.")] = (
        120.0
    )


class Posed(Part):
    """A prediction as an agent gets it; what came with the question goes beside it."""

    id: str
    work: Work
    url: str | None = Field(default=None, description="Where the input is, if it did not come with the question.")
    parts: dict[str, dict[str, Any]] | None = Field(
        default=None, description="The parts of a sample, where the input is a text or a row."
    )
    write: dict[str, Any] | None = Field(default=None, description="How a language model writes.")
    public_input: bool = Field(default=False, description="Who asked is a stranger: `url` must lead to a public place.")
    most_bytes: int = Field(description="That an input may have.")
    timeout_s: float


class StageTime(Part):
    """What an answer took its time for."""

    name: str
    duration_ns: int


class Answered(Part):
    """What an agent found."""

    classes: tuple[int, ...] = Field(default=(), description="Numbers of the best classes, the best first.")
    names: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    answer: str | None = Field(default=None, description="The answer as JSON, where it is no list of classes.")
    shapes: tuple[Annotated[Shape, Field(discriminator="kind")], ...] = Field(
        default=(), description="What there is to see of the answer, in pixels of the input."
    )
    prompt: dict[str, Any] | None = Field(
        default=None, description="What a language model was shown, in text and tokens: call, contexts and rows."
    )
    stages: tuple[StageTime, ...] = Field(default=(), description="load, each step, collate, run, post …, in turn.")
    model: str
    version: str = Field(description="Of the model.")
    plan_digest: str
    stack: str = Field(description="Its name; `current` is the Python of the agent.")
    packages: dict[str, str] = Field(description="Version of each package that the plan uses.")
    warm: bool = Field(description="Whether the model was open already.")
    load_ns: int | None = Field(default=None, description="How long it took to load, where it was not.")
    wall_ns: int = Field(description="From the moment the agent had the question until it had the answer.")


class Ending(Part):
    """How a prediction ended at its agent: one of these."""

    answered: Answered | None = None
    failure: Failure | None = None
