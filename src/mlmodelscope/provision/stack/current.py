"""The interpreter that runs this command is itself a stack, used wherever it is what a plan asks for."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from pathlib import Path

import mlmodelscope_worker
from mlmodelscope.plan.make import StackDescription
from mlmodelscope_worker.environment import installed_packages


@cache
def describe_current() -> StackDescription:
    return StackDescription(name="current", python=platform.python_version(), packages=installed_packages())


@cache
def worker_digest() -> str:
    """Digest of the worker's own source: another worker may give another answer, whatever its version says."""
    root = Path(mlmodelscope_worker.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
