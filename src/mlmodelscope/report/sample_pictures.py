"""Samples of a record as its dataset has them: their pictures, their size and what is true of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.report.heard import Hearing
from mlmodelscope.report.own_content import OwnContent, own_content
from mlmodelscope.report.sound import Sounds
from mlmodelscope.report.thumbnail import Thumbnail, Thumbnails, refuse_no_picture
from mlmodelscope_worker.pipeline import header


@dataclass(frozen=True)
class SamplePicture:
    thumbnail: Thumbnail
    sample: Sample | None = None
    """None where the dataset no longer has it."""
    own: OwnContent = OwnContent()
    """Its texts, cells or sound, where it is no picture."""


def sample_pictures(
    rows: Sequence[Mapping[str, Any]], record: Record, artifacts: ArtifactStore
) -> tuple[list[SamplePicture], str | None]:
    """A picture for each row; a dataset that has gone away costs the pictures, not the report."""
    if not rows:
        return [], None
    wanted = {row["id"] for row in rows}
    try:
        dataset = open_dataset(record.plan.dataset, artifacts)
    except (MLModelScopeError, OSError) as error:
        reason = error.message if isinstance(error, MLModelScopeError) else str(error)
        return [SamplePicture(Thumbnail(None))] * len(rows), reason
    found = {sample.id: sample for sample in dataset.samples if sample.id in wanted}
    make, sounds = Thumbnails().make, Sounds()
    with Hearing(record.plan.inputs) as hearing:

        def shown(sample: Sample) -> SamplePicture:
            return SamplePicture(make(sample.content), sample, own_content(sample.content, sounds, hearing))

        return [
            shown(found[row["id"]])
            if row["id"] in found and found[row["id"]].digest == row["digest"]
            else SamplePicture(Thumbnail(None, "the dataset no longer has it"))
            for row in rows
        ], None


def picture_size(content: Mapping[str, Any]) -> tuple[int, int] | None:
    """(width, height) of a sample's picture in pixels, where its file tells at its beginning."""
    try:
        refuse_no_picture(content)
    except header.ImageError:
        return None
    if "slice" in content:
        shape = content["shape"]
        return (shape[2], shape[1]) if content["layout"] == "CHW" else (shape[1], shape[0])
    if "file" not in content:
        return None
    try:
        found = header.size(Path(content["file"]).read_bytes())
    except (OSError, header.ImageError):
        return None
    return (found[1], found[0]) if found else None
