"""A stack as a virtual environment: built once for its content, complete or not there, shared by all plans.

It is made under a name of its own and renamed when it is complete, so that neither a kill nor a full disk nor a second
process leaves or sees half of one. uv links files from its cache, so that a second stack of large packages costs
little; without uv, pip does the same work, slower.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.manifest.version import Version
from mlmodelscope.plan.make import StackDescription
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.pip_settings import IndexSettings, read_index_settings
from mlmodelscope.provision.stack.interpreter import Interpreter, find_interpreter, find_uv
from mlmodelscope.settings import Settings

_DESCRIPTION = "stack.json"
_KEPT = 3000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Venv:
    """A finished environment."""

    digest: str
    name: str
    folder: Path
    python: str
    version: str
    packages: dict[str, str]
    recipe: StackRecipe

    @property
    def description(self) -> StackDescription:
        return StackDescription(self.name, self.version, self.packages, self.recipe)


def digest_of(recipe: StackRecipe) -> str:
    """The same recipe is the same stack, whatever it is called."""
    text = json.dumps(recipe.model_dump(mode="json", exclude={"index_url"}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class VenvStore:
    """The environments of one cache folder."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.cache / "stacks"
        self._offline = settings.offline

    def find(self, recipe: StackRecipe) -> Venv | None:
        return _read(self._root / digest_of(recipe))

    def list(self) -> Iterator[Venv]:
        for folder in sorted(self._root.glob("*")):
            found = _read(folder)
            if found is not None:
                yield found

    def build(self, recipe: StackRecipe, name: str, progress: Progress = lambda line: None) -> Venv:
        """The environment for a recipe, made where it is not there yet."""
        found = self.find(recipe)
        if found is not None:
            return found
        self._root.mkdir(parents=True, exist_ok=True)
        with self._lock(digest_of(recipe)):
            return self.find(recipe) or self._build(recipe, name, progress)

    def remove(self, digest: str) -> None:
        with self._lock(digest):
            if not self._set_aside(digest):
                raise StackError(f"there is no stack {digest[:12]}")

    def _set_aside(self, digest: str) -> bool:
        """Out of the way in one step, then deleted at leisure."""
        doomed = self._root / f"{digest}.{os.getpid()}.removed"
        try:
            os.replace(self._root / digest, doomed)
        except FileNotFoundError:
            return False
        shutil.rmtree(doomed, ignore_errors=True)
        return True

    def _build(self, recipe: StackRecipe, name: str, progress: Progress) -> Venv:
        self._remove_left_behind()
        interpreter = find_interpreter(recipe.python)
        draft = self._root / f"{digest_of(recipe)}.{os.getpid()}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            progress(f"building {name} with Python {interpreter.version}")
            installer = Installer(interpreter, draft, self._offline)
            installer.make()
            if recipe.requirements:
                installer.install(recipe)
            packages = _installed(draft / "bin" / "python")
            description = {"name": name, "python": interpreter.version, "packages": packages}
            description["recipe"] = recipe.model_dump(mode="json")
            (draft / _DESCRIPTION).write_text(json.dumps(description, indent=2, sort_keys=True) + "\n")
            self._set_aside(digest_of(recipe))  # one that is there is broken: `find` did not take it
            os.replace(draft, self._root / digest_of(recipe))
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        made = self.find(recipe)
        assert made is not None
        return made

    def _remove_left_behind(self) -> None:
        """What a killed process began, nobody else will finish."""
        for folder in self._root.glob("*.*.*"):
            owner = folder.name.split(".")[1]
            with contextlib.suppress(ValueError, PermissionError):
                try:
                    os.kill(int(owner), 0)
                except ProcessLookupError:
                    shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _lock(self, digest: str) -> Iterator[None]:
        folder = self._root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / digest).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class Installer:
    """uv where it is there, pip otherwise; both look where the user's own pip looks."""

    def __init__(self, interpreter: Interpreter, folder: Path, offline: bool) -> None:
        self._interpreter = interpreter
        self._folder = folder
        self._offline = offline
        self._uv = find_uv()
        self._indexes = read_index_settings()
        # uv's compiler does not run on Python 3.6; without compiled files every start would compile anew.
        self._compiles = Version(interpreter.version) >= Version("3.7")

    def make(self) -> None:
        if self._uv is not None:
            self._run([self._uv, "venv", "--quiet", "--python", self._interpreter.path, str(self._folder)])
        else:
            self._run([self._interpreter.path, "-m", "venv", "--without-pip", str(self._folder)])

    def install(self, recipe: StackRecipe) -> None:
        listed = self._folder / "requirements.txt"
        listed.write_text("\n".join(recipe.requirements) + "\n")
        command = self._with_uv() if self._uv is not None else self._with_pip()
        hashed = all("--hash" in line for line in recipe.requirements)
        command += ["-r", str(listed), *(["--require-hashes"] if hashed else []), *self._where(recipe)]
        self._run(command)
        if not self._compiles:
            self._run([str(self._folder / "bin" / "python"), "-m", "compileall", "-q", str(self._folder / "lib")], True)

    def _with_uv(self) -> list[str]:
        assert self._uv is not None
        command = [self._uv, "pip", "install", "--quiet"]
        if self._compiles:
            command.append("--compile-bytecode")
        command += ["--python", str(self._folder / "bin" / "python"), "--index-strategy", "unsafe-best-match"]
        return [*command, *(["--offline"] if self._offline else [])]

    def _with_pip(self) -> list[str]:
        # Our own pip installs into the other interpreter's folder; old Pythons need not have one that still works.
        command = [sys.executable, "-m", "pip", "--python", str(self._folder / "bin" / "python"), "install"]
        return [*command, "--quiet", "--disable-pip-version-check", *(["--no-index"] if self._offline else [])]

    def _where(self, recipe: StackRecipe) -> list[str]:
        settings = self._indexes
        first = recipe.index_url or (settings.indexes[0] if settings.indexes else None)
        options = ["--index-url", first] if first and not self._offline else []
        for extra in settings.indexes[1:] if not self._offline else ():
            options += ["--extra-index-url", extra]
        for place in (*recipe.find_links, *settings.find_links):
            options += ["--find-links", place]
        return options

    def _run(self, command: list[str], may_fail: bool = False) -> None:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PIP_REQUIRE_VIRTUALENV": ""}
        certificates = self._certificates(self._indexes)
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
            if self._offline:
                raise OfflineError(f"the stack cannot be built without the network\n{said}")
            raise StackError(f"the stack could not be built:\n{said}")

    @staticmethod
    def _certificates(settings: IndexSettings) -> str | None:
        return settings.certificates


def _read(folder: Path) -> Venv | None:
    python = folder / "bin" / "python"
    try:
        described = json.loads((folder / _DESCRIPTION).read_text())
        recipe = StackRecipe.model_validate(described["recipe"])
        if not python.exists():  # the interpreter that it was made with is gone
            return None
        return Venv(
            folder.name, described["name"], folder, str(python), described["python"], described["packages"], recipe
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _installed(python: Path) -> dict[str, str]:
    """Packages of an environment, as the worker in it will see them."""
    import mlmodelscope_worker

    source = Path(mlmodelscope_worker.__file__).parent / "environment.py"
    code = f"import runpy,json;print(json.dumps(runpy.run_path({str(source)!r})['installed_packages']()))"
    done = subprocess.run([str(python), "-I", "-c", code], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise StackError(f"the new environment does not run:\n{done.stderr.strip()[-_KEPT:]}")
    found: dict[str, str] = json.loads(done.stdout)
    return found
