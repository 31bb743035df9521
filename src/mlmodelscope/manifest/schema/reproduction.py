"""A reproduction: a model that is implemented once more, the original, and how the two are compared."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from mlmodelscope.manifest.schema.log import Number
from mlmodelscope.manifest.schema.part import Items, Manifest, MetricName, Name, Part

Check = Literal[
    "pass-through",
    "shapes",
    "determinism",
    "serialization",
    "parameters",
    "data",
    "loss",
    "metric",
    "fixed-weights",
    "gradients",
    "step",
    "samples",
    "curve",
    "numbers",
]
"""In the order in which they run: what a check needs stands before it."""
_MODULE = re.compile(r"(?:[A-Za-z0-9_.-]+/)*[A-Za-z_][A-Za-z0-9_]*\.py")


def _beside(text: str) -> str:
    if text.startswith("/") or ".." in text.split("/") or "\0" in text:
        raise ValueError(f"`{text}` leaves the manifest's folder; a file of a reproduction lies beside its manifest")
    return text


def _code(text: str) -> str:
    if "\n" not in text and not _MODULE.fullmatch(_beside(text)):
        raise ValueError(f"`{text}` is neither a Python file such as `mine.py` nor Python of several lines")
    return text


File = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_beside)]
Code = Annotated[str, Field(min_length=1, max_length=1 << 20), AfterValidator(_code)]


class Implementation(Part):
    """Functions of a model, in Python: what they are called and given is in docs/reproduction.md."""

    code: Annotated[
        Items[Code],
        Field(
            max_length=100,
            description="Python files beside the manifest, or Python itself. The first has the functions; the others "
            "can be imported by their names.",
        ),
    ] = ()
    framework: Annotated[
        Literal["numpy", "pytorch", "tensorflow", "jax"], Field(description="What the model is written in.")
    ] = "numpy"
    software: Annotated[
        str | None, Field(description="The software manifest that it runs in; by default the running Python.")
    ] = None
    log: Annotated[File | None, Field(description="Reference log of its training or evaluation.")] = None


class Original(Implementation):
    """What is reproduced. Each field is of use alone; the more there are, the more can be compared."""

    model: Annotated[
        str | None, Field(description="Model manifest, by name or file: its layers are compared with fixed weights.")
    ] = None
    weights: Annotated[
        File | None, Field(description="File of pre-trained weights (.npz), given to `load_weights` of both sides.")
    ] = None
    repository: Annotated[str | None, Field(description="Where its source code is.")] = None
    paper: Annotated[str | None, Field(description="The publication.")] = None
    numbers: Annotated[dict[MetricName, Number], Field(description="Published numbers, by metric; ratios.")] = {}


class RandomTensor(Part):
    """A tensor that is drawn for a check."""

    name: Annotated[Name, Field(description="Its name.")] = "x"
    shape: Annotated[
        Items[Annotated[int, Field(ge=1, le=1 << 20)]], Field(max_length=8, description="Its shape without the batch.")
    ] = ()
    values: Annotated[
        Literal["normal", "uniform", "integers"],
        Field(description="How its numbers are drawn: around 0, between 0 and 1, or whole ones below `below`."),
    ] = "normal"
    below: Annotated[int, Field(ge=2, le=1 << 30, description="Integers are below this.")] = 10
    element_type: Annotated[
        Literal["float32", "float64", "int64", "int32", "uint8"] | None,
        Field(description="Its element type; by default float32, and int64 for integers."),
    ] = None


class OutputTensor(Part):
    """A tensor that the model must answer with."""

    shape: Annotated[Items[Annotated[int, Field(ge=1)]], Field(max_length=8, description="Without the batch.")] = ()
    element_type: Annotated[str | None, Field(description="Its element type, where that matters.")] = None


class MetricCase(Part):
    """A case whose answer is known."""

    predictions: Annotated[Any, Field(description="What the metric is given as predictions.")]
    targets: Annotated[Any, Field(description="What it is given as targets.")]
    expected: Annotated[Number, Field(description="What it must answer.")]


class Cases(Part):
    """Answers that are known without the original."""

    metric: Annotated[Items[MetricCase], Field(max_length=1000, description="Of the metric.")] = ()
    loss: Annotated[Items[MetricCase], Field(max_length=1000, description="Of the loss.")] = ()


class ReproductionManifest(Manifest):
    """A reimplementation and what it is compared with."""

    mine: Annotated[Implementation, Field(description="The reimplementation.")]
    original: Annotated[Original, Field(description="What it reimplements.")] = Original()
    inputs: Annotated[
        Items[RandomTensor], Field(min_length=1, max_length=32, description="What the model takes, in order.")
    ]
    outputs: Annotated[
        Items[OutputTensor], Field(max_length=32, description="What the model must answer with, in order.")
    ] = ()
    targets: Annotated[RandomTensor | None, Field(description="What the loss compares the outputs with.")] = None
    predictions: Annotated[
        RandomTensor | None, Field(description="What the metric is given; by default the model's first output.")
    ] = None
    samples: Annotated[
        Items[File], Field(max_length=100, description="Files that the data pipeline gets, each by its path.")
    ] = ()
    drawn_samples: Annotated[
        RandomTensor | None, Field(description="Arrays that the data pipeline gets, where there are no files.")
    ] = None
    cases: Annotated[Cases, Field(description="Answers that are known without the original.")] = Cases()
    frozen: Annotated[Items[str], Field(description="Parameters that get no gradient on purpose.")] = ()
    batch_size: Annotated[int, Field(ge=2, le=4096, description="Rows of a batch that is drawn.")] = 4
    seed: Annotated[int, Field(ge=0, lt=1 << 32, description="Seed of all that is drawn.")] = 0
    tolerances: Annotated[
        dict[Check, Annotated[float, Field(strict=False, ge=0, le=10)]],
        Field(description="Of single checks, instead of those that docs/reproduction.md lists."),
    ] = {}
    skip: Annotated[dict[Check, str], Field(description="Checks that are left out, each with the reason.")] = {}

    _texts: dict[str, tuple[tuple[str, str], ...]] = PrivateAttr(default_factory=dict)
