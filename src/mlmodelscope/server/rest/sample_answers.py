"""What the API answers about the samples of a record or a dataset, and about what was claimed of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mlmodelscope.ledger.request import Request
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.server.rest.answers import Answer, example
from mlmodelscope.task.shape import Shape
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


class ClassColumn(Answer):
    model_config = example(name="ap", title="AP", is_count=False)
    name: str
    title: str
    is_count: Annotated[bool, Field(description="How many, and not a share from 0 to 1.")]


class ClassMeasures(Answer):
    model_config = example(label=0, name="person", values=[262, 0.31, 0.62])
    label: int
    name: str
    values: Annotated[list[float | None], Field(description="One for each of `columns`.")]


class ClassTable(Answer):
    items: Annotated[
        list[ClassAccuracy], Field(description="The worst first; empty where no sample is simply right or wrong.")
    ]
    columns: Annotated[list[ClassColumn], Field(description="What is measured of each class, where that is more.")]
    measured: Annotated[list[ClassMeasures], Field(description="Each class, the worst first.")]
    confused: Annotated[list[ConfusedPair], Field(description="What is taken for what, the most frequent first.")]
    about: Annotated[str, Field(description="One sentence about all of them.")]


class SampleShapes(Answer):
    """What is true of a sample and what was answered, as shapes over its picture."""

    model_config = example(
        id="000000000139.jpg",
        quality=0.31,
        about="Quality is the F-measure of a picture's boxes.",
        size=[640, 426],
        shown_above=0.3,
        shapes=[
            {
                "kind": "box",
                "side": "answer",
                "left": 3.7,
                "top": 166.8,
                "right": 154.6,
                "bottom": 275.3,
                "name": "tv",
                "score": 0.86,
                "remark": "",
            }
        ],
    )
    id: str
    quality: float | None
    about: Annotated[str, Field(description="What the quality is.")]
    size: Annotated[
        tuple[int, int] | None, Field(description="Width and height of the picture that the places are in.")
    ]
    shapes: list[Annotated[Shape, Field(discriminator="kind")]]
    shown_above: Annotated[float, Field(description="Answers with a lower score are hidden at first.")]


class PromptWords(Answer):
    text: Annotated[str | None, Field(description="The exact text; null where only tokens are known.")]
    omitted: Annotated[int, Field(description="Characters that the record leaves out between `text` and `end`.")]
    end: str
    tokens: Annotated[list[int] | None, Field(description="Null where a server makes them out of sight.")]
    pieces: Annotated[list[str], Field(description="What each token adds to the text; empty where nobody knows.")]
    more: Annotated[int, Field(description="Tokens that are left out: of a context the first, else the last.")]


class PromptTurn(Answer):
    role: str
    text: str


class PromptContext(PromptWords):
    """What stands before."""

    dropped: Annotated[int, Field(description="Tokens that the model did not get, since it takes no more.")]
    turns: Annotated[
        list[PromptTurn], Field(description="In place of a text, where a server writes turns by its own template.")
    ]


class PromptRow(PromptWords):
    """What is asked about, or was written."""

    context: Annotated[int, Field(description="Which of the contexts stands before it.")]
    choice: Annotated[int | None, Field(description="Which choice it is, where there are some.")]
    alone: Annotated[bool, Field(description="Whether the question is left out, to see how likely it is by itself.")]


class SamplePrompt(Answer):
    """What a language model was shown of a sample."""

    model_config = example(
        id="00017",
        call="choose",
        contexts=[
            {
                "text": "Question: where is the cat?\nAnswer:",
                "omitted": 0,
                "end": "",
                "tokens": [1, 894, 29901],
                "pieces": ["<s>", "Question", ":"],
                "more": 0,
                "dropped": 0,
                "turns": [],
            }
        ],
        rows=[
            {
                "text": " here",
                "omitted": 0,
                "end": "",
                "tokens": [1244],
                "pieces": [" here"],
                "more": 0,
                "context": 0,
                "choice": 0,
                "alone": False,
            }
        ],
    )
    id: str
    call: Annotated[str, Field(description="What was asked: to `choose`, to `read` or to `write`.")]
    contexts: list[PromptContext]
    rows: list[PromptRow]


class SampleText(Answer):
    model_config = example(title="Text", text="A cat sits on a mat.")
    title: str
    text: Annotated[str, Field(description="The first 12,000 characters of it.")]


class SampleCell(Answer):
    model_config = example(column="age", value="41")
    column: str
    value: str


class SampleSound(Answer):
    model_config = example(
        reason=None,
        remark="",
        seconds=1.0,
        about="Waveform of 1.00 s, loudest -3 dB",
        peaks=[[-0.7, 0.71], [-0.2, 0.2]],
    )
    reason: Annotated[str | None, Field(description="Why it cannot be played.")]
    remark: Annotated[str, Field(description="Which piece of the file the sample is, where all of it is played.")]
    seconds: Annotated[float | None, Field(description="How long it is, where it is plain WAV.")]
    about: Annotated[str, Field(description="Its waveform in words.")]
    peaks: Annotated[list[list[float]], Field(description="Lowest and highest value in some columns, from -1 to 1.")]


class SampleInput(Answer):
    """What the model was asked about."""

    model_config = example(
        id="row-17",
        kind="text",
        texts=[{"title": "Text", "text": "A cat sits on a mat."}],
        cells=[],
        more_cells=0,
        sound=None,
    )
    id: str
    kind: Annotated[
        str, Field(description="The part that people look at first: `image`, `audio`, `text`, `columns`, …")
    ]
    texts: list[SampleText]
    cells: list[SampleCell]
    more_cells: Annotated[int, Field(description="Cells of the row that are left out.")]
    sound: SampleSound | None


class HeardInput(Answer):
    model_config = example(png="iVBORw0KGgo=", reason="", tensor="float32 98 x 40", low=-13.8, high=4.2, is_wave=False)
    png: Annotated[str | None, Field(description="Base64: time to the right, the first feature at the bottom.")]
    reason: Annotated[str, Field(description="Why there is no picture.")]
    tensor: Annotated[str, Field(description="Element type and shape.")]
    low: Annotated[float, Field(description="The value that is black.")]
    high: Annotated[float, Field(description="The value that is white.")]
    is_wave: Annotated[bool, Field(description="Whether it is samples and no features.")]


class SampleHeard(Answer):
    """What the model hears of a sound."""

    id: str
    inputs: Annotated[list[HeardInput], Field(description="Each input of the model that takes sounds; the first two.")]


class ResidualPoint(Answer):
    model_config = example(sample="row-17", place=0, truth=151.0, answer=206.1)
    sample: str
    place: Annotated[int, Field(description="Which of the sample's numbers.")]
    truth: float
    answer: float


class Residuals(Answer):
    """Numbers that were answered beside those that are true."""

    dataset: str
    samples: Annotated[int, Field(description="That have numbers to compare.")]
    values: Annotated[int, Field(description="Numbers of all of them.")]
    lost: Annotated[int, Field(description="Those that are not finite, or too large to be drawn.")]
    is_several: Annotated[bool, Field(description="Whether samples have several numbers.")]
    has_residuals: Annotated[bool, Field(description="Whether truth and answer are on one scale.")]
    points: Annotated[
        list[ResidualPoint], Field(description="All, or about a thousand at equal distances and the largest errors.")
    ]
    largest: Annotated[list[ResidualPoint], Field(description="The ten largest errors, the largest first.")]


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
        unit="%",
        dataset="imagenet",
        source=None,
        measured={
            "value": 0.749,
            "low": 0.745,
            "high": 0.753,
            "confidence": 0.95,
            "unit": "share",
            "better": "higher",
            "samples": 50000,
        },
        same_dataset=True,
        tag="inside the interval",
        sentence="The published top-1 of 75.1 % lies inside the interval of 74.5 – 75.3 % measured on 50,000 samples.",
        verdict="reproduced",
        replication=None,
    )
    metric: str
    published: Annotated[str, Field(description="With the digits that it was published with.")]
    unit: Annotated[str | None, Field(description="The symbol behind it, where the metric is known.")] = None
    dataset: str | None
    source: str | None
    measured: MeasuredNumber | None
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
