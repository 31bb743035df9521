"""Where packages are built: a build script is other people's code, trusted or not.

It never sees the builder's variables, and where the machine can build walls (`walls`) it sees the stack that is being
made, what packages are found and built with, and of the network the package index alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.provision.stack.gate import INSIDE, Gate
from mlmodelscope.provision.stack.interpreter import interpreter_folders
from mlmodelscope.provision.stack.provisioner import Launch, Needs
from mlmodelscope.provision.stack.walls import confine, is_confining

_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|"
    r"(HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NETRC|"  # the way to the index
    r"PIP_.*|UV_(?!PUBLISH).*|APT_CONFIG|MLMODELSCOPE_DEBIAN_MIRROR|"
    r"CC|CXX|AR|LD|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|MAKEFLAGS|LD_LIBRARY_PATH|SOURCE_DATE_EPOCH|CUDA_HOME"
)

Done = subprocess.CompletedProcess[str]


def builder_environment(**more: str) -> dict[str, str]:
    """The variables by which packages are found and built; tokens and passwords of everything else stay here."""
    return {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name.upper())} | more


def in_the_open(command: Sequence[str], environment: Mapping[str, str]) -> Done:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", env=dict(environment), check=False)


@dataclass(frozen=True)
class Workshop:
    """A place to build one stack in."""

    folder: Path
    """What is being made."""
    reads: tuple[Path, ...]
    hosts: frozenset[str]
    """Where packages may come from."""

    def __call__(self, command: Sequence[str], environment: Mapping[str, str]) -> Done:
        if not is_confining():
            return in_the_open(command, environment)
        with tempfile.TemporaryDirectory(prefix="mlmodelscope-gate-") as place:
            gate = Path(place) / "gate"
            own = {
                # Nothing of what is built here may be taken for somebody else's package later.
                "UV_CACHE_DIR": f"{place}/uv",
                "PIP_CACHE_DIR": f"{place}/pip",
                "UV_LINK_MODE": "copy",
                "UV_PYTHON_DOWNLOADS": "never",
            }
            inner = {**environment, **own}
            needs = Needs(environment=inner, reads=self._seen(environment), writes=(self.folder, Path(place)))
            program = (sys.executable, "-c", INSIDE, str(gate), *command)
            with Gate(gate, self.hosts):
                launch = confine(Launch(program, inner), needs)
                return in_the_open(launch.command, launch.environment)

    def _seen(self, environment: Mapping[str, str]) -> tuple[Path, ...]:
        named = (environment.get(name) for name in ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"))
        python = self.folder / "bin" / "python"
        places = (*self.reads, *(Path(each) for each in named if each), *interpreter_folders(python))
        return tuple(each for each in places if each.exists() and not each.is_relative_to(self.folder))
