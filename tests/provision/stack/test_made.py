"""A constraint that no known stack satisfies gets a stack of its own, locked, once."""

import os
import sys
from pathlib import Path

import pytest

from mlmodelscope.manifest.schema import Framework
from mlmodelscope.provision.stack import build_stack
from mlmodelscope.provision.stack.made import make_software
from mlmodelscope.settings import Settings
from provision.stack.wheels import make_wheel

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A catalogue with one stack, and an index of wheels on disk."""
    wheels = tmp_path / "wheels"
    for version in ("1.0", "1.4", "2.0", "3.0"):
        make_wheel(wheels, "xgboost", version, requires="helper")
    for version in ("1.0", "5.0"):
        make_wheel(wheels, "helper", version)
        make_wheel(wheels, "numpy", version)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", wheels.as_uri())
    folder = tmp_path / "manifests" / "software"
    folder.mkdir(parents=True)
    (folder / "boost.yml").write_text(
        f"name: boost\nversion: 1.0.0\nframework: {{name: xgboost, version: '*'}}\n"
        f"stack: {{python: '{HERE}', requirements: [xgboost==2.0, helper==1.0, numpy==1.0]}}\n"
    )
    monkeypatch.setattr("mlmodelscope.manifest.folders.catalog_folders", lambda: [tmp_path / "manifests"])
    return Settings(tmp_path / "home", tmp_path / "cache")


def test_the_newest_release_that_fits_is_taken_with_dependencies_of_its_time(settings: Settings) -> None:
    made = make_software(Framework(name="xgboost", version=">=1.0 <2.0"), settings, lambda line: None)
    assert made is not None and made.stack is not None
    lines = {line.partition(" --hash=")[0] for line in made.stack.requirements}
    assert lines == {"xgboost===1.4", "helper==1.0", "numpy==1.0"}  # not the newest helper: nobody knew it then
    assert all("--hash=sha256:" in line for line in made.stack.requirements)
    assert build_stack(made, settings).packages["xgboost"] == "1.4"


def test_it_is_made_once(settings: Settings, tmp_path: Path) -> None:
    framework = Framework(name="xgboost", version="~1.4")
    first = make_software(framework, settings, lambda line: None)
    for wheel in (tmp_path / "wheels").iterdir():
        wheel.unlink()
    offline = Settings(settings.home, settings.cache, offline=True)
    assert first is not None and make_software(framework, offline, lambda line: None) == first


def test_what_nobody_has_cannot_be_made(settings: Settings) -> None:
    assert make_software(Framework(name="xgboost", version=">=9"), settings, lambda line: None) is None
    assert make_software(Framework(name="caffe2", version=">=9"), settings, lambda line: None) is None
