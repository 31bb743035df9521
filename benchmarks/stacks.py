"""What stacks cost: one that was removed is built again, beside a bare `uv venv` and `uv pip install`; and a worker is
started in one until it has a small model open, beside a bare `import` of the framework.

    python benchmarks/stacks.py                      small stacks, and large ones that are there already
    python benchmarks/stacks.py tensorflow-2.21      one stack

Builds go to a cache folder of their own. The first one, which may download, is not counted.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import harness
import tiny

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.pip_settings import read_index_settings
from mlmodelscope.provision.stack import Built, Needs, StackStore, build_stack, digest_of, recipe_of
from mlmodelscope.provision.stack.interpreter import find_uv
from mlmodelscope.settings import Settings
from mlmodelscope.worker.process import WorkerProcess
from mlmodelscope_worker.messages import Open, Opened, PredictorTask, Task
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS

BUILD_GOAL_S, START_GOAL_S = 3.0, 0.5
SMALL = ("onnxruntime-1.31", "litert-2.3")
BUILT = (*SMALL, "pytorch-1.12", "tensorflow-2.21")
STARTED = (*SMALL, "openvino-2026", "pytorch-2.13", "tensorflow-2.21")
FORMS = {
    "onnxruntime": ("onnx", "onnxruntime"),
    "tflite": ("tflite", "ai_edge_litert.interpreter"),
    "openvino": ("onnx", "openvino"),
    "pytorch": ("torchscript", "torch"),
    "tensorflow": ("frozen", "tensorflow"),
}
"""The file that a worker opens, and what a bare program imports."""


@dataclass(frozen=True)
class Cost:
    cpu_s: float
    wall_s: float


def cost_of(call: Callable[[], Any]) -> Cost:
    """Of this process and of those that it started and that ended."""
    cpu_s, started = _cpu_s(), time.perf_counter()
    call()
    return Cost(_cpu_s() - cpu_s, time.perf_counter() - started)


def _cpu_s() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


# Building again


def build_again(name: str, settings: Settings) -> Cost:
    """In a process of its own, which knows no Python of this machine yet; its own start is not counted."""
    recipe = recipe_of(find_manifest(SoftwareManifest, name))
    StackStore(settings).remove(digest_of(recipe))
    return Cost(**harness.run_child(harness.part(__file__, "build", name, settings.cache)).said)


def build_bare(python: str, recipe: StackRecipe, folder: Path) -> Cost:
    """The two commands that one would type."""
    uv, places = find_uv(), read_index_settings()
    assert uv is not None
    shutil.rmtree(folder, ignore_errors=True)
    listed = folder.with_suffix(".txt")
    listed.write_text("\n".join(recipe.requirements) + "\n")
    install = [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), "-r", str(listed)]
    install += ["--index-strategy", "unsafe-best-match"]
    for option, values in (("--index-url", places.indexes[:1]), ("--extra-index-url", places.indexes[1:])):
        install += [word for value in values for word in (option, value)]
    install += [word for place in (*recipe.find_links, *places.find_links) for word in ("--find-links", place)]
    environment = {**os.environ, **({"SSL_CERT_FILE": places.certificates} if places.certificates else {})}

    def run() -> None:
        for command in ([uv, "venv", "--quiet", "--python", python, str(folder)], install):
            subprocess.run(command, env=environment, check=True)

    return cost_of(run)


def measure_builds(name: str, own: Settings, rounds: int) -> dict[str, Any]:
    software = find_manifest(SoftwareManifest, name)
    first = cost_of(lambda: build_stack(software, own, print))
    built = StackStore(own).find(recipe_of(software))
    assert built is not None
    python = os.path.realpath(built.folder / "bin" / "python")
    bare = own.cache / "bare"
    contenders = {
        "again": lambda: build_again(name, own),
        "bare": lambda: build_bare(python, built.recipe, bare),
    }
    seen = harness.interleave(contenders, rounds)
    shutil.rmtree(bare)
    return {"stack": name, "first": first.__dict__, **{key: _spelt(costs) for key, costs in seen.items()}}


# Starting a worker


def measure_starts(stack: tiny.Stack, folder: Path, rounds: int) -> dict[str, Any]:
    form, module = FORMS[stack.predictor]
    task = task_of(stack.predictor, tiny.write(stack, form, folder))
    # Bytecode is kept from start to start, as it is for whoever has not forbidden it.
    needs = Needs({**stack.environment, "PYTHONDONTWRITEBYTECODE": ""}, reads=(folder,))
    launch = stack.runnable.launch(("-c", f"import os, {module}; os._exit(0)"), needs)

    def bare() -> None:
        subprocess.run(launch.command, env=dict(launch.environment), check=True, stderr=subprocess.DEVNULL)

    def worker() -> None:
        process = WorkerProcess(stack.runnable, needs)
        try:
            process.send(Open(task))
            process.receive(Opened)
        finally:
            process.kill()

    contenders = {"import": lambda: cost_of(bare), "worker": lambda: cost_of(worker)}
    harness.interleave(contenders, 1)  # uncounted: files are read, bytecode is written
    seen = harness.interleave(contenders, rounds)
    added = [ours.cpu_s - beside.cpu_s for ours, beside in zip(seen["worker"], seen["import"], strict=True)]
    return {"stack": stack.name, **{key: _spelt(costs) for key, costs in seen.items()}, "added_cpu_s": added}


def task_of(predictor: str, files: dict[str, Any]) -> Task:
    """What the host says when it opens a model, pictures decoded and resized as usual."""
    steps = {"decode": {"library": "pillow"}, "resize": {"dimensions": [8, 8], "library": "pillow"}}
    return Task(
        predictor=PredictorTask(predictor, files, PREDICTORS[predictor].resolve({})),
        inputs=[
            {
                "part": "image",
                "layer_name": None,
                "element_type": "float32",
                "steps": [{"name": name, "parameters": STEPS[name].resolve(given)} for name, given in steps.items()],
            }
        ],
        outputs=[{"role": "logits", "layer_name": None, "place": 0, "steps": []}],
        answer={"steps": [], "probabilities": True, "top_k": 5, "label_offset": 0},
        batch_size=1,
    )


def _spelt(costs: list[Cost]) -> dict[str, list[float]]:
    return {"cpu_s": [cost.cpu_s for cost in costs], "wall_s": [cost.wall_s for cost in costs]}


def show_builds(rows: list[dict[str, Any]]) -> None:
    table = [
        (
            row["stack"],
            harness.spread(row["again"]["wall_s"]),
            harness.spread(row["again"]["cpu_s"]),
            harness.spread(row["bare"]["wall_s"]),
            harness.spread(row["bare"]["cpu_s"]),
            f"{min(row['again']['wall_s']) / min(row['bare']['wall_s']):.2f}",
        )
        for row in rows
    ]
    harness.print_table(("seconds to build again", "wall", "CPU", "bare uv, wall", "CPU", "ratio"), table)


def show_starts(rows: list[dict[str, Any]]) -> None:
    table = [
        (
            row["stack"],
            harness.spread(row["import"]["cpu_s"]),
            harness.spread(row["worker"]["cpu_s"]),
            harness.spread(row["added_cpu_s"]),
            f"{min(row['worker']['cpu_s']) - min(row['import']['cpu_s']):+.2f}",
        )
        for row in rows
    ]
    harness.print_table(("CPU seconds to start", "bare import", "worker, model open", "added", "least"), table)


def chosen(names: list[str], usual: tuple[str, ...], quick: bool, settings: Settings) -> list[str]:
    """Those that are named; the small ones; those that are there."""
    if names:
        return names
    there = {stack.name for stack in tiny.find_stacks(usual, False, settings)[0]} if not quick else set()
    return [name for name in usual if name in SMALL or name in there]


def find_started(name: str, own: Settings, settings: Settings) -> tiny.Stack:
    software = find_manifest(SoftwareManifest, name)
    assert software.framework is not None
    built: Built = StackStore(own).find(recipe_of(software)) or build_stack(software, settings, print)
    return tiny.Stack(name, framework_word(software.framework), built, dict(software.env))


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("stacks", nargs="*", help="some stacks, instead of the usual ones")
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    settings = Settings.from_environment()
    if arguments.part:
        _, name, cache = arguments.part
        own = replace(settings, cache=Path(cache))
        software = find_manifest(SoftwareManifest, name)
        harness.say(cost_of(lambda: build_stack(software, own)).__dict__)
        return
    if find_uv() is None:
        sys.exit("uv is not here, and with pip alone there is nothing to compare")
    settings.cache.mkdir(parents=True, exist_ok=True)
    builds, starts = [], []
    # Where stacks usually are: uv links files within one file system, and copies them to another.
    with tempfile.TemporaryDirectory(dir=settings.cache, prefix="benchmark-") as folder:
        own = replace(settings, cache=Path(folder) / "cache")
        try:
            for name in chosen(arguments.stacks, BUILT, arguments.quick, settings):
                builds.append(measure_builds(name, own, 2 if arguments.quick else 5))
            for name in chosen(arguments.stacks, STARTED, arguments.quick, settings):
                stack = find_started(name, own, settings)
                starts.append(measure_starts(stack, Path(folder), 3 if arguments.quick else 9))
        except MLModelScopeError as error:
            sys.exit(error.message)
    show_builds(builds)
    print()
    show_starts(starts)
    print()
    slowest = max(builds, key=lambda row: median(row["again"]["wall_s"]))
    wall_s, bare_s = median(slowest["again"]["wall_s"]), median(slowest["bare"]["wall_s"])
    heaviest = max(starts, key=lambda row: median(row["added_cpu_s"]))
    meaning = (
        f"building {slowest['stack']} again / bare uv; goal <= {BUILD_GOAL_S:g} s, seen {wall_s:.1f} s; a worker's "
        f"start beyond the framework's import: goal <= {START_GOAL_S} s CPU, seen at most "
        f"{median(heaviest['added_cpu_s']):.2f} s ({heaviest['stack']})"
    )
    harness.finish("stacks", wall_s / bare_s, meaning, arguments.quick, {"builds": builds, "starts": starts})


if __name__ == "__main__":
    main()
