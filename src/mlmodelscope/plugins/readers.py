"""Readers, which make answers of a task's outputs inside stacks."""

from __future__ import annotations

from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker.registry import itself
from mlmodelscope_worker.task.reader import OURS, TASKS

READERS: Registry[type] = Registry(
    "reader",
    "readers",
    TASKS,
    type,
    itself,
    names="[a-z][a-z0-9_]*",
    built_in={name: f"mlmodelscope_worker.task.{module}" for name, module in OURS.items()},
    travels=True,
)
