"""What is uploaded is what works: built from a clean checkout, and installed on every Python that is here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from mlmodelscope_worker import __version__

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    environment = {**_inherited(), **variables}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def _inherited() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith(("MLMODELSCOPE", "PYTHON"))}


def interpreter(version: str) -> str | None:
    """A Python of this version: the one that runs the tests, or one on the PATH."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    return shutil.which(f"python{version}")


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution of what is committed, and a wheel that is built from it."""
    place = tmp_path_factory.mktemp("distributions")
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, place / "clone", cwd=place)
    run(sys.executable, "-m", "venv", place / "builder", cwd=place)
    run(place / "builder/bin/python", "-m", "pip", "install", "--quiet", "build", cwd=place)
    run(place / "builder/bin/python", "-m", "build", "--outdir", place / "dist", cwd=place / "clone")
    return place / "dist"


@pytest.mark.nightly
@pytest.mark.slow(reason="pages are built, and packages installed")
def test_the_source_has_all_that_the_wheel_is_built_from_and_the_wheel_has_the_pages(distributions: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    (wheel,) = distributions.glob("*.whl")
    with tarfile.open(source) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "hatch_build.py", "LICENSE", "README.md", "CHANGELOG.md"} <= names
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert "mlmodelscope/server/pages/index.html" in names and "mlmodelscope_worker/main.py" in names
    assert any(name.startswith("mlmodelscope/_manifests/models/") for name in names)
    assert not [name for name in names if name.startswith("tests/") or "node_modules" in name]


@pytest.mark.nightly
@pytest.mark.slow(reason="packages are installed, and a model is evaluated")
@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_works_where_nothing_else_is_installed(distributions: Path, tmp_path: Path, version: str) -> None:
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    (wheel,) = distributions.glob("*.whl")
    run(found, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    run(tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", f"{wheel}[onnxruntime]", cwd=tmp_path)
    command = tmp_path / "venv/bin/mlmodelscope"
    home = {"MLMODELSCOPE_HOME": str(tmp_path / "home")}
    assert run(command, "--version", cwd=tmp_path, **home) == f"mlmodelscope {__version__}\n"
    assert "top-1        82.9 %" in run(command, "evaluate", "efficientnet-lite0", "imagenet-70", cwd=tmp_path, **home)


def test_one_version_is_named_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__ and citation["license"] == "Apache-2.0"
    assert f"mlmodelscope-{__version__}-" in (ROOT / "README.md").read_text()


def test_workflows_try_every_python_that_is_supported() -> None:
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert tuple(release["jobs"]["install"]["strategy"]["matrix"]["python"]) == PYTHONS
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        steps = [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]
        commands = [step["run"] for step in steps if "run" in step]
        assert commands and not [each for each in commands if re.search(r"\$\{\{", each)]
