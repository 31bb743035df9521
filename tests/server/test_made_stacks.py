"""Agents offer releases that they have no stack of: a server matches them, and the agent makes the stack."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.errors import PlanError, UsageError

from .conftest import World

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
LIBRARY = '''
"""Adds up: what matters is which release does."""
__version__ = {version!r}


class basic:
    class LightGBMError(Exception):
        pass


class Booster:
    def __init__(self, model_str):
        pass

    def num_model_per_iteration(self):
        return 1

    def predict(self, rows, num_threads=1, **how):
        return rows.sum(axis=1)
'''
FILE = "tree\nversion=v2\nmax_feature_idx=1\nnum_tree_per_iteration=1\n\nend of trees\n"
MODEL = """\
name: sums
version: 1.0.0
task: tabular_regression
framework: {name: lightgbm, version: '>=1.0'}
inputs: [{type: columns, element_type: float64, processing: [{columns: [a, b]}]}]
outputs: [{type: tensor, element_type: float64}]
source: {graph_path: sums.txt}
"""
DATASET = """\
name: numbers
version: 1.0.0
task: tabular_regression
format: table
columns: {features: [a, b], target: c}
sources: [{url: numbers.csv}]
size: 4
"""
STACK = """\
name: trees-{release}
version: 1.0.0
framework: {{name: lightgbm, version: '{release}'}}
stack: {{python: '{python}', requirements: [lightgbm=={release}, numpy==1.0]}}
"""


def write_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    about = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in (*files, *about, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as packed:
        for file, text in {**files, **about, f"{info}/RECORD": record}.items():
            packed.writestr(file, text)


class Place(World):
    """A world with an index of wheels on disk, in which no stack is built yet."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        import numpy

        for version in ("1.0", "1.4", "2.0", "3.0"):
            write_wheel(
                place / "wheels", "lightgbm", version, {"lightgbm/__init__.py": LIBRARY.format(version=version)}
            )
        # The stack's NumPy is the tests' own: a wheel that leads there takes no download.
        write_wheel(place / "wheels", "numpy", "1.0", {"tests_numpy.pth": f"{Path(numpy.__file__).parents[1]}\n"})
        manifests = place / "manifests"
        for name, text in (("sums.yml", MODEL), ("sums.txt", FILE), ("numbers.yml", DATASET)):
            (manifests / name).write_text(text)
        for release in ("1.0", "2.0"):
            (manifests / f"trees-{release}.yml").write_text(STACK.format(release=release, python=HERE))
        (manifests / "numbers.csv").write_text("a,b,c\n1,2,3\n2,2,4\n0,1,1\n5,5,11\n")

    def environment(self, home: str) -> dict[str, str]:
        links = (self.place / "wheels").as_uri()
        return {
            **super().environment(home),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": links,
            "UV_OFFLINE": "1",
        }


@pytest.fixture
def world(tmp_path: Path) -> Any:
    found = Place(tmp_path)
    try:
        yield found
    finally:
        found.close()


def asked(version: str, **more: Any) -> dict[str, Any]:
    return {
        "model": "sums",
        "dataset": "numbers",
        "options": {"timed_runs": 2, "warm_up_runs": 1},
        "where": {"framework": {"name": "LightGBM", "version": version}},
        **more,
    }


def makes(client: Client) -> list[str]:
    return [
        version for agent in client.agents() for version in agent["description"].get("makes", {}).get("lightgbm", ())
    ]


@pytest.mark.slow(reason="a server, an agent, and a stack that is locked and built of wheels on disk")
def test_a_release_that_nobody_has_is_matched_and_evaluated_in_a_stack_that_is_made(world: Place) -> None:
    world.serve(executor="none")
    world.agent("lab", token=world.token("agent", "read"))
    client = world.client()
    world.until(lambda: makes(client), "the agent has told what it can make")
    assert makes(client) == ["3.0", "2.0", "1.4", "1.0"]

    (listed,) = client.frameworks("lightgbm", "~1.4")
    assert listed["makeable"] == ["lab"] and listed["built"] == listed["buildable"] == []

    record = client.ask(asked(">=1.1.x and <=1.9.0"))[0].record()
    assert record.plan.stack.packages["lightgbm"] == "1.4" and record.plan.stack.name == "lightgbm-1.4@1.0.0"
    assert record.stack is not None and record.stack.builds["lightgbm"].version == "1.4"
    assert record.metrics["mae"].value == pytest.approx(0.25)

    with pytest.raises(PlanError) as refused:
        client.ask(asked(">=90"))
    assert "can be made of 4 releases from 1.0 to 3.0" in str(refused.value)
    with pytest.raises(UsageError, match="cannot be joined"):
        client.ask(asked("1.0 - 1.4"))
