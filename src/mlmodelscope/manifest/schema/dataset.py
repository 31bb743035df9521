"""Samples and their labels."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from mlmodelscope.manifest.formats import FINDS_SPLITS, format_names, is_format
from mlmodelscope.manifest.schema.columns import Columns
from mlmodelscope.manifest.schema.connection import Connect
from mlmodelscope.manifest.schema.dataset_parts import DatasetSource, Labels, Split
from mlmodelscope.manifest.schema.function import EmbeddedFunction, Init, Load, Unload
from mlmodelscope.manifest.schema.part import ChecksumText, Items, Manifest, Name, Reference
from mlmodelscope.manifest.schema.step_file import StepFile
from mlmodelscope.manifest.schema.task import Task

__all__ = ["DatasetManifest", "DatasetSource", "Labels", "Split"]

_ELEMENT_TYPES = Literal[
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"
]


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
    connect: Annotated[
        Connect | None,
        Field(description="What a folder must hold that a user names by `datasets connect`, and how to obtain it."),
    ] = None
    include: Annotated[str, Field(description="Glob over file names; others are not samples.")] = "*"
    labels: Annotated[Labels, Field(description="How a sample gets its label.")] = Labels()
    prompt: Annotated[
        dict[str, Any],
        Field(description="What a language model is shown of a document: the parameters of the step `prompt`."),
    ] = {}
    ask: Annotated[
        dict[str, Any],
        Field(
            description="What it is asked: the parameters of the step `choose`, `read` or `write`, as the task wants."
        ),
    ] = {}
    files: Annotated[
        dict[Name, StepFile], Field(description="Further files by name, such as the documents of examples.")
    ] = {}
    classes_url: Annotated[
        Reference | None,
        Field(description="File with one class a line; its line number is the class's number."),
    ] = None
    classes_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the classes file.")] = None
    columns: Annotated[Columns | None, Field(description="Which columns of a table are what.")] = None
    header: Annotated[bool, Field(description="Whether the first line of a table names its columns.")] = True
    delimiter: Annotated[
        str | None, Field(min_length=1, max_length=1, description="What stands between the cells of a table.")
    ] = None
    quoting: Annotated[
        bool, Field(description="Whether quotation marks enclose cells; if not, they are part of the text.")
    ] = True
    split: Annotated[
        Name | None, Field(description="Which split this is: `train`, `validation`, `test` or any other name.")
    ] = None
    splits: Annotated[
        dict[Name, Split],
        Field(description="Several splits in one manifest; `name:split` chooses one, `split` is the default."),
    ] = {}
    shape: Annotated[
        Items[Annotated[int, Field(ge=1)]] | None,
        Field(
            min_length=1,
            max_length=8,
            description="Height, width, channels of a raw sample; any dimensions for the format `raw`.",
        ),
    ] = None
    element_type: Annotated[
        _ELEMENT_TYPES | None, Field(description="Type of the values in a raw sample, for the format `raw`.")
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
        has_files = self.sources or (self.splits and all(each.sources for each in self.splits.values()))
        if self.format != "functions" and not has_files and self.connect is None:
            raise ValueError("a dataset needs at least one of `sources`, or `connect`")
        if self.shape is not None and len(self.shape) != 3 and self.format != "raw":
            raise ValueError("`shape` is height, width and channels, except for the format `raw`")
        if self.splits and self.split is not None and self.split not in self.splits:
            raise ValueError(f"the split `{self.split}` is not one of `splits`: {', '.join(self.splits)}")
        return self

    def for_split(self, name: str | None = None) -> DatasetManifest:
        """The manifest of one split alone; itself where it has only one. ValueError where there is none such."""
        chosen = name or self.split
        if not self.splits:
            if name is None or name == self.split:
                return self
            if self.split is None and self.format in FINDS_SPLITS:
                return self._changed(name, {"split": name})
            has = f"is the split `{self.split}`" if self.split else "has no `splits`"
            raise ValueError(f"{self.name} {has}, so there is no `{name}` of it")
        known = ", ".join(self.splits)
        if chosen is None:
            raise ValueError(f"{self.name} has several splits, and none is chosen: {known}")
        if chosen not in self.splits:
            raise ValueError(f"{self.name} has no split `{chosen}`; it has {known}")
        own = self.splits[chosen]
        changes: dict[str, Any] = {"split": chosen, "splits": {}, "size": own.size}
        if own.sources:
            changes["sources"] = own.sources
        if own.include is not None:
            changes["include"] = own.include
        return self._changed(chosen, changes)

    def _changed(self, split: str, changes: dict[str, Any]) -> DatasetManifest:
        made = self.model_copy(update=changes)
        made._digest = hashlib.sha256(f"{self.digest}:{split}".encode()).hexdigest()
        return made
