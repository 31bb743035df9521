"""Finding a Python for a stack: the one that runs us, pyenv's and uv's, those on the path."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
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
    """A Python that satisfies a constraint, the newest of its place; StackError says how to get one where none is.

    Starting a Python takes a while, and some are scripts that look for one: those that are quickly known come first,
    and those whose path names another release are not asked.
    """
    wanted = Constraint(constraint)
    here = Interpreter(sys.executable, ".".join(map(str, sys.version_info[:3])))
    if wanted.matches(Version(here.version)):
        return here  # nothing has to be asked of another installation
    for place in _PLACES:
        found = _ask_all(path for path in place() if _may_fit(path, wanted))
        fitting = [each for each in found if wanted.matches(Version(each.version))]
        if fitting:
            return max(fitting, key=lambda each: Version(each.version))
    others = _ask_all(path for place in _PLACES for path in place())
    have = ", ".join(sorted({each.version for each in (here, *others)}, key=Version))
    number = re.search(r"\d+\.\d+", constraint)
    release = number[0] if number else "3.11"
    old = Version(release) < Version("3.8")
    raise StackError(
        f"there is no Python {constraint} on this machine; there is {have}",
        hint=f"pyenv install {release}" if old else f"uv python install {release}",
    )


def installed_minors() -> frozenset[int]:
    """Which Pythons 3.x there are."""
    others = _ask_all(path for place in _PLACES for path in place())
    numbers = [re.match(r"3\.(\d+)", each.version) for each in others]
    return frozenset({sys.version_info.minor, *(int(each[1]) for each in numbers if each)})


def _ask_all(paths: Iterable[str]) -> list[Interpreter]:
    return [found for path in paths if (found := ask(path)) is not None]


def _may_fit(path: str, wanted: Constraint) -> bool:
    """Whether a Python's path leaves it open that it is what is wanted."""
    named = re.search(r"(?:/versions/|python-?)(\d+\.\d+)(\.\d+)?[^/]*(?:/|$)", path)
    if named is None:
        return True
    patches = [named[2]] if named[2] else [".0", ".99"]
    return any(wanted.matches(Version(named[1] + patch)) for patch in patches)


def _installed() -> Iterator[str]:
    """In folders that are called after the release: pyenv's and uv's."""
    pyenv = [os.environ.get("PYENV_ROOT") or "~/.pyenv", "/opt/pyenv"]
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    roots = [os.path.join(root, "versions") for root in pyenv]
    roots.append(os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(data, "uv", "python"))
    for root in roots:
        yield from sorted(glob.glob(os.path.join(os.path.expanduser(root), "*", "bin", "python")))


def _on_path() -> Iterator[str]:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "python3*"))):
            if re.fullmatch(r"python3(\.\d+)?", os.path.basename(path)):
                yield path


def _known_to_uv() -> Iterator[str]:
    """Wherever else it looks."""
    uv = find_uv()
    if uv is not None:
        listed = _run([uv, "python", "list", "--only-installed", "--offline"])
        for line in listed.splitlines():
            words = line.split()
            if len(words) >= 2 and os.path.isabs(words[1]):
                yield words[1]


_PLACES = (_installed, _on_path, _known_to_uv)


@cache
def ask(path: str) -> Interpreter | None:
    """What a Python says of itself; nothing where it does not answer as one."""
    words = _run([path, "-I", "-c", _ASK]).split()
    return Interpreter(path, words[0]) if len(words) >= 2 and re.match(r"\d+\.\d+", words[0]) else None


def find_uv() -> str | None:
    """uv beside our own Python, or on the path."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else shutil.which("uv")


def interpreter_folders(python: Path) -> Iterator[Path]:
    """Where an interpreter and its library lie: its environment's folder, and that of the Python it was made with."""
    yield python.parent.parent
    yield Path(os.path.realpath(python)).parent.parent


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
