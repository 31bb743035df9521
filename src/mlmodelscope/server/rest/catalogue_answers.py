"""What the API answers about the catalogue: manifests as they are written, and what there is to choose from."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mlmodelscope.replicate.kind import Kind
from mlmodelscope.server.rest.answers import Answer, Fault, example
from mlmodelscope.server.rest.replication_answers import ClaimVerdict

Words = dict[str, dict[str, int]]


class Edit(Answer):
    """A piece of the text and what shall stand there instead; from and to in characters."""

    start: int
    end: int
    text: str


class LintFinding(Answer):
    model_config = example(
        message="unknown step `resise`",
        file="<text>",
        line=23,
        column=9,
        path="inputs[0].processing.resise",
        hint="did you mean `resize`?",
        known=["crop", "resize"],
        fix=[{"start": 400, "end": 406, "text": "resize"}],
        code="M001",
        severity="error",
    )
    message: str
    file: str
    line: int
    column: int
    path: str
    hint: str | None
    known: list[str]
    fix: Annotated[list[Edit], Field(description="Together they fix it; empty if only the author can know the fix.")]
    code: str
    severity: Literal["error", "warning", "info"] | None


class OwnFile(Answer):
    """A file that a manifest names by a path of its author's machine."""

    where: str
    reference: str
    sha256: Annotated[str | None, Field(description="What the manifest says of its content.")]
    line: int
    column: int
    start: Annotated[int | None, Field(description="Where the reference begins in the text, counted in characters.")]
    end: Annotated[int | None, Field(description="Where it ends; null in an older form, which is converted first.")]
    here: Annotated[bool, Field(description="Whether the server has its content, so that saving it works.")]


class Checked(Answer):
    """As `mlmodelscope check --json` says it."""

    file: str
    kind: str | None
    dialect: Annotated[str | None, Field(description="Of an older form; null where it is today's.")]
    problems: Annotated[list[Fault], Field(description="What must be fixed before it is a valid manifest.")]
    findings: Annotated[list[LintFinding], Field(description="Everything, in the order of the text.")]
    fixed: Annotated[list[LintFinding], Field(description="What `fix` has fixed.")]
    mended: Annotated[list[LintFinding], Field(description="Older name of `fixed`.", deprecated=True)]
    files: Annotated[list[OwnFile], Field(description="Files that must be uploaded before it can be saved here.")]
    refused: Annotated[list[Fault], Field(description="Why it could not be saved here, though it is valid.")]
    text: Annotated[str | None, Field(description="The text after that.")]


class Converted(Answer):
    model_config = example(kind="model", dialect="v1", notes=[], text="name: resnet50\n…")
    kind: str
    dialect: str
    notes: Annotated[list[str], Field(description="What a person should look at.")]
    text: Annotated[str, Field(description="The current format, with the author's comments.")]


class FoundFact(Answer):
    where: str
    value: Any
    because: str


class Guessed(Answer):
    where: str
    value: str
    because: str


class Question(Answer):
    flag: str
    text: str


class Begun(Answer):
    """As `mlmodelscope init --json` says it."""

    manifest: str
    found: list[FoundFact]
    guessed: list[Guessed]
    questions: list[Question]
    not_expressed: list[str]
    notes: list[str]
    labels: Annotated[str | None, Field(description="Names of the classes that came with it, one a line.")]


class Version(Answer):
    model_config = example(version="1.0.0", digest="0" * 64, owner=None, shipped=True, created_at=None)
    version: str
    digest: str
    owner: str | None
    shipped: bool
    created_at: datetime | None


class VersionList(Answer):
    items: Annotated[list[Version], Field(description="The newest first.")]


class Listed(Answer):
    name: str
    version: Annotated[str, Field(description="The newest.")]
    versions: list[str]
    digest: str
    description: str | None
    author: str | None
    license: str | None
    licence: Annotated[str | None, Field(description="Older name of `license`.", deprecated=True)]
    owner: str | None
    shipped: bool
    created_at: datetime | None
    evaluations: Annotated[int, Field(description="How many there are of it, of all versions.")]
    task: str


class ListedModel(Listed):
    job_type: str
    framework: str | None
    framework_version: str | None
    architecture: Annotated[str | None, Field(description="As `attributes` of its manifest says.")]
    dataset: str | None
    claims: list[ClaimVerdict]
    verdict: Annotated[
        Kind | Literal["not checked", "no claim"], Field(description="On its claims together, the worst of them.")
    ]


class ModelPage(Answer):
    items: list[ListedModel]
    total: int
    next: Annotated[int | None, Field(description="Give it as `start` to get the next page; null on the last one.")]
    facets: Annotated[
        Words, Field(description="How many there would be with each value, all other choices as they are.")
    ]


class DescribedModel(Answer):
    reference: Annotated[str, Field(description="`SOURCE:NAME`, which stands for its manifest in requests.")]
    label: str
    name: str
    task: str
    architecture: str
    license: Annotated[str, Field(description="Of the weights; empty where the source does not tell.")]
    code_license: str
    parameters: int | None
    gflops: float | None
    is_runnable: Annotated[bool, Field(description="Whether a library or framework of ours runs the weights.")]
    claims: Annotated[int, Field(description="How many published numbers there are of it.")]
    headline: Annotated[str, Field(description="The first of them, as it was published.")]


class KnownSource(Answer):
    label: str
    form: str
    version: str
    models: int
    claims: int


class DescribedPage(Answer):
    items: list[DescribedModel]
    total: int
    next: Annotated[int | None, Field(description="Give it as `start` to get the next page; null on the last one.")]
    sources: list[KnownSource]


class ListedDataset(Listed):
    format: str
    size: int | None


class DatasetPage(Answer):
    items: list[ListedDataset]
    total: int
    next: int | None
    facets: Words


class Framework(Answer):
    model_config = example(
        name="onnxruntime",
        version="1.17.3",
        built=["lab-1"],
        buildable=["lab-2"],
        stacks=["onnxruntime-1.17"],
        makeable=["lab-3"],
    )
    name: str
    version: str
    built: Annotated[list[str], Field(description="Agents that have it.")]
    buildable: Annotated[list[str], Field(description="Agents that can build it.")]
    stacks: list[str]
    makeable: Annotated[list[str], Field(description="Agents that can make a stack of it, where a framework is named.")]


class FrameworkList(Answer):
    items: list[Framework]


class Metric(Answer):
    model_config = example(
        name="miou",
        title="mean IoU",
        about="Mean over the classes of intersection over union.",
        tasks=["semantic_segmentation"],
        unit="share",
        better="higher",
        aliases=["mean-iou"],
    )
    name: str
    title: Annotated[str, Field(description="What people call it.")]
    about: Annotated[str, Field(description="What it is.")]
    tasks: list[str]
    unit: Annotated[str, Field(description="`share`, which is published in percent, `dB`, or `number`.")]
    better: Annotated[Literal["higher", "lower"], Field(description="Which number is better.")]
    aliases: Annotated[list[str], Field(description="Other names under which it is published.")]


class MetricList(Answer):
    items: list[Metric]


class Stack(Answer):
    name: Annotated[str, Field(description="`current` is the Python that an agent runs in.")]
    version: str | None
    description: str | None
    kind: str | None
    framework: str | None
    framework_version: str | None
    python: str | None
    built: Annotated[list[str], Field(description="Agents that have it.")]
    buildable: Annotated[list[str], Field(description="Agents that can build it.")]


class StackList(Answer):
    items: list[Stack]


class AgentMachine(Answer):
    agent: str
    architecture: str
    cpu: str
    cores: int | None
    memory_bytes: int | None
    gpus: list[str]
    labels: dict[str, str]
    slots: int
    trusts: bool
    manifest: Annotated[str, Field(description="A hardware manifest that it meets.")]


class MachineList(Answer):
    items: list[AgentMachine]
