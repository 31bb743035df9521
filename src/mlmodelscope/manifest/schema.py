"""The one schema that every manifest becomes. A sentence under each field is its documentation everywhere."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from mlmodelscope.errors import VersionError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.types import Checksum

Item = TypeVar("Item")
Items = Annotated[tuple[Item, ...], Field(strict=False)]  # a YAML list is a Python list; the items stay strict


def _text_as_written(value: Any) -> Any:
    """`1.10` is a float to YAML and a version to its author: keep what was written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return getattr(value, "text", str(value))
    return value


def _version(text: str) -> str:
    try:
        Version(text)
    except VersionError as error:
        raise ValueError(error.message) from None
    return text


def _constraint(text: str) -> str:
    try:
        Constraint(text)
    except VersionError as error:
        raise ValueError(error.message) from None
    return text


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", text) or len(text) > 100:
        raise ValueError("a name has letters, digits and . _ + - only, and starts with a letter or digit")
    return text


def _checksum(text: str) -> str:
    return str(Checksum.parse(text))


def _reference(text: str) -> str:
    parse_reference(text)
    return text


_LOOSE_TEXT = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})

Name = Annotated[str, AfterValidator(_name)]
VersionText = Annotated[str, BeforeValidator(_text_as_written), AfterValidator(_version), _LOOSE_TEXT]
ConstraintText = Annotated[str, BeforeValidator(_text_as_written), AfterValidator(_constraint), _LOOSE_TEXT]
ChecksumText = Annotated[str, AfterValidator(_checksum)]
Reference = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_reference)]


class Part(BaseModel):
    """Frozen, typed, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


class Step(Part):
    """One operation with every parameter explicit."""

    name: str
    parameters: dict[str, Any]


class Framework(Part):
    """The framework that runs the model."""

    name: Annotated[str, Field(min_length=1, description="Name of the framework, for example `onnxruntime`.")]
    version: Annotated[ConstraintText, Field(description="Which versions will do, for example `^1.x`.")] = "*"


class Images(Part):
    """Container images for one architecture."""

    cpu: Annotated[str | None, Field(description="Image for CPU evaluation.")] = None
    gpu: Annotated[str | None, Field(description="Image for GPU evaluation.")] = None


ElementType = Literal["float32", "float16", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"]
LayerName = Annotated[
    str | int | None,
    Field(description="Name or number of the layer; may be left out where there is only one."),
]


class Input(Part):
    """One input of the model and what happens to a sample before it gets there."""

    type: Annotated[Literal["image"], Field(description="Modality of the input.")]
    layer_name: LayerName = None
    element_type: Annotated[ElementType, Field(description="Element type of the tensor that the model takes.")] = (
        "float32"
    )
    description: Annotated[str | None, Field(description="What the input is.")] = None
    processing: Annotated[Items[Step], Field(description="Pre-processing steps, executed in the order written.")] = ()


class Output(Part):
    """One output of the model and how it becomes answers."""

    type: Annotated[
        Literal["probability", "logits"],
        Field(description="What the scores are: probabilities that sum to 1, or raw logits."),
    ]
    layer_name: LayerName = None
    element_type: Annotated[ElementType, Field(description="Element type of the output tensor.")] = "float32"
    description: Annotated[str | None, Field(description="What the output is.")] = None
    processing: Annotated[Items[Step], Field(description="Post-processing steps, executed in the order written.")] = ()
    features_url: Annotated[
        Reference | None, Field(description="File with one class name a line, in output order.")
    ] = None
    features_checksum: Annotated[ChecksumText | None, Field(description="Checksum of that file.")] = None
    label_offset: Annotated[
        int,
        Field(
            ge=-10000,
            le=10000,
            description="Output number of the dataset's class 0; 1 where 0 is a background class.",
        ),
    ] = 0


class Source(Part):
    """Where the model's files are: one file, a folder, or a graph and its weights."""

    graph_path: Annotated[
        Reference, Field(description="The model file or folder, or the graph where weights are apart.")
    ]
    graph_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the graph file or folder.")] = None
    weights_path: Annotated[Reference | None, Field(description="The weights, where they are a file of their own.")] = (
        None
    )
    weights_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the weights.")] = None
    weights_key: Annotated[
        str | None, Field(description="Key of the tensors inside a checkpoint, for example `state_dict`.")
    ] = None


class DatasetReference(Part):
    """A dataset by name."""

    name: Annotated[str, Field(description="Name of the dataset.")]
    version: Annotated[ConstraintText, Field(description="Version constraint.")] = "*"


class Claim(Part):
    """A published number."""

    metric: Annotated[Name, Field(description="What was measured, for example `top1`.")]
    value: Annotated[
        str,
        BeforeValidator(_text_as_written),
        AfterValidator(lambda text: _number_text(text)),
        _LOOSE_TEXT,
        Field(description="The number as published, in percent, with its digits: `75.10` claims more than `75.1`."),
    ]
    dataset: Annotated[str | None, Field(description="Dataset that the number was measured on.")] = None
    source: Annotated[str | None, Field(description="Where it was published.")] = None


def _number_text(text: str) -> str:
    if not re.fullmatch(r"\d{1,6}(\.\d{1,10})?", text):
        raise ValueError("expected a number such as 75.1")
    return text


class Manifest(Part):
    """What every manifest has."""

    name: Annotated[Name, Field(description="Name of this model or dataset.")]
    version: Annotated[VersionText, Field(description="Its semantic version.")]
    licence: Annotated[str | None, Field(alias="license", description="Licence of the files themselves.")] = None
    description: Annotated[str | None, Field(description="What it is, in a sentence or two.")] = None
    references: Annotated[Items[str], Field(description="Papers and pages about it.")] = ()
    attributes: Annotated[dict[str, Any], Field(description="Anything else worth keeping.")] = {}


class ModelManifest(Manifest):
    """How to run a model exactly as its owner does."""

    task: Annotated[Literal["classification"], Field(description="What the model does.")]
    framework: Annotated[Framework, Field(description="Framework and version constraint.")]
    container: Annotated[dict[str, Images], Field(description="Container images by architecture.")] = {}
    envvars: Annotated[dict[str, str], Field(description="Environment variables that the framework needs.")] = {}
    inputs: Annotated[Items[Input], Field(min_length=1, description="The model's inputs.")]
    outputs: Annotated[Items[Output], Field(min_length=1, description="The model's outputs.")]
    source: Annotated[Source, Field(description="The model's files.")]
    training_dataset: Annotated[DatasetReference | None, Field(description="What the model was trained on.")] = None
    claims: Annotated[Items[Claim], Field(description="Published numbers that can be checked.")] = ()


class DatasetSource(Part):
    """One place that a dataset's files come from."""

    name: Annotated[
        Name, Field(description="Short name, which starts the ids of its samples where there are several.")
    ] = "data"
    url: Annotated[Reference, Field(description="File, folder, package path or archive member.")]
    checksum: Annotated[ChecksumText | None, Field(description="Checksum of that file or folder.")] = None
    labels_url: Annotated[Reference | None, Field(description="File with the labels of this source's samples.")] = None
    labels_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the labels file.")] = None


class Labels(Part):
    """How a sample gets its label."""

    pattern: Annotated[
        str | None, Field(description="Regular expression over the file name; its first group is the label.")
    ] = None
    file_column: Annotated[str, Field(description="CSV or JSONL: column with the file name.")] = "file"
    label_column: Annotated[str, Field(description="CSV or JSONL: column with the label.")] = "label"
    offset: Annotated[int, Field(description="Number of the first class in the labels: 1 where they count from 1.")] = 0


class DatasetManifest(Manifest):
    """Samples and their labels."""

    task: Annotated[Literal["classification"], Field(description="What the labels are for.")]
    format: Annotated[
        Literal["folder", "list", "imagenet", "cifar10", "cifar100", "mnist", "arrays", "rows"],
        Field(description="How samples and labels are stored."),
    ]
    sources: Annotated[Items[DatasetSource], Field(min_length=1, description="Where the files come from.")]
    include: Annotated[str, Field(description="Glob over file names; others are not samples.")] = "*"
    labels: Annotated[Labels, Field(description="How a sample gets its label.")] = Labels()
    classes_url: Annotated[
        Reference | None,
        Field(description="File with one class a line; its line number is the class's number."),
    ] = None
    classes_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the classes file.")] = None
    shape: Annotated[
        Items[int] | None,
        Field(min_length=3, max_length=3, description="Height, width, channels of a raw sample."),
    ] = None
    size: Annotated[int | None, Field(ge=1, description="Number of samples that there should be.")] = None
