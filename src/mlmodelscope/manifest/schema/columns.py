"""Which columns of a table are what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.manifest.schema.part import Items, Part

__all__ = ["Column", "Columns"]

Column = Annotated[int, Field(ge=0, le=99_999)] | Annotated[str, Field(min_length=1, max_length=1000)]
"""A column by its name, or by its number from 0."""


class Columns(Part):
    """Which columns of a table are what: each is a name, or a number that counts from 0."""

    id: Annotated[Column | None, Field(description="What a sample is called; by default its number.")] = None
    file: Annotated[Column | None, Field(description="Name of the file that holds the sample.")] = None
    text: Annotated[Column | None, Field(description="The text that a model reads.")] = None
    text_pair: Annotated[Column | None, Field(description="The second text, such as the context of a question.")] = None
    audio: Annotated[Column | None, Field(description="Name of a sound file below the source's folder.")] = None
    start: Annotated[Column | None, Field(description="Where in the sound file the sample starts, in seconds.")] = None
    seconds: Annotated[Column | None, Field(description="How long the sample is, in seconds.")] = None
    features: Annotated[
        Literal["*"] | Items[Column],
        Field(description="Columns of numbers and words that a model reads; `*` for all that no other key names."),
    ] = ()
    target: Annotated[
        Column | Items[Column] | None,
        Field(description="What is true of a sample: a class, numbers, reference texts; one column or several."),
    ] = None
    group: Annotated[Column | None, Field(description="Group that is scored by itself, such as a machine.")] = None
    role: Annotated[Column | None, Field(description="For retrieval: `query` or `document`.")] = None
    history: Annotated[
        Items[Column], Field(description="For forecasts: the values before, one a column or a JSON list.")
    ] = ()
    season: Annotated[int | None, Field(ge=1, description="For forecasts: values in a season.")] = None
