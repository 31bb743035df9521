"""The reference log: what a manifest's author achieved, with what, and what to expect of every sample."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mlmodelscope.manifest.schema.part import ChecksumText, IdText, Items, Manifest, MetricName, Name, Part, Reference
from mlmodelscope.manifest.schema.task import Task

Number = Annotated[float, Field(strict=False)]


class ManifestReference(Part):
    """A manifest as it was: by name and version for people, by digest for good."""

    name: Annotated[str, Field(description="Its name.")]
    version: Annotated[IdText, Field(description="Its version.")]
    id: Annotated[IdText | None, Field(description="Its id, where it has one.")] = None
    digest: Annotated[str | None, Field(pattern="^(sha256:)?[0-9a-f]{64}$", description="Digest of its content.")] = (
        None
    )
    split: Annotated[Name | None, Field(description="Which split of a dataset it is.")] = None

    @property
    def reference(self) -> str:
        """`name@version`, and the split where it is one."""
        return f"{self.name}@{self.version}" + (f":{self.split}" if self.split else "")


class Manifests(Part):
    """The four aspects of a task."""

    model: Annotated[ManifestReference, Field(description="The model manifest.")]
    dataset: Annotated[ManifestReference | None, Field(description="The dataset manifest.")] = None
    software: Annotated[ManifestReference | None, Field(description="The software manifest.")] = None
    hardware: Annotated[ManifestReference | None, Field(description="The hardware manifest.")] = None


class Measured(Part):
    """A number with its uncertainty."""

    value: Annotated[Number, Field(description="The number.")]
    low: Annotated[Number | None, Field(description="Lower end of its interval.")] = None
    high: Annotated[Number | None, Field(description="Upper end of its interval.")] = None
    confidence: Annotated[Number, Field(description="How sure the interval is.")] = 0.95
    unit: Annotated[str | None, Field(description="Its unit; a bare number is a ratio.")] = None


class Expected(Part):
    """What came out for one sample."""

    sample: Annotated[IdText, Field(description="Id of the sample.")]
    digest: Annotated[str | None, Field(description="Digest of its content.")] = None
    classes: Annotated[Items[int], Field(description="Best classes, best first.")] = ()
    scores: Annotated[Items[Number], Field(description="Their scores.")] = ()
    answer: Annotated[Any, Field(description="The answer, where it is no list of classes.")] = None
    error: Annotated[str | None, Field(description="Why there was none.")] = None


class ExpectedOutputs(Part):
    """The outputs of every sample, here or in a file beside the log."""

    url: Annotated[Reference | None, Field(description="CSV file: sample, digest, classes, scores, answer, error.")] = (
        None
    )
    checksum: Annotated[ChecksumText | None, Field(description="Checksum of that file.")] = None
    rows: Annotated[Items[Expected], Field(description="The outputs themselves, where they are few.")] = ()


class CurvePoint(Part):
    """The metrics at one moment of a training."""

    progress: Annotated[Number, Field(ge=0, le=1, description="Share of the training that was done.")]
    metrics: Annotated[dict[str, Number], Field(description="Metrics by name.")]


class ReferenceLog(Manifest):
    """What was achieved, for others to refer to."""

    task: Annotated[Task, Field(description="What the model does.")] = "general"
    job_type: Annotated[Literal["inference", "training"], Field(description="What was done.")] = "inference"
    created_at: Annotated[datetime | None, Field(strict=False, description="When it was done, in UTC.")] = None
    plan: Annotated[str | None, Field(description="Digest of the plan, which says in every detail what was done.")] = (
        None
    )
    manifests: Annotated[Manifests, Field(description="The manifests that it was done with.")]
    samples: Annotated[int | None, Field(ge=0, description="How many samples there were.")] = None
    failed: Annotated[int, Field(ge=0, description="How many of them failed.")] = 0
    metrics: Annotated[dict[MetricName, Measured], Field(description="Accuracy that was achieved.")] = {}
    performance: Annotated[dict[MetricName, Measured], Field(description="Performance that was achieved.")] = {}
    outputs: Annotated[ExpectedOutputs | None, Field(description="What came out for every sample.")] = None
    hyperparameters: Annotated[dict[str, Any], Field(description="What the author chose.")] = {}
    options: Annotated[dict[str, Any], Field(description="What the evaluator chose: batch size, threads, seed.")] = {}
    curve: Annotated[Items[CurvePoint], Field(description="Metrics in the course of a training.")] = ()
    environment: Annotated[dict[str, Any], Field(description="Python, packages and machine.")] = {}
