"""A plan: what will happen, with nothing left open. Frozen, and identified by its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mlmodelscope.manifest.reference import shown_reference
from mlmodelscope.manifest.schema import Claim, Columns, Labels, MachineSettings, Step
from mlmodelscope.plan.versions import as_version_1, upgraded


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PlannedFile(Part):
    """A file or folder by its digest."""

    sha256: str = Field(description="Digest of the file, or of the list of a folder's files.")
    url: str = Field(description="Where it can be had, without secrets; not part of the plan's identity.")

    @field_validator("url")
    @classmethod
    def _without_secrets(cls, value: str) -> str:
        """Here and nowhere else: whatever is made of a plan, a password or a token cannot be in it."""
        return shown_reference(value)


class PlannedManifest(Part):
    """Which manifest this came from; not part of the plan's identity."""

    name: str
    version: str
    id: str | None = None
    digest: str = Field(description="Digest of the manifest's content.")
    split: str | None = Field(default=None, description="Which split of a dataset it is.")


class PlannedFunction(Part):
    """Python that a manifest carries."""

    code: str
    function: str
    gets: str = Field(default="files", description="What it is called with: `files` of a batch, or one `sample`.")
    file: str = Field(default="", description="Manifest that carries it, for tracebacks; not part of the identity.")
    line: int = Field(default=0, description="Line in that file; not part of the identity.")


class PlannedBuilder(Part):
    """An architecture of a library's registry, which its weights fill."""

    name: str = Field(description="The library.")
    architecture: str
    options: dict[str, Any] = Field(default={}, description="The library's own options, as plain data.")


class PlannedModel(Part):
    name: str
    version: str
    graph: PlannedFile | None = None
    weights: PlannedFile | None = None
    weights_key: str | None = None
    builder: PlannedBuilder | None = Field(default=None, description="What makes the model that the weights fill.")
    firmware: PlannedFile | None = Field(default=None, description="What the device is loaded with before.")
    files: dict[str, PlannedFile] = Field(default={}, description="What steps need, by the name that they call it.")

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.version}"


class PlannedInput(Part):
    """One input of the model: a part of the sample, and what is done to it before."""

    part: str = Field(default="image", description="The part of a sample that it takes.")
    layer_name: str | int | None
    element_type: str
    steps: tuple[Step, ...]


class PlannedOutput(Part):
    """One output of the model, and what is done to it by itself."""

    role: str = Field(description="What the tensor holds, as the manifest calls it: `logits`, `boxes`, …")
    layer_name: str | int | None
    steps: tuple[Step, ...]


class PlannedGeneration(Part):
    """How a decoder is asked token by token; the manifest's words for it."""

    graph: str | None = Field(default=None, description="The name of the model's file that is the decoder.")
    feeds: dict[str, str]
    past: dict[str, str] = {}
    kept: tuple[str, ...] = ()
    scores: str | int | None = None
    start: tuple[int, ...]
    stop: tuple[int, ...] = ()
    never: tuple[int, ...] = ()
    longest: int
    per_second: float | None = None
    plus: int = 0
    beams: int = 1
    length_penalty: float = 1.0


class PlannedAnswer(Part):
    """How outputs become an answer."""

    steps: tuple[Step, ...] = Field(default=(), description="What is done to all outputs together, in this order.")
    probabilities: bool = Field(default=False, description="Whether scores are probabilities when the steps are done.")
    top_k: int = Field(default=5, description="Classes that are kept for each sample.")
    label_offset: int = Field(default=0, description="Number that the model gives to the dataset's class 0.")
    label_order: str = Field(
        default="", description="How the outputs are put in order before they are labels; as they are, if empty."
    )
    names: PlannedFile | None = Field(default=None, description="File with the class names.")
    tie_breaking: Literal["lowest", "highest"] = Field(
        default="lowest", description="Which class number comes first where scores are equal."
    )


class PlannedSource(Part):
    name: str
    files: PlannedFile
    labels: PlannedFile | None
    names: PlannedFile | None = Field(default=None, description="The list of those files that are samples.")


class Subset(Part):
    """Which samples are taken."""

    count: int | None = Field(description="How many; nothing for all.")
    stratified: bool = Field(description="Whether every class gets its share.")
    seed: int = Field(description="Seed of the choice.")


class PlannedDataset(Part):
    name: str
    version: str
    format: str
    sources: tuple[PlannedSource, ...]
    include: str
    labels: Labels
    classes: PlannedFile | None
    shape: tuple[int, ...] | None
    size: int | None
    subset: Subset
    truth: tuple[str, ...] = Field(
        default=(),
        description="What is read of each sample's truth beyond a class, or boxes: masks, keypoints, classes.",
    )
    task: str = Field(default="", description="What the truth is for, in formats that have several kinds of truth.")
    columns: Columns | None = Field(default=None, description="Which columns of a table are what.")
    header: bool = Field(default=True, description="Whether the first line of a table names its columns.")
    delimiter: str | None = Field(default=None, description="What stands between the cells of a table.")
    quoting: bool = Field(default=True, description="Whether quotation marks enclose cells.")
    element_type: str | None = Field(default=None, description="Type of the values in a raw sample.")
    split: str | None = Field(default=None, description="Which split of the dataset it is.")
    answer: str | None = Field(default=None, description="What is true of a document: a template over its fields.")
    files: dict[str, PlannedFile] = Field(default={}, description="What steps need of it, by the name they call it.")

    @property
    def reference(self) -> str:
        """`name@version`, and the split where it is one."""
        return f"{self.name}@{self.version}" + (f":{self.split}" if self.split else "")

    @property
    def is_known_by_functions(self) -> bool:
        """Whether only the embedded functions know what samples there are."""
        return self.format == "functions"


class PlannedPredictor(Part):
    """The framework that runs the model; none where a function does everything."""

    name: str | None
    options: dict[str, Any]
    where: dict[str, Any] = Field(
        default={}, description="Options that no answer depends on, such as an address; not part of the identity."
    )


class StackRecipe(Part):
    """How a stack is built: the record alone is enough to build it again."""

    python: str = Field(description="Which Python.")
    requirements: tuple[str, ...] = Field(default=(), description="Packages as pip takes them.")
    find_links: tuple[str, ...] = ()
    index_url: str | None = None
    system_packages: tuple[str, ...] = Field(default=(), description="Packages of the operating system.")
    library_names: dict[str, str] = Field(default={}, description="Further names of shared libraries.")
    root: str | None = Field(default=None, description="Root file system to run in: a release, an archive, a folder.")
    root_sha256: str | None = Field(default=None, description="Digest of the root file system's archive.")
    architecture: str | None = Field(default=None, description="Instruction set, where it may be another than ours.")
    image: str | None = Field(default=None, description="Container image by its digest.")

    @property
    def kind(self) -> str:
        return "container" if self.image is not None else "root" if self.root is not None else "venv"


class PlannedStack(Part):
    """The software that the result depends on."""

    name: str
    python: str
    packages: dict[str, str] = Field(description="Version of each package that the plan uses.")
    environment: dict[str, str] = Field(description="Environment variables set for the worker.")
    recipe: StackRecipe | None = Field(default=None, description="How the stack is built; none for the running Python.")
    relaxed: str | None = Field(
        default=None,
        description="The framework that the manifest pins, where another release of it was allowed to run.",
    )

    @property
    def is_closed(self) -> bool:
        """Whether it may have a file system of its own, so that it must be told what to show."""
        return self.recipe is not None and (self.recipe.image is not None or self.recipe.root is not None)


class Scenario(Part):
    """How load arrives, and how latency is measured before."""

    name: str
    batch_size: int
    warm_up_runs: int
    timed_runs: int
    timed_budget_s: float


class PlannedTraining(Part):
    """The loop of a training, every setting explicit; its code is among the functions."""

    framework: Literal["numpy", "pytorch", "keras", "jax"]
    functions: dict[str, str] = Field(description="What each part is called in the code.")
    epochs: int | None
    steps: int | None
    batch_size: int
    evaluation_batch_size: int
    evaluate_every: int | None = Field(description="Steps between evaluations; those of an epoch, where there is none.")
    checkpoint_every: int | None
    checkpoint_every_s: float
    shuffle: bool
    drop_last: bool
    cache: bool
    prefetch: int
    workers: int
    processing: tuple[Step, ...] = Field(description="Steps before the model in training.")
    augmentation: tuple[Step, ...] = ()
    head: tuple[str, ...] = ()
    target: dict[str, float] = {}
    threads: int = 1


class PlannedPlugin(Part):
    """Something that a package other than ours adds, and that the result depends on."""

    kind: str = Field(description="The group of entry points that it is in, such as `steps`.")
    name: str
    package: str
    version: str
    module: str = Field(description="What is imported for it.")
    sha256: str = Field(description="Digest of that module's files, and of the package that it is part of.")


class Plan(Part):
    """One evaluation or training, completely."""

    schema_version: Literal[2] = 2
    task: str
    job_type: str = "inference"
    model: PlannedModel
    inputs: tuple[PlannedInput, ...] = Field(default=(), description="None where functions take samples as they are.")
    outputs: tuple[PlannedOutput, ...] = ()
    generation: PlannedGeneration | None = Field(default=None, description="None where the model answers at once.")
    answer: PlannedAnswer = PlannedAnswer()
    measure: dict[str, Any] = Field(default={}, description="How answers are scored: what the task leaves open.")
    dataset: PlannedDataset
    predictor: PlannedPredictor
    stack: PlannedStack
    scenario: Scenario
    seed: int
    functions: dict[str, PlannedFunction] = Field(default={}, description="Embedded Python by stage.")
    context: dict[str, Any] = Field(default={}, description="What the functions are told of the manifest.")
    hyperparameters: dict[str, Any] = {}
    training: PlannedTraining | None = Field(default=None, description="How the loop of a training runs.")
    setup: str | None = Field(default=None, description="Shell commands that set the machine up before.")
    settings: MachineSettings | None = Field(default=None, description="How the machine is set while it runs.")
    plugins: tuple[PlannedPlugin, ...] = Field(default=(), description="What it uses of other packages.")
    claims: tuple[Claim, ...] = ()
    warnings: tuple[str, ...] = Field(
        default=(), description="What may be wrong with the model and the dataset together; not part of the identity."
    )
    manifests: dict[str, PlannedManifest] = Field(default={}, description="The manifests that it was made from.")

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, data: Any) -> Any:
        return upgraded(data) if isinstance(data, dict) else data

    @property
    def input(self) -> PlannedInput | None:
        """The first input, which is the only one of most models."""
        return self.inputs[0] if self.inputs else None

    def with_steps(self, steps: Iterable[Step]) -> Plan:
        """The same with other steps before the first input."""
        first, *others = self.inputs
        return self.model_copy(update={"inputs": (first.model_copy(update={"steps": tuple(steps)}), *others)})

    def with_answer(self, **changes: Any) -> Plan:
        """The same with another way from outputs to answers."""
        return self.model_copy(update={"answer": self.answer.model_copy(update=changes)})

    @property
    def digest(self) -> str:
        """The plan's identity: the same for the same work, whatever the files' addresses or the claims about it."""
        left_out = {"claims": True, "warnings": True, "manifests": True, "predictor": {"where"}}
        return _digest_of(self, left_out, as_version_1)

    @property
    def model_digest(self) -> str:
        """What the model is, whatever it runs on: its files, and what is done before and after it."""
        answer = self.answer.model_copy(update={"top_k": 0})
        generation = () if self.generation is None else (self.generation,)
        parts = (self.model, *self.inputs, *self.outputs, *generation, answer, *self.functions.values())
        return _joined(_digest_of(part) for part in parts)

    @property
    def dataset_digest(self) -> str:
        """What the dataset is, however many of its samples are taken."""
        return _digest_of(self.dataset, {"subset": True})


def _joined(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _digest_of(
    part: Part,
    left_out: dict[str, Any] | None = None,
    arranged: Callable[[dict[str, Any]], dict[str, Any]] = lambda data: data,
) -> str:
    written = arranged(part.model_dump(mode="json", exclude=left_out, exclude_defaults=True))
    identity = _without_addresses(written)
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _without_addresses(value: Any) -> Any:
    if isinstance(value, dict):
        left_out: tuple[str, ...] = ()
        if value.keys() == {"sha256", "url"}:
            left_out = ("url",)
        elif {"code", "function"} <= value.keys():
            left_out = ("file", "line")
        return {key: _without_addresses(item) for key, item in value.items() if key not in left_out}
    return [_without_addresses(item) for item in value] if isinstance(value, list) else value
