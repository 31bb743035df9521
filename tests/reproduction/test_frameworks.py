"""The same checks for models of PyTorch, JAX and TensorFlow, against an original in PyTorch."""

from pathlib import Path

import pytest

from mlmodelscope.reproduction.check import Conditions, check_reproduction
from mlmodelscope.reproduction.order import ORDER
from mlmodelscope.reproduction.result import Checked
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher

from .framework_world import MANIFEST, MODULES, ORIGINAL, TWINS
from .reproduction_world import write_world

pytestmark = pytest.mark.slow(reason="PyTorch, JAX and TensorFlow are imported, in a process of their own each time")
SKIPPED = ("data", "samples", "curve", "numbers")


def checked(framework: str, mine: str, folder: Path) -> Checked:
    pytest.importorskip("torch")
    pytest.importorskip(MODULES[framework][0])
    path = write_world(folder, mine, MANIFEST.format(framework=framework), ORIGINAL)
    settings = Settings(folder / "home", folder / "cache")
    return check_reproduction(path, ORDER, Conditions(settings, Watcher(), trust=True))


@pytest.mark.parametrize("framework", MODULES)
def test_nothing_is_found_in_a_right_reimplementation(framework: str, tmp_path: Path) -> None:
    found = checked(framework, MODULES[framework][1], tmp_path)
    told = {each.check: each.verdict for each in found.results}
    assert told == {**dict.fromkeys(ORDER, "passed"), **dict.fromkeys(SKIPPED, "skipped")}, found.to_json()


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: f"{twin[0]} {twin[4].strip()[:40]}")
def test_the_component_that_is_broken_is_named_first(twin: tuple[str, str, str, str, str], tmp_path: Path) -> None:
    framework, component, check, right, wrong = twin
    source = MODULES[framework][1]
    assert source.count(right) == 1
    first = checked(framework, source.replace(right, wrong), tmp_path).first_failed
    assert first is not None and (first.component, first.check) == (component, check), first
