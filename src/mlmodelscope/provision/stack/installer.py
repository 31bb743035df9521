"""Putting Python packages where a stack wants them: with uv where it is there, with pip otherwise.

uv links files from its cache, so that a second stack of large packages costs little; pip does the same work, slower.
Both look where the user's own pip looks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.pip_settings import as_option, read_index_settings
from mlmodelscope.provision.stack.builder import builder_environment
from mlmodelscope.provision.stack.interpreter import find_uv

_KEPT = 3000
_KNOWN_TO_UV = ("x86_64", "aarch64")


class Installer:
    def __init__(self, offline: bool) -> None:
        self._offline = offline
        self._uv = find_uv()
        self._indexes = read_index_settings()

    def make_venv(self, python: str, folder: Path) -> None:
        if self._uv is not None:
            self.run([self._uv, "venv", "--quiet", "--python", python, str(folder)])
        else:
            self.run([python, "-m", "venv", "--without-pip", str(folder)])

    def install(self, recipe: StackRecipe, listed: Path, python: Path) -> None:
        """Into an interpreter's own folder."""
        listed.write_text("\n".join(recipe.requirements) + "\n")
        if self._uv is None:
            # Our own pip installs into the other interpreter's folder; old Pythons need not have one that still works.
            self.run([*self._with_pip("--python", str(python)), *self._what(recipe, listed)])
            return
        command = [*self._with_uv(), "--python", str(python), *self._what(recipe, listed)]
        # What is locked is the same from wherever it comes: where uv has it all, the network need not be asked.
        if self._offline or not is_locked(recipe) or not self.run([*command, "--offline"], may_fail=True):
            self.run(command)

    def install_apart(self, recipe: StackRecipe, listed: Path, target: Path, version: str, architecture: str) -> None:
        """Into a folder, for a Python that cannot be asked: another machine's, or one inside a root file system."""
        listed.write_text("\n".join(recipe.requirements) + "\n")
        release = ".".join(version.split(".")[:2])
        options = ["--target", str(target), "--python-version", release, "--only-binary", ":all:"]
        if self._uv is not None and architecture in _KNOWN_TO_UV:
            command = [*self._with_uv(), *options, "--python-platform", f"{architecture}-manylinux_2_28"]
        else:
            command = [*self._with_pip(), *options]
            for age in ("manylinux_2_28", "manylinux_2_17", "manylinux2014"):
                command += ["--platform", f"{age}_{architecture}"]
        self.run([*command, *self._what(recipe, listed)])

    def _with_uv(self) -> list[str]:
        assert self._uv is not None
        command = [self._uv, "pip", "install", "--quiet", "--index-strategy", "unsafe-best-match"]
        return [*command, *(["--offline"] if self._offline else [])]

    def _with_pip(self, *before: str) -> list[str]:
        command = [sys.executable, "-m", "pip", *before, "install", "--quiet", "--disable-pip-version-check"]
        return [*command, *(["--no-index"] if self._offline else [])]

    def _what(self, recipe: StackRecipe, listed: Path) -> list[str]:
        return ["-r", str(listed), *(["--require-hashes"] if is_locked(recipe) else []), *self._where(recipe)]

    def _where(self, recipe: StackRecipe) -> list[str]:
        settings = self._indexes
        first = recipe.index_url or (settings.indexes[0] if settings.indexes else None)
        options = ["--index-url", first] if first and not self._offline else []
        for extra in settings.indexes[1:] if not self._offline else ():
            options += ["--extra-index-url", extra]
        for place in (*recipe.find_links, *settings.find_links):
            options += ["--find-links", as_option(place)]
        return options

    def run(self, command: list[str], may_fail: bool = False) -> bool:
        """Whether it went well; StackError where it must."""
        environment = builder_environment(PYTHONDONTWRITEBYTECODE="", PIP_REQUIRE_VIRTUALENV="")
        certificates = self._indexes.certificates
        if certificates:
            environment |= {"SSL_CERT_FILE": certificates, "PIP_CERT": certificates}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", env=environment, check=False
            )
        except OSError as error:
            raise StackError(f"cannot run {command[0]}: {error.strerror or error}") from None
        if done.returncode and not may_fail:
            said = (done.stderr or done.stdout).strip()[-_KEPT:]
            if self._offline and "hash" not in said.lower():  # a wrong file is not the network's fault
                raise OfflineError(f"the stack cannot be built without the network\n{said}")
            hint = "pip install uv, which serves older Pythons than pip does" if self._uv is None else None
            raise StackError(f"the stack could not be built:\n{said}", hint=hint)
        return done.returncode == 0


def is_locked(recipe: StackRecipe) -> bool:
    return all("--hash" in line for line in recipe.requirements)
