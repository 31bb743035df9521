"""How to run a model exactly as its owner does."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from mlmodelscope.manifest.code_beside import text_beside
from mlmodelscope.manifest.schema.builder import BuilderName, frameworks_of, refuse_source
from mlmodelscope.manifest.schema.function import EmbeddedFunction, Postprocess, Preprocess, Run
from mlmodelscope.manifest.schema.part import (
    LOOSE_TEXT,
    ChecksumText,
    ConstraintText,
    Items,
    Manifest,
    MetricName,
    Name,
    Part,
    Reference,
    text_as_written,
)
from mlmodelscope.manifest.schema.step import Step
from mlmodelscope.manifest.schema.step_file import StepFile
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL, Task
from mlmodelscope.manifest.schema.training import Training


class Framework(Part):
    """The framework that runs the model."""

    name: Annotated[str, Field(min_length=1, description="Name of the framework, for example `onnxruntime`.")]
    version: Annotated[ConstraintText, Field(description="Which versions will do, for example `^1.x`.")] = "*"


class Images(Part):
    """Container images for one architecture."""

    cpu: Annotated[str | None, Field(description="Image for CPU evaluation.")] = None
    gpu: Annotated[str | None, Field(description="Image for GPU evaluation.")] = None


ElementType = Literal[
    "float32",
    "float16",
    "float64",
    "bfloat16",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "bool",
    "string",
]
InputType = Literal["image", "tensor", "text", "audio", "video", "columns", "table", "prompt", "general"]
OutputType = Literal[
    "probability",
    "logits",
    "boxes",
    "classes",
    "scores",
    "count",
    "anchors",
    "detections",
    "masks",
    "prototypes",
    "coefficients",
    "keypoints",
    "image",
    "text",
    "audio",
    "embedding",
    "start",
    "end",
    "number",
    "tensor",
    "general",
]
LayerName = Annotated[
    str | int | None,
    Field(description="Name or number of the layer; may be left out where there is only one."),
]


TokenTensor = Literal["ids", "mask", "types", "positions", "length", "ones", "zeros"]


class Input(Part):
    """One input of the model and what happens to a sample before it gets there."""

    type: Annotated[InputType, Field(description="Modality of the input.")]
    layer_name: LayerName = None
    layers: Annotated[
        dict[
            Annotated[str, Field(min_length=1)], Literal["ids", "mask", "types", "positions", "length", "ones", "zeros"]
        ],
        Field(description="Where one text feeds several inputs of the model: for each layer the tensor that it takes."),
    ] = {}
    element_type: Annotated[ElementType, Field(description="Element type of the tensor that the model takes.")] = (
        "float32"
    )
    description: Annotated[str | None, Field(description="What the input is.")] = None
    processing: Annotated[Items[Step], Field(description="Pre-processing steps, executed in the order written.")] = ()
    shape: Annotated[Items[int] | None, Field(description="Shape of the tensor; -1 stands for an open size.")] = None
    attributes: Annotated[dict[str, Any], Field(description="Anything else worth keeping.")] = {}


class Output(Part):
    """One output of the model and how it becomes answers."""

    type: Annotated[
        OutputType,
        Field(
            description="What the tensor holds. Scores over classes are a `probability` that sums to 1, or raw "
            "`logits`; a detector has `boxes`, `classes`, `scores` and perhaps their `count`, all in one as Caffe's "
            "`detections`, or a `tensor` that a step decodes; a segmentation has `masks`, or `prototypes` and "
            "`coefficients` that they are made of."
        ),
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
    shape: Annotated[Items[int] | None, Field(description="Shape of the tensor; -1 stands for an open size.")] = None
    attributes: Annotated[dict[str, Any], Field(description="Anything else worth keeping.")] = {}


class Source(Part):
    """Where the model's files are: one file, a folder, a graph and its weights, or an architecture and its weights."""

    graph_path: Annotated[
        Reference | None,
        Field(
            description="The model file or folder, or the graph where weights are apart; with the builder "
            "`transformers` its config.json."
        ),
    ] = None
    graph_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the graph file or folder.")] = None
    weights_path: Annotated[
        Reference | None,
        Field(description="The weights, where they are a file of their own, or a folder of several with their index."),
    ] = None
    weights_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the weights.")] = None
    weights_key: Annotated[
        str | None, Field(description="Key of the tensors inside a checkpoint, for example `state_dict`.")
    ] = None
    builder: Annotated[
        BuilderName | None, Field(description="The library that makes the model of an `architecture` and its weights.")
    ] = None
    architecture: Annotated[
        str | None, Field(max_length=201, description="Its name in that library's own registry: `resnet50.a1_in1k`.")
    ] = None
    options: Annotated[
        dict[str, Any],
        Field(description="The library's own options that shape the architecture: numbers, switches, words, lists."),
    ] = {}

    @model_validator(mode="after")
    def _one_of_two(self) -> Source:
        if self.builder is None:
            if self.graph_path is None:
                raise ValueError("the key `graph_path` is missing: the model's file, or a `builder` that makes it")
            for key in ("architecture", "options"):
                if getattr(self, key):
                    raise ValueError(f"the key `{key}` goes with a `builder`")
            return self
        refuse_source(self.builder, self.architecture, self.options, self.graph_path, self.weights_path)
        return self


class Conversion(Part):
    """The same model as files for another framework, made by its author or by a converter."""

    graph_path: Annotated[Reference, Field(description="The converted model, or its graph where weights are apart.")]
    graph_checksum: Annotated[ChecksumText | None, Field(description="Checksum of that file or folder.")] = None
    weights_path: Annotated[Reference | None, Field(description="Its weights, where they are a file of their own.")] = (
        None
    )
    weights_checksum: Annotated[ChecksumText | None, Field(description="Checksum of those weights.")] = None
    layer_names: Annotated[
        dict[str, str | int],
        Field(description="Inputs and outputs that have another name there: the model's own name, and that one."),
    ] = {}
    made_by: Annotated[
        str | None, Field(description="Who or what converted it, with its version, for example `pnnx 20240410`.")
    ] = None


_FEEDS = ("tokens", "last", "mask", "positions", "is_cached", "outputs.NAME", "inputs.NAME")
_FEED = r"^(tokens|last|mask|positions|is_cached|(inputs|outputs)\..+)$"
_MOST_TOKENS = 1 << 24


def _known_feed(value: str) -> str:
    if not re.fullmatch(_FEED, value):
        raise PydanticCustomError("unknown_name", "an unknown name", {"known": list(_FEEDS)})
    return value


Feed = Annotated[str, AfterValidator(_known_feed), Field(json_schema_extra={"pattern": _FEED})]
Token = Annotated[int, Field(ge=0, lt=_MOST_TOKENS)]


class Generation(Part):
    """Answers that are made token by token: a decoder is called again and again with what it said so far."""

    graph: Annotated[
        Name | None, Field(description="Which of `files` is the decoder; by default the model is its own.")
    ] = None
    feeds: Annotated[
        dict[str, Feed],
        Field(
            min_length=1,
            description="What each input of the decoder gets: `tokens` (all so far), `last` (the newest, once there is "
            "a past), `mask`, `positions`, `is_cached` (whether there is a past), `outputs.NAME` or `inputs.NAME` of "
            "the model.",
        ),
    ]
    past: Annotated[
        dict[str, str],
        Field(description="How the names of inputs that take the past begin, and those of the outputs that they are."),
    ] = {}
    kept: Annotated[
        Items[str], Field(description="Parts of names of the past that stays what the first call made it.")
    ] = ()
    scores: Annotated[
        str | int | None,
        Field(description="The decoder's output with the scores of the next token; by default its first."),
    ] = None
    start: Annotated[Items[Token], Field(min_length=1, description="Tokens that every answer begins with.")]
    stop: Annotated[Items[Token], Field(description="Tokens that end an answer.")] = ()
    never: Annotated[Items[Token], Field(description="Tokens that are never chosen.")] = ()
    longest: Annotated[int, Field(ge=1, le=65536, description="At most so many tokens.")] = 448
    per_second: Annotated[
        float | None,
        Field(gt=0, le=1000, description="At most so many tokens for each second of a sound, and `plus` more."),
    ] = None
    plus: Annotated[int, Field(ge=0, le=65536, description="Tokens beyond those of `per_second`.")] = 0
    beams: Annotated[
        int,
        Field(ge=1, le=64, description="How many texts are followed side by side; 1 takes the best token each time."),
    ] = 1
    length_penalty: Annotated[
        float, Field(ge=-10, le=10, description="The sum of logarithms is divided by the length to this power.")
    ] = 1.0


class Firmware(Part):
    """What a device is loaded with before it can answer: a bitfile, an overlay, a firmware image."""

    url: Annotated[Reference, Field(description="The file, or a folder of files.")]
    checksum: Annotated[ChecksumText | None, Field(description="Checksum of it.")] = None


class Remote(Part):
    """A server that has the model, and what the model is called there."""

    url: Annotated[
        str | None,
        Field(
            max_length=2000,
            description="Where it is, such as `http://host:8000` or `grpc://host:8001`; no part of a plan's identity. "
            "`--option url=…` says otherwise.",
        ),
    ] = None
    model: Annotated[str | None, Field(min_length=1, description="The model's name there; by default its own.")] = None
    model_version: Annotated[
        str | None,
        BeforeValidator(text_as_written),
        LOOSE_TEXT,
        Field(description="Its version there; by default the server's choice."),
    ] = None
    config: Annotated[
        dict[str, Any],
        Field(description="The model's configuration, in the server's own words; handed over with its files."),
    ] = {}
    protocol: Annotated[
        Literal["completions", "chat"] | None,
        Field(description="What a server of language models is asked for: texts continued, or answers in a chat."),
    ] = None
    prefix: Annotated[
        str | None, Field(min_length=1, description="What stands before a text without context when it is scored.")
    ] = None
    token_variable: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
            description="The environment variable that holds the key for a server of language models; only its name "
            "is recorded. Who evaluates the model must trust the manifest with it.",
        ),
    ] = None


# What authors call a server of the Open Inference Protocol, without case, spaces and dashes.
SERVERS = frozenset(
    ("remote", "openinferenceprotocol", "triton", "tritoninferenceserver", "kserve", "mlserver", "openvinomodelserver")
)


SPEAKERS = ("openai",)
"""Frameworks whose models are at a server that speaks with everybody, and have no files here."""
RECORDED = "recorded"
"""The framework of answers that are in a file."""


def is_served(framework: str) -> bool:
    """Whether a model of this framework is somebody else's to run, so that it needs no files of its own."""
    return re.sub(r"[\s_-]", "", framework.lower()) in SERVERS


def speaks(framework: str) -> bool:
    """Whether models of this framework are language models at a server that speaks with everybody."""
    return framework.lower() in SPEAKERS


def needed_keys(framework: str, task: str = "") -> tuple[str, ...]:
    """What a manifest without a function `run` cannot do without."""
    if task == LANGUAGE_MODEL:
        return ("inputs",) if is_served(framework) or speaks(framework) else ("inputs", "source")
    if framework.lower() == RECORDED:
        return ("outputs", "source")
    return ("inputs", "outputs") if is_served(framework) else ("inputs", "outputs", "source")


class DatasetReference(Part):
    """A dataset by name."""

    name: Annotated[str, Field(description="Name of the dataset.")]
    version: Annotated[ConstraintText, Field(description="Version constraint.")] = "*"


class Claim(Part):
    """A published number."""

    metric: Annotated[
        MetricName,
        Field(description="What was measured, for example `top1`; `token-f1:PER` is that of one part, here a type."),
    ]
    value: Annotated[
        str,
        BeforeValidator(text_as_written),
        AfterValidator(lambda text: _number_text(text)),
        LOOSE_TEXT,
        Field(
            description="The number as published, a share in percent, with its digits: `75.10` claims more than `75.1`."
        ),
    ]
    dataset: Annotated[str | None, Field(description="Dataset that the number was measured on.")] = None
    split: Annotated[
        Name | None, Field(description="Split of that dataset; a number of another split does not decide the claim.")
    ] = None
    source: Annotated[str | None, Field(description="Where it was published.")] = None
    rounding: Annotated[
        Literal["nearest", "down", "up"],
        Field(description="How the digits that were not published were dropped."),
    ] = "nearest"
    conditions: Annotated[str | None, Field(description="Under which conditions, in words: crop, resolution, …")] = None
    unit: Annotated[
        Literal["percent", "share", "dB", "number"] | None,
        Field(description="What the value is counted in; by default what the metric is usually published in."),
    ] = None
    better: Annotated[
        Literal["higher", "lower"] | None,
        Field(description="Whether a higher or a lower number is better; known for the metrics that can be checked."),
    ] = None


def _number_text(text: str) -> str:
    if not re.fullmatch(r"[+-]?\d{1,9}(\.\d{1,12})?", text):
        raise ValueError("expected a number such as 75.1")
    return text


class ModelManifest(Manifest):
    """How to run a model exactly as its owner does."""

    task: Annotated[Task, Field(description="What the model does.")]
    job_type: Annotated[
        Literal["inference", "training"],
        Field(description="Whether a trained model is run, or one is trained."),
    ] = "inference"
    framework: Annotated[
        Framework | None,
        Field(description="Framework and version constraint; may be left to the software manifest."),
    ] = None
    container: Annotated[dict[str, Images], Field(description="Container images by architecture.")] = {}
    envvars: Annotated[dict[str, str], Field(description="Environment variables that the framework needs.")] = {}
    system_requirements: Annotated[
        Items[Literal["cpu", "gpu", "fpga", "tpu"]],
        Field(description="Kinds of processor that the task cannot do without."),
    ] = ()
    inputs: Annotated[Items[Input], Field(description="The model's inputs.")] = ()
    outputs: Annotated[Items[Output], Field(description="The model's outputs.")] = ()
    answer: Annotated[
        Items[Step],
        Field(
            description="What is done to all outputs of a sample together, in the order written: decoding, choosing."
        ),
    ] = ()
    measure: Annotated[
        dict[str, Any],
        Field(description="How answers are scored, as far as the task leaves it open; goes before the dataset's."),
    ] = {}
    ask: Annotated[
        dict[str, Any],
        Field(
            description="How a language model writes, as far as the dataset's `ask` leaves it open: parameters of the "
            "step `write`."
        ),
    ] = {}
    generate: Annotated[
        Generation | None, Field(description="How a decoder makes an answer token by token, where one does.")
    ] = None
    source: Annotated[Source | None, Field(description="The model's files.")] = None
    conversions: Annotated[
        dict[Name, Conversion],
        Field(
            description="The model converted for other frameworks, by the framework's name: what stacks of that "
            "framework run in place of `source`."
        ),
    ] = {}
    files: Annotated[
        dict[Name, StepFile],
        Field(description="Further files by name, for steps and functions: vocabularies, fitted parameters."),
    ] = {}
    remote: Annotated[Remote | None, Field(description="The server that runs the model.")] = None
    firmware: Annotated[
        Firmware | None, Field(description="What the server's device is loaded with before inference.")
    ] = None
    setup: Annotated[
        str | None,
        Field(description="Python that is executed once before any function; what it defines, the functions see."),
    ] = None
    preprocess: Annotated[
        Preprocess | None,
        Field(description="Python `fun(ctx, data)` in place of the inputs' processing: from samples to tensors."),
    ] = None
    run: Annotated[Run | None, Field(description="Python `fun(ctx, data)` in place of the framework's own call.")] = (
        None
    )
    postprocess: Annotated[
        Postprocess | None,
        Field(description="Python `fun(ctx, data)` in place of the outputs' processing: from tensors to answers."),
    ] = None
    training: Annotated[
        Training | None,
        Field(description="For a training: its parts in Python, and the settings of the loop around them."),
    ] = None
    hyperparameters: Annotated[
        dict[str, Any], Field(description="Numbers and words that the functions get as `ctx['hyperparameters']`.")
    ] = {}
    dataset: Annotated[str | None, Field(description="Dataset manifest to use when none is named.")] = None
    software: Annotated[str | None, Field(description="Software manifest to use when none is named.")] = None
    hardware: Annotated[str | None, Field(description="Hardware manifest to use when none is named.")] = None
    training_dataset: Annotated[DatasetReference | None, Field(description="What the model was trained on.")] = None
    claims: Annotated[Items[Claim], Field(description="Published numbers that can be checked.")] = ()

    _code: str | None = PrivateAttr(default=None)

    @property
    def functions(self) -> dict[str, EmbeddedFunction]:
        """The code that this manifest would run, in the order of its execution."""
        setup = EmbeddedFunction(code=self.setup, function="setup") if self.setup else None
        stages = {"setup": setup, "preprocess": self.preprocess, "run": self.run, "postprocess": self.postprocess}
        found = {name: function for name, function in stages.items() if function is not None}
        if self.training is not None:
            text = self._training_code(self.training.code)
            line = self.training.line if text == self.training.code else 1
            found["training"] = EmbeddedFunction(code=text, function="train_step", line=line)
        return found

    def _training_code(self, code: str) -> str:
        """The text of a training's module, read once: what is trusted is what runs."""
        if "\n" in code:
            return code
        if self._code is None:
            self._code = text_beside(self.file, code, "training.code")
        return self._code

    @property
    def does_it_all(self) -> bool:
        """Whether its own code runs instead of a framework's model."""
        return self.run is not None or self.training is not None

    @model_validator(mode="after")
    def _can_run(self) -> ModelManifest:
        self._refuse_training()
        if not self.does_it_all:
            for field in needed_keys(self.framework.name if self.framework is not None else "", self.task):
                if not getattr(self, field):
                    raise ValueError(
                        f"the key `{field}` is missing: without the function `run` the model's own is needed"
                    )
            if self.job_type == "training":
                raise ValueError("a training task needs `training`, or the function `run`")
        self._refuse_server_keys()
        if self.ask and self.task != LANGUAGE_MODEL:
            raise ValueError(f"the key `ask` goes with `task: {LANGUAGE_MODEL}`, not {self.task}")
        self._refuse_foreign_builder()
        return self

    def _refuse_training(self) -> None:
        if self.training is None:
            return
        if self.job_type != "training":
            raise ValueError("the key `training` goes with `job_type: training`")
        for stage in ("setup", "preprocess", "run", "postprocess"):
            if getattr(self, stage) is not None:
                raise ValueError(f"`training` and the function `{stage}`: one of them says what is done")
        if len(self.inputs) > 1:
            raise ValueError("the steps of one input prepare samples of a training; its functions can make several")

    def _refuse_foreign_builder(self) -> None:
        if self.source is None or self.source.builder is None or self.framework is None:
            return
        names = frameworks_of(self.source.builder)
        if re.sub(r"[\s_-]", "", self.framework.name.lower()) not in names:
            raise ValueError(
                f"the builder {self.source.builder} makes models for the framework {names[0]}, "
                f"not {self.framework.name}"
            )

    def _refuse_server_keys(self) -> None:
        if self.framework is None:
            return
        name = self.framework.name
        for key in ("remote", "firmware"):
            if getattr(self, key) and not is_served(name) and not (key == "remote" and speaks(name)):
                raise ValueError(f"the key `{key}` goes with `framework: {{name: remote}}`, not {name}")
        only = ("model_version", "config") if speaks(name) else ("protocol", "prefix", "token_variable")
        for key in only if self.remote is not None else ():
            if getattr(self.remote, key):
                other = "remote" if speaks(name) else "openai"
                raise ValueError(f"the key `remote.{key}` goes with `framework: {{name: {other}}}`, not {name}")
