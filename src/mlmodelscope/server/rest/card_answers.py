"""What the pages of models and datasets show: best numbers, a model's size and network, a dataset's classes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.server.rest.answers import Answer, example
from mlmodelscope.server.rest.record_answers import HEADLINE, Headline
from mlmodelscope.server.rest.replication_answers import ModelClaim

Shape = list[int | None] | None


class Result(Answer):
    """The best number of a model on a dataset, from one record."""

    model_config = example(
        record="20260131-101502-3f9a",
        model="resnet50",
        model_version="1.0.0",
        dataset="imagenet-val",
        dataset_version="1.0.0",
        split=None,
        samples=50000,
        total=50000,
        whole=True,
        stack="onnxruntime-1.31",
        created_at="2026-01-31T10:15:02Z",
        headline=HEADLINE,
        known=True,
        claims=[],
    )
    record: str
    model: str
    model_version: str
    dataset: str
    dataset_version: str
    split: str | None
    samples: Annotated[int, Field(description="That were answered.")]
    total: Annotated[int | None, Field(description="Samples of the whole dataset, where its manifest tells.")]
    whole: Annotated[bool, Field(description="Whether it is over all samples of the dataset.")]
    stack: str | None
    created_at: datetime
    headline: Headline
    known: Annotated[bool, Field(description="Whether the model's manifest is the one that is here by that name.")]
    claims: Annotated[list[ModelClaim], Field(description="What was published of this model, dataset and metric.")]


class ResultList(Answer):
    items: Annotated[list[Result], Field(description="The best first, whole datasets before parts of them.")]
    total: int
    claimed: Annotated[list[ModelClaim], Field(description="Claims about the dataset that no record measures.")]
    more_claimed: Annotated[int, Field(description="Such claims that are left out.")]


class ModelFacts(Answer):
    model_config = example(
        parameters=25557032,
        weight_bytes=102228128,
        flops=8178892800,
        size_bytes=102442450,
        source="file",
        has_network=True,
        reason=None,
    )
    parameters: int | None
    weight_bytes: Annotated[int | None, Field(description="Bytes of all weights.")]
    flops: Annotated[int | None, Field(description="Operations of one call, as far as they are known.")]
    size_bytes: Annotated[int | None, Field(description="Size of the model's files.")]
    source: Annotated[
        Literal["file", "catalog"] | None, Field(description="Who says so: the model's file, or the catalog's facts.")
    ]
    has_network: Annotated[bool, Field(description="Whether the server can show the model's layers.")]
    reason: Annotated[str | None, Field(description="Why the file was not read.")]


class NetworkTensor(Answer):
    name: str
    element_type: str | None
    shape: Annotated[Shape, Field(description="null inside is an open size; null instead is unknown.")]


class LayerInput(Answer):
    layer: Annotated[int | None, Field(description="The layer that makes it; null for an input of the model.")]
    tensor: str
    shape: Shape


class LayerOutput(Answer):
    tensor: str
    shape: Shape


class LayerWeight(Answer):
    name: str
    shape: list[int]
    element_type: str


class LayerAttribute(Answer):
    name: str
    value: str


class NetworkLayer(Answer):
    model_config = example(
        name="/features/0/Conv",
        kind="Conv",
        block=0,
        inputs=[{"layer": None, "tensor": "images", "shape": [None, 3, 224, 224]}],
        outputs=[{"tensor": "conv_0", "shape": [1, 32, 112, 112]}],
        weights=[{"name": "features.0.weight", "shape": [32, 3, 3, 3], "element_type": "float32"}],
        attributes=[{"name": "strides", "value": "[2, 2]"}],
        more=0,
        parameters=864,
        weight_bytes=3456,
        flops=21676032,
    )
    name: str
    kind: Annotated[str | None, Field(description="The format's own word for the operator.")]
    block: Annotated[int | None, Field(description="The block that it is in.")]
    inputs: Annotated[list[LayerInput], Field(description="The first 16; so of all lists of a layer.")]
    outputs: list[LayerOutput]
    weights: list[LayerWeight]
    attributes: list[LayerAttribute]
    more: Annotated[int, Field(description="Entries of these lists that are left out.")]
    parameters: int | None
    weight_bytes: int | None
    flops: Annotated[int | None, Field(description="Of one call; null where it is not known.")]


class NetworkBlock(Answer):
    name: str
    layers: Annotated[int, Field(description="How many, one behind the other.")]


class ModelNetwork(Answer):
    """Layers of a model file in the order in which they run; nothing of the file was run."""

    model: str
    version: str
    format: str
    inputs: list[NetworkTensor]
    outputs: list[NetworkTensor]
    parameters: int | None
    weight_bytes: int | None
    flops: int | None
    layers: Annotated[list[NetworkLayer], Field(description="The first 10,000.")]
    blocks: Annotated[list[NetworkBlock], Field(description="Neighbors that belong together.")]
    more_layers: Annotated[int, Field(description="Layers that are left out.")]
    notes: list[str]


class DatasetClass(Answer):
    model_config = example(number=281, name="tabby", samples=50)
    number: int
    name: str
    samples: Annotated[int | None, Field(description="Of this class; null where the data is not connected.")]


class DatasetClassPage(Answer):
    items: list[DatasetClass]
    total: Annotated[int, Field(description="That fit the words.")]
    all: Annotated[int, Field(description="Classes of the dataset.")]
