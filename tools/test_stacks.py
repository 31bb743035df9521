"""Run every predictor's tests inside its real stack, built from the software manifests that come with the package.

    python tools/test_stacks.py                 all of them
    python tools/test_stacks.py mxnet-1.9 jax-0.10
    python tools/test_stacks.py tensorflow@1.12 mxnet@1.4.0      those that are made for a constraint
    python tools/test_stacks.py --made          a dozen of those

Each stack is built with pytest beside it, in the ordinary cache; a second run builds nothing. What cannot be built on
this machine (no such Python, no such system package) is said and counted, not passed over. Then one network is
evaluated in all of them, and must say the same (tools/agreement.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import Framework, SoftwareManifest
from mlmodelscope.manifest.version import Version
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.provision.stack import Needs, StackStore, recipe_of
from mlmodelscope.provision.stack.known import Known, brings
from mlmodelscope.provision.stack.made import make_software
from mlmodelscope.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "worker_package" / "predictor"
BUILDERS = TESTS.parent / "builder"
"""Tests of the libraries that build models, for stacks that have them."""
STORIES = TESTS / "test_stories.py"
"""A published text that every engine of language models writes, character by character."""
ENGINES = ("transformers", "llama_cpp")
"""Predictors whose stacks have what that takes."""
BESIDE = {"onnxruntime": ("onnx",), "openvino": ("onnx",), "opencv": ("onnx",)}
"""What the tests make their models with, where the framework cannot."""


MADE = (
    *("tensorflow@1.12", "tensorflow@1.14.0", "mxnet@1.4.0", "mxnet@1.7.0", "mxnet@1.8.0", "onnxruntime@1.7.0"),
    *("onnxruntime@1.20", "onnxruntime@1.19", "openvino@2024.4", "xgboost@2.0", "lightgbm@4.3", "scikit-learn@1.4"),
)
"""Releases that the catalog lacks: those that public manifests pin most, and one of each kind of framework."""
_NOTHING_RAN = 5


def stacks(wanted: list[str]) -> list[SoftwareManifest]:
    found = [find_manifest(SoftwareManifest, entry.path) for entry in list_catalog("software")]
    built = [each for each in found if each.stack is not None]
    asked = [each for each in wanted if "@" in each]
    unknown = sorted(set(wanted) - {each.name for each in built} - set(asked))
    if unknown:
        sys.exit(f"no such stack: {', '.join(unknown)}\nknown: {', '.join(each.name for each in built)}")
    return [*(each for each in built if not wanted or each.name in wanted), *map(made, asked)]


def made(asked: str) -> SoftwareManifest:
    """The stack that `evaluate` makes for a framework's constraint, written `tensorflow@1.12`."""
    name, _, version = asked.partition("@")
    software = make_software(Framework(name=name, version=version), Settings.from_environment(), print)
    if software is None:
        sys.exit(f"no stack can be made for {asked}: none of {name} is known, or there is no network")
    return software


def tests_of(software: SoftwareManifest) -> Path:
    assert software.framework is not None
    return TESTS / f"test_{framework_word(software.framework)}.py"


def run(software: SoftwareManifest, settings: Settings) -> tuple[str, str]:
    """(verdict, what the tests said last)."""
    assert software.framework is not None
    tests = [tests_of(software)]
    if not tests[0].exists():
        return "NO TESTS", f"there is no {tests[0].name}"
    if Known(software, *(brings(software) or ("", Version("0")))).libraries:
        tests.append(BUILDERS)
    if framework_word(software.framework) in ENGINES:
        tests.append(STORIES)
    recipe = recipe_of(software)
    beside = BESIDE.get(framework_word(software.framework), ())
    recipe = recipe.model_copy(update={"requirements": (*recipe.requirements, "pytest", *beside)})
    try:
        stack = StackStore(settings).build(recipe, f"{software.name} with pytest", lambda line: print(line, flush=True))
    except MLModelScopeError as error:
        return "NOT BUILT", error.message.splitlines()[0]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    shared = {name: os.environ[name] for name in ("MLMODELSCOPE_TEST_SHARED",) if name in os.environ}
    environment = {**software.env, **shared, "PYTHONPATH": path}
    options = ("-q", "-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "--noconftest")
    environment["MLMODELSCOPE_TEST_PYTHON"] = json.dumps(stack.launch((), Needs(environment)).command)
    launch = stack.launch(("-m", "pytest", *options, *map(str, tests)), Needs(environment, reads=(ROOT,)))
    done = subprocess.run(
        launch.command, env=dict(launch.environment), capture_output=True, text=True, errors="replace", check=False
    )
    lines = [line for line in done.stdout.splitlines() if re.search(r"\d+ (passed|failed|skipped|error)", line)]
    last = lines[-1].strip("= ") if lines else (done.stderr or done.stdout).strip()[-300:]
    if done.returncode in (0, _NOTHING_RAN):
        return ("passed" if "passed" in last else "SKIPPED"), last
    print(done.stdout[-4000:])
    return "FAILED", last


def main() -> None:
    settings = Settings.from_environment()
    wanted = [each for word in sys.argv[1:] for each in (MADE if word == "--made" else (word,))]
    results = {software.name: run(software, settings) for software in stacks(wanted)}
    width = max(map(len, results))
    for name, (verdict, said) in results.items():
        print(f"{name.ljust(width)}  {verdict:<9}  {said}")
    failed = [name for name, (verdict, _) in results.items() if verdict in ("FAILED", "NO TESTS")]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    catalogued = [name for name in wanted if "@" not in name]
    agree = same_answers(catalogued) if catalogued or not wanted else True
    sys.exit(0 if agree and not failed else 1)


def same_answers(wanted: list[str]) -> bool:
    """Whether one network says the same in all of them; tools/agreement.py prints how it did."""
    import agreement

    return agreement.check(wanted, ["conformance"])


if __name__ == "__main__":
    main()
