"""tools/stacks_of_manifests.py counts which manifests load and get a stack, each question resolved once."""

import importlib.util
import os
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework
from mlmodelscope.provision.stack.interpreter import find_uv
from mlmodelscope.provision.stack.releases import list_releases
from mlmodelscope.settings import Settings
from provision.stack.wheels import make_wheel

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
TOOL = Path(__file__).parents[3] / "tools" / "stacks_of_manifests.py"
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or TOOL.parents[2] / "shared")
MODEL = """\
name: net
version: 1.0.0
task: general
framework: {{name: {name}, version: '{version}'}}
inputs: [{{type: image}}]
outputs: [{{type: general}}]
source: {{graph_path: net.json}}
"""


@pytest.fixture
def tool() -> ModuleType:
    specification = importlib.util.spec_from_file_location("stacks_of_manifests", TOOL)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules["stacks_of_manifests"] = module
    specification.loader.exec_module(module)
    return module


def test_every_outcome_is_counted(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1.4", "2.0"):
        make_wheel(tmp_path / "wheels", "xgboost", version)
    make_wheel(tmp_path / "wheels", "numpy", "1.0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", (tmp_path / "wheels").as_uri())
    software = tmp_path / "manifests" / "software" / "boost.yml"
    software.parent.mkdir(parents=True)
    software.write_text(
        "name: boost\nversion: 1.0.0\nframework: {name: xgboost, version: '*'}\n"
        f"stack: {{python: '{HERE}', requirements: [xgboost==2.0, numpy==1.0]}}\n"
    )
    monkeypatch.setattr("mlmodelscope.manifest.folders.catalog_folders", lambda: [tmp_path / "manifests"])
    folder = tmp_path / "models"
    folder.mkdir()
    for number, (name, version) in enumerate(
        [("xgboost", "2.0"), ("XGBoost", "2.0"), ("xgboost", "1.4"), ("xgboost", "1.7"), ("nobodys", "1.0")]
    ):
        (folder / f"{number}.yml").write_text(MODEL.format(name=name, version=version))
    (folder / "torn.yml").write_text("name: [")
    (folder / "ci.yml").write_text("jobs: {}\n")
    rows, broken, others = tool.count([str(folder)], Settings(tmp_path / "home", tmp_path / "cache"))
    assert {(row.version, row.outcome): number for row, number in rows.items()} == {
        ("2.0", "catalog"): 2,
        ("1.4", "made"): 1,
        ("1.7", "relaxed"): 1,
    }
    assert list(broken) == [str(folder / "torn.yml")] and others == {"nobodys": 1}
    told = tool.report(rows, broken, others)
    assert "5 of 6 manifests load" in told and "3 get a stack (75.0%; 2 from the catalog, 1 made)" in told
    assert "4 get one with --relax-framework (100.0%)" in told
    assert not (tmp_path / "cache" / "stacks").exists()  # nothing was built


@pytest.mark.shared
@pytest.mark.nightly
@pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason="the development data folder is not here")
def test_the_public_manifests_get_the_stacks_that_the_docs_say(tool: ModuleType, tmp_path: Path) -> None:
    if find_uv() is None:
        pytest.skip("without uv, releases of another Python cannot be resolved without fetching them")
    for name in ("tensorflow", "torch", "mxnet", "onnxruntime"):
        try:
            found = list_releases(Framework(name="pytorch" if name == "torch" else name, version="*"))
        except StackError as error:
            pytest.skip(error.message)
        if len(found) < 5:
            pytest.skip(f"the index of this machine has {len(found)} releases of {name}")
    folders = [str(SHARED / name) for name in ("corpus", "corpus-c3sr")]
    rows, broken, others = tool.count(folders, Settings(tmp_path / "home", tmp_path / "cache"))
    by_outcome = Counter[str]()
    for row, number in rows.items():
        by_outcome[row.outcome] += number
    assert (broken, others, by_outcome["none"], by_outcome.total()) == ({}, {}, 0, 1014)
    assert by_outcome["catalog"] + by_outcome["made"] == 847
    assert "847, 83.5 %" in (TOOL.parents[1] / "docs" / "from-v1.md").read_text()
