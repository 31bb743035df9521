"""Samples and their labels."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mlmodelscope.manifest.formats import format_names, is_format
from mlmodelscope.manifest.schema.function import EmbeddedFunction, Init, Load, Unload
from mlmodelscope.manifest.schema.part import ChecksumText, Items, Manifest, Name, Part, Reference
from mlmodelscope.manifest.schema.task import Task

__all__ = ["DatasetManifest", "DatasetSource", "Labels"]


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
    label_columns: Annotated[
        Items[str],
        Field(
            description="CSV or JSONL: a column for each class, 1 where a sample has that label; for several labels."
        ),
    ] = ()
    separator: Annotated[
        str, Field(min_length=1, description="What stands between the labels of a sample that may have several.")
    ] = ";"
    offset: Annotated[int, Field(description="Number of the first class in the labels: 1 where they count from 1.")] = 0
    map: Annotated[
        dict[Annotated[str, Field(pattern=r"^\d{1,9}$")], Annotated[int, Field(ge=0, le=65534)]],
        Field(description="Class of each value in a mask, or of each category id; without it a value is its class."),
    ] = {}
    other: Annotated[int | None, Field(ge=0, description="Class of values that `map` does not list.")] = None
    void: Annotated[Items[int], Field(description="Values in a mask whose pixels do not count.")] = ()
    missing: Annotated[
        Literal["refuse", "skip"],
        Field(description="A picture without a mask: the dataset is refused, or the picture is not a sample of it."),
    ] = "refuse"


def _known_format(name: str) -> str:
    if not is_format(name):
        raise PydanticCustomError("unknown_name", "an unknown name", {"known": format_names()})
    return name


class DatasetManifest(Manifest):
    """Samples and their labels."""

    task: Annotated[Task, Field(description="What the labels are for.")] = "general"
    format: Annotated[
        str,
        AfterValidator(_known_format),
        Field(
            json_schema_extra=lambda schema: schema.update(enum=format_names()),
            description="How samples and labels are stored; `files` are samples without labels, `functions` are "
            "samples that the embedded functions know by their number.",
        ),
    ]
    measure: Annotated[
        dict[str, Any],
        Field(description="How answers are scored on it, as far as the task leaves it open: rules, void labels, …"),
    ] = {}
    sources: Annotated[Items[DatasetSource], Field(description="Where the files come from.")] = ()
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
    init: Annotated[
        Init | None, Field(description="Python: `init(count)` reads what is needed and returns the number of samples.")
    ] = None
    load: Annotated[
        Load | None, Field(description="Python: `load(sample_list)` brings the samples of these numbers into memory.")
    ] = None
    unload: Annotated[Unload | None, Field(description="Python: `unload(sample_list)` lets them go.")] = None

    @property
    def functions(self) -> dict[str, EmbeddedFunction]:
        """The code that this manifest would run."""
        stages = {"init": self.init, "load": self.load, "unload": self.unload}
        return {name: function for name, function in stages.items() if function is not None}

    @model_validator(mode="after")
    def _has_samples(self) -> DatasetManifest:
        if self.format == "functions" and self.init is None:
            raise ValueError("the format `functions` needs the function `init`")
        if self.format != "functions" and not self.sources:
            raise ValueError("a dataset needs at least one of `sources`")
        return self
