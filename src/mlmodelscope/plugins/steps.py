"""Steps, output steps, answer steps and augmentations, which run inside stacks."""

from __future__ import annotations

from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker import output, pipeline
from mlmodelscope_worker.parameters import Declaration
from mlmodelscope_worker.training import augmentation

STEPS: Registry[Declaration] = Registry(
    "step", "steps", pipeline.STEPS, Declaration, Declaration.code, names="[a-z][a-z0-9_]*", travels=True
)
ANSWER_STEPS: Registry[Declaration] = Registry(
    "answer step",
    "answer_steps",
    output.ANSWER_STEPS,
    Declaration,
    Declaration.code,
    names="[a-z][a-z0-9_]*",
    travels=True,
)
OUTPUT_STEPS: Registry[Declaration] = Registry(
    "output step",
    "output_steps",
    output.OUTPUT_STEPS,
    Declaration,
    Declaration.code,
    names="[a-z][a-z0-9_]*",
    travels=True,
)
AUGMENTATIONS: Registry[Declaration] = Registry(
    "augmentation",
    "augmentations",
    augmentation.AUGMENTATIONS,
    Declaration,
    Declaration.code,
    names="[a-z][a-z0-9_]*",
    travels=True,
)
