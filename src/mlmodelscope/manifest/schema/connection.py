"""Data that a user has: what its folder must hold, and how to obtain it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from mlmodelscope.manifest.schema.dataset_parts import DatasetSource, Labels
from mlmodelscope.manifest.schema.part import ChecksumText, Items, Name, Part

_NUMBER = re.compile(r"\{number(?::0(\d{1,2}))?\}")
_LISTED = "{name}"


def _inside(text: str) -> str:
    """A path below the folder that is connected, and no other."""
    if text.startswith(("/", "~")) or "\\" in text or ".." in text.split("/") or re.search(r"[\x00-\x1f]", text):
        raise ValueError(f"`{text}` does not lie below the folder that is connected")
    return text


Inside = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_inside)]


class Archive(Part):
    """A file that the publisher offers."""

    url: Annotated[str, Field(min_length=1, max_length=1000, description="Where it is offered, or what it is called.")]
    size_bytes: Annotated[int | None, Field(ge=1, description="Its size, where that is known.")] = None
    checksum: Annotated[ChecksumText | None, Field(description="Its checksum, where that is known.")] = None


class Expected(Part):
    """Files that the folder must hold."""

    files: Annotated[
        Inside,
        Field(
            description="Their paths: `*` stands for a part of a name, `{number:08}` for a number of `numbers`, "
            "`{name}` for a name of `listed_in`."
        ),
    ]
    numbers: Annotated[
        Items[Annotated[int, Field(ge=0, le=10_000_000)]] | None,
        Field(min_length=2, max_length=2, description="First and last number; each must be there once."),
    ] = None
    listed_in: Annotated[
        Inside | None,
        Field(
            description="A file that lists the names: the first word of each line, or of a JSON file the values at "
            "`#images.file_name`."
        ),
    ] = None
    count: Annotated[int | None, Field(ge=1, description="How many files.")] = None
    folders: Annotated[int | None, Field(ge=1, description="In how many folders.")] = None
    in_each: Annotated[
        int | dict[str, int] | None, Field(description="How many in each of these folders, or in each by its name.")
    ] = None
    size_bytes: Annotated[int | None, Field(ge=0, description="Size of the file.")] = None
    checksum: Annotated[ChecksumText | None, Field(description="Checksum of the file.")] = None
    tar_bytes: Annotated[
        int | None,
        Field(ge=1, description="Size of the tar archive that all of them, and nothing else, were published in."),
    ] = None
    kind: Annotated[
        Literal["jpeg", "png", "picture", "flac", "wav", "gzip", "idx"] | None,
        Field(description="What the files are by their first bytes."),
    ] = None

    @model_validator(mode="after")
    def _fits(self) -> Expected:
        has_number, has_name = bool(_NUMBER.search(self.files)), _LISTED in self.files
        if has_number != (self.numbers is not None) or has_name != (self.listed_in is not None):
            raise ValueError("`{number}` belongs to `numbers`, and `{name}` to `listed_in`")
        if has_number and has_name:
            raise ValueError("files are named by numbers or by a list, not by both")
        if self.numbers is not None and self.numbers[0] > self.numbers[1]:
            raise ValueError("the first of `numbers` is above the last")
        is_one = not any(sign in self.files for sign in "*?[{")
        if not is_one and (self.size_bytes is not None or self.checksum is not None):
            raise ValueError("`size_bytes` and `checksum` are those of one file, and `files` names several")
        return self


class Layout(Part):
    """One way in which the files may lie, and how they are read then."""

    name: Annotated[Name, Field(description="What messages call it.")]
    files: Annotated[Items[Expected], Field(min_length=1, description="What must be there.")]
    sources: Annotated[
        Items[DatasetSource], Field(min_length=1, description="The dataset's sources; their paths begin in the folder.")
    ]
    label_list: Annotated[
        Items[Inside],
        Field(description="Files one of which has the labels of ImageNet's flat folder, in whatever form it is."),
    ] = ()
    include: Annotated[str | None, Field(description="In place of the manifest's own.")] = None
    labels: Annotated[Labels | None, Field(description="In place of the manifest's own.")] = None

    @model_validator(mode="after")
    def _stays_inside(self) -> Layout:
        for source in self.sources:
            for each in (source.url, source.labels_url, source.names_url):
                if each is not None:
                    _inside(each)
                if each is not None and re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", each):
                    raise ValueError(f"`{each}` is not a path below the folder that is connected")
        return self


class Connect(Part):
    """A dataset that a user obtains from its publisher."""

    page: Annotated[str, Field(min_length=1, max_length=1000, description="The publisher's page about it.")]
    steps: Annotated[
        Items[str], Field(min_length=1, description="What to do, in order, until there is a folder to connect.")
    ]
    archives: Annotated[Items[Archive], Field(description="The publisher's files.")] = ()
    inside: Annotated[
        Items[Inside], Field(description="Where below the named folder the files may lie as well; tried in order.")
    ] = ()
    layouts: Annotated[Items[Layout], Field(description="The ways in which the files may lie.")] = ()
    part_of: Annotated[
        Name | None,
        Field(
            description="The dataset that it is a part of, in place of `layouts`: where that is connected, so is it."
        ),
    ] = None

    @model_validator(mode="after")
    def _has_a_place(self) -> Connect:
        if bool(self.layouts) == (self.part_of is not None):
            raise ValueError("a folder is described by `layouts`, or is that of the dataset `part_of`")
        return self
