"""The interpreter that runs this command is itself a stack, used wherever it is what a plan asks for."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from pathlib import Path

import mlmodelscope_worker
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.provision.stack.interpreter import interpreter_folders
from mlmodelscope.provision.stack.provisioner import Launch, Needs
from mlmodelscope_worker.environment import installed_packages


class CurrentStack:
    """The running Python, or any other that is simply there."""

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python

    def launch(self, arguments: tuple[str, ...], needs: Needs) -> Launch:
        reads = tuple(interpreter_folders(Path(self._python)))
        return Launch((self._python, *arguments), {**os.environ, **needs.environment}, reads=reads)


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
