"""What a dataset manifest is made of: places of files, how samples get their labels, and splits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mlmodelscope.manifest.schema.part import ChecksumText, Items, Name, Part, Reference


class DatasetSource(Part):
    """One place that a dataset's files come from."""

    name: Annotated[
        Name, Field(description="Short name, which starts the ids of its samples where there are several.")
    ] = "data"
    url: Annotated[Reference, Field(description="File, folder, package path or archive member.")]
    checksum: Annotated[ChecksumText | None, Field(description="Checksum of that file or folder.")] = None
    labels_url: Annotated[Reference | None, Field(description="File with the labels of this source's samples.")] = None
    labels_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the labels file.")] = None
    names_url: Annotated[
        Reference | None,
        Field(
            description="File that lists the samples by name, with or without their ending, one a line; others are "
            "not samples."
        ),
    ] = None
    names_checksum: Annotated[ChecksumText | None, Field(description="Checksum of that list.")] = None


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
    among: Annotated[
        Items[Annotated[int, Field(ge=0, le=65534)]],
        Field(description="Classes that compete, where no others may be answers: those that the dataset has."),
    ] = ()
    outside: Annotated[
        Literal["keep", "skip"],
        Field(description="Samples of a class that is not `among` those that compete: kept, or not samples of it."),
    ] = "keep"
    several: Annotated[
        Literal["refuse", "any_is_right"],
        Field(
            description="Several labels of one sample of a classification: refused, or an answer is right that is any "
            "of them."
        ),
    ] = "refuse"
    listed_by: Annotated[
        Literal["path", "name"],
        Field(
            description="Order of the samples in a list of labels without names: that of their paths, or that of their "
            "names in whatever folder."
        ),
    ] = "path"
    void: Annotated[Items[int], Field(description="Values in a mask whose pixels do not count.")] = ()
    renamed: (
        Annotated[
            Items[str],
            Field(
                min_length=2,
                max_length=2,
                description="A part of a picture's name, and what stands there in the name of its mask.",
            ),
        ]
        | None
    ) = None
    missing: Annotated[
        Literal["refuse", "skip"],
        Field(
            description="A picture without a mask, or without any of several labels: the dataset is refused, or the "
            "picture is not a sample of it."
        ),
    ] = "refuse"


class Split(Part):
    """One of several splits of a dataset: what differs from the others."""

    sources: Annotated[Items[DatasetSource], Field(description="Its files, where they are files of its own.")] = ()
    include: Annotated[str | None, Field(description="Glob over file names; others are not samples of it.")] = None
    size: Annotated[int | None, Field(ge=1, description="Number of samples that it should have.")] = None
