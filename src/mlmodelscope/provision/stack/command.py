"""A command of the user's own in a stack, for everybody who writes a model in a stack's framework."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mlmodelscope.errors import StackError, UsageError
from mlmodelscope.provision.stack.provisioner import Launch, Needs
from mlmodelscope.provision.stack.store import Built

_PYTHONS = ("python", "python3")


def run_command(stack: Built | None, command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Its exit code; None for the stack is the running Python. What it reads and writes is the terminal's."""
    if not command:
        raise UsageError("there is no command to run", hint="mlmodelscope stacks run STACK -- python script.py")
    launch = _launch(stack, tuple(command), variables)
    try:
        done = subprocess.run(launch.command, env=dict(launch.environment), check=False)
    except OSError as error:
        raise StackError(f"cannot run {command[0]}: {error.strerror or error}") from None
    except KeyboardInterrupt:
        return 130
    finally:
        if launch.stop is not None:
            subprocess.run(launch.stop, capture_output=True, check=False)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _launch(stack: Built | None, command: tuple[str, ...], variables: Mapping[str, str]) -> Launch:
    environment = {"PYTHONNOUSERSITE": "1", "PYTHONPATH": "", **variables}
    if stack is None or stack.recipe.kind == "venv":
        scripts = Path(sys.executable).parent if stack is None else stack.folder / "bin"
        return _beside(scripts, command, environment)
    if command[0] not in _PYTHONS:
        raise UsageError(
            f"{stack.name} is a file system of its own, in which its Python alone is started, not `{command[0]}`",
            hint=f"mlmodelscope stacks run {stack.name} -- python -m …, or -- python script.py",
        )
    here = Path.cwd()
    needs = Needs(environment=environment, writes=(here,), folder=here, network=True)
    return stack.launch(command[1:], needs)


def _beside(scripts: Path, command: tuple[str, ...], variables: Mapping[str, str]) -> Launch:
    """A program of the stack's folder, or else of the path, whose Python is the stack's."""
    path = os.pathsep.join((str(scripts), os.environ.get("PATH", os.defpath)))
    environment = {**os.environ, **variables, "PATH": path, "VIRTUAL_ENV": str(scripts.parent)}
    environment.pop("PYTHONHOME", None)
    own = scripts / command[0]
    first = str(own) if os.sep not in command[0] and own.is_file() else command[0]
    return Launch((first, *command[1:]), environment)
