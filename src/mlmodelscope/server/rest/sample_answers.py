"""What the API answers about the samples of a record or a dataset, and about what was claimed of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mlmodelscope.ledger.request import Request
from mlmodelscope.server.rest.answers import Answer, example
from mlmodelscope.types import Interval


class TakenFor(Answer):
    model_config = example(answer=282, answer_name="tiger cat", count=12)
    answer: int
    answer_name: str
    count: int


class ClassAccuracy(Answer):
    model_config = example(
        label=281,
        name="tabby",
        right=38,
        seen=50,
        accuracy={"value": 0.76, "low": 0.6257, "high": 0.8570, "confidence": 0.95},
        taken_for={"answer": 282, "answer_name": "tiger cat", "count": 12},
    )
    label: int
    name: str
    right: int
    seen: int
    accuracy: Annotated[Interval, Field(description="Wilson's score interval.")]
    taken_for: Annotated[TakenFor | None, Field(description="The most frequent wrong answer.")]


class ConfusedPair(Answer):
    model_config = example(label=281, label_name="tabby", answer=282, answer_name="tiger cat", count=12)
    label: int
    label_name: str
    answer: int
    answer_name: str
    count: int


class ClassTable(Answer):
    items: Annotated[list[ClassAccuracy], Field(description="The worst first.")]
    confused: Annotated[list[ConfusedPair], Field(description="What is taken for what, the most frequent first.")]
    about: Annotated[str, Field(description="One sentence about all of them.")]


class DatasetSample(Answer):
    model_config = example(id="cats/0001.jpg", label=281, label_name="tabby")
    id: str
    label: int | None
    label_name: str | None


class DatasetSamplePage(Answer):
    items: list[DatasetSample]
    total: int


class RecordClaim(Answer):
    """A published number beside what a record measured."""

    model_config = example(
        metric="top1",
        published="75.1",
        dataset="imagenet",
        source=None,
        measured={"value": 0.749, "low": 0.745, "high": 0.753, "confidence": 0.95},
        same_dataset=True,
        tag="inside the interval",
        sentence="The published top-1 of 75.1 % lies inside the interval of 74.5 – 75.3 % measured on 50,000 samples.",
        verdict="reproduced",
        replication=None,
    )
    metric: str
    published: Annotated[str, Field(description="In percent, with the digits that it was published with.")]
    dataset: str | None
    source: str | None
    measured: Interval | None
    same_dataset: bool
    tag: Annotated[str, Field(description="The sentence in two or three words.")]
    sentence: str
    verdict: Annotated[str | None, Field(description="Of the last replication of this claim, where there was one.")]
    replication: str | None


class RecordClaimList(Answer):
    items: list[RecordClaim]


class RecordManifest(Answer):
    kind: str
    name: str
    version: str
    text: Annotated[str, Field(description="As it was written.")]


class RecordManifestList(Answer):
    items: list[RecordManifest]


class RecordRequest(Answer):
    request: Annotated[Request, Field(description="What asks for the same once more, where it is sent to `/requests`.")]
    command: Annotated[str, Field(description="The same as a command.")]
