"""Finding a Python for a stack: the one that runs us, those on the path, uv's, pyenv's."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.version import Constraint, Version

_ASK = "import platform,sys;print(platform.python_version(),platform.machine(),sys.executable)"


@dataclass(frozen=True)
class Interpreter:
    path: str
    version: str


def find_interpreter(constraint: str) -> Interpreter:
    """The newest Python that satisfies a constraint; StackError says how to get one where there is none."""
    wanted = Constraint(constraint)
    seen: dict[str, Interpreter] = {}
    for path in _candidates():
        real = os.path.realpath(path)
        if real not in seen and (found := ask(path)) is not None:
            seen[real] = found
    here = Interpreter(sys.executable, ".".join(map(str, sys.version_info[:3])))
    fitting = [each for each in (here, *seen.values()) if wanted.matches(Version(each.version))]
    if fitting:
        # Our own comes first where it will do: nothing has to be asked of another installation.
        return here if here in fitting else max(fitting, key=lambda each: Version(each.version))
    have = ", ".join(sorted({each.version for each in (here, *seen.values())}, key=Version))
    number = re.search(r"\d+\.\d+", constraint)
    release = number[0] if number else "3.11"
    old = Version(release) < Version("3.8")
    raise StackError(
        f"there is no Python {constraint} on this machine; there is {have}",
        hint=f"pyenv install {release}" if old else f"uv python install {release}",
    )


def _candidates() -> Iterator[str]:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "python3*"))):
            if re.fullmatch(r"python3(\.\d+)?", os.path.basename(path)):
                yield path
    roots = [os.environ.get("PYENV_ROOT") or "~/.pyenv", "/opt/pyenv"]
    for root in roots:
        yield from sorted(glob.glob(os.path.join(os.path.expanduser(root), "versions", "*", "bin", "python")))
    uv = find_uv()
    if uv is not None:
        listed = _run([uv, "python", "list", "--only-installed", "--offline"])
        for line in listed.splitlines():
            words = line.split()
            if len(words) >= 2 and os.path.isabs(words[1]):
                yield words[1]


@cache
def ask(path: str) -> Interpreter | None:
    """What a Python says of itself; nothing where it does not answer as one."""
    words = _run([path, "-I", "-c", _ASK]).split()
    return Interpreter(path, words[0]) if len(words) >= 2 and re.match(r"\d+\.\d+", words[0]) else None


def find_uv() -> str | None:
    """uv beside our own Python, or on the path."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else shutil.which("uv")


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
