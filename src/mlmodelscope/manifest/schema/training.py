"""A training with an interface: which functions of the manifest's module are its parts, and how the loop runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from mlmodelscope.manifest.schema.part import Items, MetricName, Part
from mlmodelscope.manifest.schema.reproduction import Code
from mlmodelscope.manifest.schema.step import Step

FunctionName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Steps = Annotated[int, Field(ge=1, le=10**9)]


class TrainingFunctions(Part):
    """What the parts are called in the code; each has a usual name."""

    model: Annotated[FunctionName, Field(description="`build(seed)`: a new model.")] = "build"
    forward: Annotated[
        FunctionName, Field(description="`forward(model, inputs)`: outputs; by default the model is called.")
    ] = "forward"
    loss: Annotated[FunctionName, Field(description="`loss(outputs, targets)`: one number.")] = "loss"
    optimizer: Annotated[
        FunctionName, Field(description="`start(model)`: what a step hands to the next one, such as an optimizer.")
    ] = "start"
    training_step: Annotated[
        FunctionName,
        Field(description="`train_step(model, state, inputs, targets)`: (model, state, loss) after one step."),
    ] = "train_step"
    validation_step: Annotated[
        FunctionName,
        Field(description="`validation_step(model, inputs, targets)`: metrics of one batch, weighted by its samples."),
    ] = "validation_step"
    metrics: Annotated[
        FunctionName, Field(description="`metrics(outputs, targets)`: metrics of all samples of the evaluation.")
    ] = "metrics"
    training_data: Annotated[
        FunctionName, Field(description="`training_data(files)`: the samples to train on, of {source name: [paths]}.")
    ] = "training_data"
    evaluation_data: Annotated[
        FunctionName, Field(description="`evaluation_data(files)`: the samples to measure on.")
    ] = "evaluation_data"
    augment: Annotated[
        FunctionName, Field(description="`augment(value, random)`: your own augmentation, behind the declared one.")
    ] = "augment"
    parameters: Annotated[
        FunctionName, Field(description="`parameters(model)`: arrays by name, of a NumPy model that is no mapping.")
    ] = "parameters"
    features: Annotated[
        FunctionName, Field(description="`features(model, inputs)`: what the head of the model gets.")
    ] = "features"
    save: Annotated[
        FunctionName, Field(description="`save(model, folder)`: writes what else is to be kept of the model.")
    ] = "save"


class Training(Part):
    """The parts of a training in Python, and the settings of the loop around them."""

    code: Annotated[Code, Field(description="A Python file beside the manifest, or Python itself.")]
    framework: Annotated[
        Literal["numpy", "pytorch", "keras", "jax"], Field(description="What the model is written in.")
    ] = "numpy"
    functions: Annotated[TrainingFunctions, Field(description="What the parts are called.")] = TrainingFunctions()
    epochs: Annotated[
        Annotated[int, Field(ge=1, le=10**6)] | None, Field(description="How often every sample is seen.")
    ] = None
    steps: Annotated[Steps | None, Field(description="How many steps are made, instead of epochs.")] = None
    batch_size: Annotated[int, Field(ge=1, le=1 << 20, description="Samples of a step.")]
    evaluation_batch_size: Annotated[
        Annotated[int, Field(ge=1, le=1 << 20)] | None,
        Field(description="Samples that are evaluated at once; by default as many as in a step."),
    ] = None
    evaluate_every: Annotated[
        Steps | None, Field(description="Steps between evaluations; by default those of an epoch.")
    ] = None
    checkpoint_every: Annotated[
        Steps | None, Field(description="Steps between checkpoints, besides those after each evaluation.")
    ] = None
    checkpoint_every_s: Annotated[
        float, Field(strict=False, gt=0, le=10**6, description="Seconds between checkpoints, where no steps are named.")
    ] = 30.0
    shuffle: Annotated[bool, Field(description="Whether each epoch has an order of its own, by the seed.")] = True
    drop_last: Annotated[bool, Field(description="Whether a smaller last batch is left out.")] = False
    cache: Annotated[
        bool, Field(description="Whether samples are kept in memory after the steps, before augmentation.")
    ] = False
    prefetch: Annotated[int, Field(ge=0, le=1024, description="Batches that are prepared ahead; with 0, none.")] = 2
    workers: Annotated[int, Field(ge=1, le=256, description="Threads that prepare batches.")] = 1
    processing: Annotated[
        Items[Step] | None,
        Field(
            description="Steps before the model in training; by default those of the manifest's `inputs`, which "
            "evaluations take."
        ),
    ] = None
    augmentation: Annotated[
        Items[Step], Field(description="What is changed at random in samples of the training, in this order.")
    ] = ()
    head: Annotated[
        Items[Annotated[str, Field(min_length=1, max_length=1000)]],
        Field(description="Layers that are left out of a model without head, by name or the beginning of it."),
    ] = ()
    target: Annotated[
        dict[MetricName, Annotated[float, Field(strict=False, allow_inf_nan=False)]],
        Field(description="The training ends when every one of these metrics is reached."),
    ] = {}

    line: Annotated[int, Field(exclude=True, description="Line of the manifest where the code starts.")] = 0

    @field_validator("head")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))

    @model_validator(mode="after")
    def _how_long(self) -> Training:
        if (self.epochs is None) == (self.steps is None):
            raise ValueError("a training has either `epochs` or `steps`")
        return self
