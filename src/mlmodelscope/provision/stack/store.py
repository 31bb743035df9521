"""Stacks that were built: once for their content, complete or not there, shared by all plans.

Each is made under a name of its own and renamed when it is complete, so that neither a kill nor a full disk nor a
second process leaves or sees half of one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import mlmodelscope_worker
from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Stack
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.provision.stack.container import ContainerProvisioner
from mlmodelscope.provision.stack.provisioner import Launch, Needs, Progress, Provisioner
from mlmodelscope.provision.stack.root import RootProvisioner
from mlmodelscope.provision.stack.venv import VenvProvisioner
from mlmodelscope.provision.stack.walls import confine
from mlmodelscope.settings import Settings
from mlmodelscope_worker.environment import normalise

_PROVISIONERS: dict[str, Callable[[Settings], Provisioner]] = {
    "venv": VenvProvisioner,
    "root": RootProvisioner,
    "container": ContainerProvisioner,
}
_DESCRIPTION = "stack.json"
_KEPT = 3000
_DESCRIBE_TIMEOUT_S = 600  # an emulated Python in a cold container takes its time


@dataclass(frozen=True)
class Built:
    """A finished stack."""

    digest: str
    name: str
    folder: Path
    version: str
    """Of its Python."""
    architecture: str
    packages: dict[str, str]
    system_packages: dict[str, str]
    recipe: StackRecipe
    provisioner: Provisioner

    @property
    def description(self) -> StackDescription:
        return StackDescription(self.name, self.version, self.packages, self.recipe)

    def launch(self, arguments: tuple[str, ...], needs: Needs) -> Launch:
        return self.provisioner.launch(self.recipe, self.folder, arguments, needs)


def digest_of(recipe: StackRecipe) -> str:
    """The same recipe is the same stack, whatever it is called."""
    text = json.dumps(recipe.model_dump(mode="json", exclude={"index_url"}, exclude_defaults=True), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class StackStore:
    """The stacks of one cache folder."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.cache / "stacks"
        self._settings = settings

    def find(self, recipe: StackRecipe) -> Built | None:
        return self._read(self._root / digest_of(recipe))

    def list(self) -> Iterator[Built]:
        for folder in sorted(self._root.glob("*")):
            found = self._read(folder)
            if found is not None:
                yield found

    def build(self, recipe: StackRecipe, name: str, progress: Progress = lambda line: None) -> Built:
        """The stack for a recipe, made where it is not there yet."""
        found = self.find(recipe)
        if found is not None:
            return found
        _refuse_odd(recipe)
        self._root.mkdir(parents=True, exist_ok=True)
        with self._lock(digest_of(recipe)):
            return self.find(recipe) or self._build(recipe, name, progress)

    def remove(self, digest: str) -> None:
        with self._lock(digest):
            if not self._set_aside(digest):
                raise StackError(f"there is no stack {digest[:12]}")

    def provisioner(self, recipe: StackRecipe) -> Provisioner:
        return _PROVISIONERS[recipe.kind](self._settings)

    def _set_aside(self, digest: str) -> bool:
        """Out of the way in one step, then deleted at leisure."""
        doomed = self._root / f"{digest}.{os.getpid()}.removed"
        try:
            os.replace(self._root / digest, doomed)
        except FileNotFoundError:
            return False
        shutil.rmtree(doomed, ignore_errors=True)
        return True

    def _build(self, recipe: StackRecipe, name: str, progress: Progress) -> Built:
        self._remove_left_behind()
        provisioner = self.provisioner(recipe)
        draft = self._root / f"{digest_of(recipe)}.{os.getpid()}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            progress(f"building {name}")
            provisioner.build(recipe, draft, progress)
            system = provisioner.system_packages(draft)
            described = {
                "name": name,
                **_described(provisioner, recipe, draft, system),
                "system_packages": system,
                "recipe": recipe.model_dump(mode="json"),
            }
            (draft / _DESCRIPTION).write_text(json.dumps(described, indent=2, sort_keys=True) + "\n")
            self._set_aside(digest_of(recipe))  # one that is there is broken: `find` did not take it
            os.replace(draft, self._root / digest_of(recipe))
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        made = self.find(recipe)
        assert made is not None
        return made

    def _read(self, folder: Path) -> Built | None:
        try:
            described = json.loads((folder / _DESCRIPTION).read_text())
            recipe = StackRecipe.model_validate(described["recipe"])
            provisioner = self.provisioner(recipe)
            if not provisioner.is_whole(folder):
                return None
            return Built(
                digest=folder.name,
                name=described["name"],
                folder=folder,
                version=described["python"],
                architecture=described["architecture"],
                packages=described["packages"],
                system_packages=described["system_packages"],
                recipe=recipe,
                provisioner=provisioner,
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

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


def _refuse_odd(recipe: StackRecipe) -> None:
    """A recipe may come from a record that was sent here: it is held to what manifests are held to."""
    try:
        Stack(
            requirements=recipe.requirements,
            system_packages=recipe.system_packages,
            library_names=recipe.library_names,
            root=recipe.root,
        )
    except ValidationError as error:
        raise StackError(f"this is no recipe of a stack: {error.errors()[0]['msg']}") from None


def _described(provisioner: Provisioner, recipe: StackRecipe, folder: Path, system: dict[str, str]) -> dict[str, Any]:
    """Python, architecture and packages of a stack, as the worker in it will see them."""
    ask = partial(_asked, provisioner, recipe, folder)
    done = ask("json.dumps(told['describe']())")
    if done.returncode:
        raise StackError(f"the new stack does not run:\n{(done.stderr or done.stdout).strip()[-_KEPT:]}")
    described: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if not Constraint(recipe.python).matches(Version(described["python"]), allow_prerelease=True):
        raise StackError(f"Python {recipe.python} is asked for, the stack has {described['python']}")
    packages = {**_modules(system), **described["packages"]}
    if recipe.image is not None or recipe.root is not None:
        packages |= _unpackaged(ask, packages)
    return {"python": described["python"], "architecture": described["architecture"], "packages": packages}


def _asked(
    provisioner: Provisioner, recipe: StackRecipe, folder: Path, expression: str
) -> subprocess.CompletedProcess[str]:
    """Print an expression over the functions of the worker's `environment`, in the stack."""
    source = Path(mlmodelscope_worker.__file__).parent / "environment.py"
    code = f"import runpy,json;told=runpy.run_path({str(source)!r});print({expression})"
    needs = Needs(reads=(source.parent,), environment={"PYTHONNOUSERSITE": "1", "PYTHONPATH": ""})
    launch = confine(provisioner.launch(recipe, folder, ("-c", code), needs), needs)
    try:
        return subprocess.run(
            launch.command,
            env=dict(launch.environment),
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_DESCRIBE_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StackError(f"the new stack does not start: {error}") from None


def _unpackaged(ask: Callable[[str], subprocess.CompletedProcess[str]], packages: Mapping[str, str]) -> dict[str, str]:
    """Frameworks without a package's metadata, by what they say when they are imported: each in a process of its own,
    since one that crashes says nothing of the others."""
    done = ask(f"json.dumps(told['unpackaged_modules']({list(packages)!r}))")
    if done.returncode:
        return {}
    found: dict[str, str] = {}
    for module, distribution in json.loads(done.stdout.strip().splitlines()[-1]).items():
        said = ask(f"'version='+str(told['version_of']({module!r}))")
        lines = said.stdout.strip().splitlines()
        version = lines[-1].removeprefix("version=") if said.returncode == 0 and lines else "None"
        if version != "None":
            found[normalise(distribution)] = version
    return found


def _modules(system: dict[str, str]) -> dict[str, str]:
    """Python packages that only the system's package manager knows of: Debian's `python3-caffe` is Caffe."""
    return {
        normalise(name.removeprefix("python3-")): _upstream(version)
        for name, version in system.items()
        if name.startswith("python3-")
    }


def _upstream(version: str) -> str:
    """The author's version in a package's: without epoch, packager's revision and remarks."""
    without_epoch = version.partition(":")[2] if ":" in version else version
    return without_epoch.rpartition("-")[0].partition("+")[0].partition("~")[0] or without_epoch
