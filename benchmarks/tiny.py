"""A network so small that its framework's call is nearly all call, in the files of any framework, and stacks to run it.

Some frameworks' files are written here; the others are written by `predictor_calls.py`, inside the framework's stack.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.match import normal_architecture
from mlmodelscope.provision.stack import CurrentStack, Needs, Runnable, StackStore, build_stack, recipe_of
from mlmodelscope.settings import Settings
from worker_package.predictor import nets
from worker_package.predictor.nets.network import Layer, Network

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (ROOT / "src", ROOT / "tests")
SCRIPT = Path(__file__).parent / "predictor_calls.py"
HERE = "this Python"
_WITHOUT_FRAMEWORK = ("onnx", "tflite", "ncnn", "caffe")
_NOT_HERE = ("tensorrt",)
"""It has nothing to run on where there is no GPU; benchmarks/gpu.py is for where there is one."""


@dataclass(frozen=True)
class Stack:
    """A stack that is there, and the predictor that it is for."""

    name: str
    predictor: str
    runnable: Runnable
    environment: dict[str, str] = field(default_factory=dict)

    def call(self, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(map(str, SOURCES))
        environment = {**self.environment, "PYTHONPATH": path}
        needs = Needs(environment, reads=(ROOT,), writes=(folder.parent,), folder=folder)
        launch = self.runnable.launch(tuple(arguments), needs)
        return subprocess.run(
            launch.command,
            env=dict(launch.environment),
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


def this_python(predictor: str) -> Stack:
    return Stack(HERE, predictor, CurrentStack())


def find_stacks(names: Sequence[str], build: bool, settings: Settings) -> tuple[list[Stack], list[str]]:
    """(stacks that are there, names of those that are not); those that this machine would emulate are left out."""
    found, missing = [], []
    for software in _described():
        if names and software.name not in names:
            continue
        store, recipe = StackStore(settings), recipe_of(software)
        built = build_stack(software, settings, print) if build else store.find(recipe)
        if built is None:
            missing.append(software.name)
        else:
            assert software.framework is not None
            found.append(Stack(software.name, framework_word(software.framework), built, dict(software.env)))
    return found, missing


def _described() -> list[SoftwareManifest]:
    every = [find_manifest(SoftwareManifest, entry.path) for entry in list_catalog("software")]
    return [
        each
        for each in every
        if each.stack and each.framework
        if _is_of_this_machine(each.stack.architecture) and framework_word(each.framework) not in _NOT_HERE
    ]


def _is_of_this_machine(architecture: str | None) -> bool:
    return architecture is None or normal_architecture(architecture) == normal_architecture(platform.machine())


def network() -> Network:
    """The mean of each channel of an 8 x 8 picture, ten probabilities."""
    random = np.random.RandomState(1)
    weight, bias = (random.standard_normal(shape).astype(np.float32) for shape in ((10, 3), (10,)))
    layers = [
        Layer("average", "average", ["input"]),
        Layer("dense", "scores", ["average"], weight=weight, bias=bias),
        Layer("softmax", "probabilities", ["scores"]),
    ]
    return Network("tiny", (3, 8, 8), layers)


def prepare(stack: Stack, form: str, folder: Path) -> list[str]:
    """The first arguments of `predictor_calls.py`; files that need no framework are written now."""
    place = folder / f"{stack.name} {form}"
    place.mkdir()
    tiny = network()
    tiny.save(place / "network.npz")
    if form in _WITHOUT_FRAMEWORK:
        (place / "files.json").write_text(json.dumps(nets.write(form, tiny, place)))
    return [str(SCRIPT), stack.predictor, form, str(place / "network.npz"), str(place)]


def write(stack: Stack, form: str, folder: Path) -> dict[str, Any]:
    """The network in a form, by role of each file."""
    arguments = prepare(stack, form, folder)
    done = stack.call([*arguments, "0"], Path(arguments[-1]))
    if done.returncode:
        sys.exit(f"{stack.name} cannot write {form}: {done.stderr.strip()[-1000:]}")
    files: dict[str, Any] = json.loads((Path(arguments[-1]) / "files.json").read_text())
    return files
