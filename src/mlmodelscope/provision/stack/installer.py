"""Putting Python packages where a stack wants them: with uv where it is there, with pip otherwise.

uv links files from its cache, so that a second stack of large packages costs little; pip does the same work, slower.
Both look where the user's own pip looks.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.manifest.trust import is_pinned_by_us
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.pip_settings import as_option, read_index_settings
from mlmodelscope.provision.stack.builder import Workshop, builder_environment, in_the_open
from mlmodelscope.provision.stack.gate import hosts_of
from mlmodelscope.provision.stack.interpreter import find_uv, interpreter_folders

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
        # Our own pip installs into the other interpreter's folder; old Pythons need not have one that still works.
        tool = self._with_uv("--python", str(python)) if self._uv else self._with_pip("--python", str(python))
        command = [*tool, *self._what(recipe, listed)]
        # What is locked is the same from wherever it comes: where uv has it all, the network need not be asked.
        is_at_hand = self._uv is not None and not self._offline and is_locked(recipe)
        ways = [["--offline"], []] if is_at_hand else [[]]
        if is_shipped(recipe):
            self._install([[*command, *way] for way in ways])
            return
        # Wheels run nothing when they are installed; what must be built is built behind walls.
        if not any(" @ " in line for line in recipe.requirements):
            said = self._try([[*command, "--only-binary", ":all:", *way] for way in ways])
            if said is None:
                return
            if "hash" in said.lower():  # that is no reason to build anything
                raise self._failure(said)
        self._install([[*command, *way] for way in ways], self._closed_off(recipe, listed))

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

    def _with_uv(self, *more: str) -> list[str]:
        assert self._uv is not None
        command = [self._uv, "pip", "install", "--quiet", "--index-strategy", "unsafe-best-match", *more]
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

    def _closed_off(self, recipe: StackRecipe, listed: Path) -> Workshop:
        """Packages that we have not chosen may run code when they are built: they see the index and the stack alone."""
        local = [Path(each) for each in (*recipe.find_links, *self._indexes.find_links) if "://" not in each]
        reads = [*local, *([Path(self._uv)] if self._uv else []), *interpreter_folders(Path(sys.executable))]
        hosts = hosts_of(self._indexes, recipe.index_url, recipe.find_links) if not self._offline else frozenset()
        return Workshop(listed.parent, tuple(reads), hosts)

    def run(self, command: list[str]) -> None:
        """StackError where it does not go well."""
        self._install([command])

    def _install(self, commands: list[list[str]], inside: Workshop | None = None) -> None:
        said = self._try(commands, inside)
        if said is not None:
            raise self._failure(said)

    def _try(self, commands: list[list[str]], inside: Workshop | None = None) -> str | None:
        """What the last of them complained of; nothing where one went well."""
        environment = builder_environment(PYTHONDONTWRITEBYTECODE="", PIP_REQUIRE_VIRTUALENV="")
        certificates = self._indexes.certificates
        if certificates:
            environment |= {"SSL_CERT_FILE": certificates, "PIP_CERT": certificates}
        said: str | None = None
        for command in commands:
            try:
                done = (inside or in_the_open)(command, environment)
            except OSError as error:
                raise StackError(f"cannot run {command[0]}: {error.strerror or error}") from None
            if done.returncode == 0:
                return None
            said = (done.stderr or done.stdout).strip()[-_KEPT:]
        return said

    def _failure(self, said: str) -> StackError | OfflineError:
        if self._offline and "hash" not in said.lower():  # a wrong file is not the network's fault
            return OfflineError(f"the stack cannot be built without the network\n{said}")
        hint = "pip install uv, which serves older Pythons than pip does" if self._uv is None else None
        return StackError(f"the stack could not be built:\n{said}", hint=hint)


def is_shipped(recipe: StackRecipe) -> bool:
    return not recipe.find_links and not recipe.index_url and all(map(is_pinned_by_us, recipe.requirements))


def is_locked(recipe: StackRecipe) -> bool:
    return all("--hash" in line for line in recipe.requirements)
