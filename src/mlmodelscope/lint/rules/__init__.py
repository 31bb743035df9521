"""Every built-in rule, one file for each idea. Importing this package registers them."""

from mlmodelscope.lint.rules import (
    checksums,
    claims,
    code,
    containers,
    dataset,
    hardware,
    model_files,
    normalisation,
    order,
    outputs,
    reproductions,
    schema,
    software,
    sources,
    versions,
    words,
)

__all__ = [
    "checksums",
    "claims",
    "code",
    "containers",
    "dataset",
    "hardware",
    "model_files",
    "normalisation",
    "order",
    "outputs",
    "reproductions",
    "schema",
    "software",
    "sources",
    "versions",
    "words",
]
