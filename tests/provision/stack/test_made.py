"""A constraint that no known stack satisfies gets a stack of its own, locked, once."""

import os
import sys
from pathlib import Path

import pytest

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework, SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.stack import build_stack
from mlmodelscope.provision.stack.made import make_software
from mlmodelscope.provision.stack.relaxed import relaxed_framework
from mlmodelscope.provision.stack.releases import list_releases
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
    with pytest.raises(StackError, match="has a release of xgboost that satisfies >=9; the nearest release .* is 3.0"):
        make_software(Framework(name="xgboost", version=">=9"), settings, lambda line: None)
    assert make_software(Framework(name="caffe2", version=">=9"), settings, lambda line: None) is None


def add_stack(tmp_path: Path, name: str, *requirements: str) -> None:
    (tmp_path / "manifests" / "software" / f"{name}.yml").write_text(
        f"name: {name}\nversion: 1.0.0\nframework: {{name: xgboost, version: '*'}}\n"
        f"stack: {{python: '{HERE}', requirements: [{', '.join(requirements)}]}}\n"
    )


def lines_of(made: SoftwareManifest | None) -> set[str]:
    assert made is not None and made.stack is not None
    return {line.partition(" --hash=")[0] for line in made.stack.requirements}


def test_a_companion_that_the_release_wants_newer_is_newer_and_the_others_stay(
    settings: Settings, tmp_path: Path
) -> None:
    """The K1 of the review: TensorFlow 1.14 wants a TensorBoard that came after that of 1.13."""
    make_wheel(tmp_path / "wheels", "xgboost", "2.1", requires="helper>=4")
    made = make_software(Framework(name="xgboost", version="2.1"), settings, lambda line: None)
    assert lines_of(made) == {"xgboost===2.1", "helper==5.0", "numpy==1.0"}


def test_the_newer_neighbor_caps_what_the_nearest_caps_too_low(settings: Settings, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "xgboost", "2.1", requires="helper>=4")
    make_wheel(wheels, "helper", "9.0")
    add_stack(tmp_path, "newer", "xgboost==3.0", "helper==5.0", "numpy==5.0")
    made = make_software(Framework(name="xgboost", version="2.1"), settings, lambda line: None)
    assert lines_of(made) == {"xgboost===2.1", "helper==5.0", "numpy==5.0"}


def test_a_release_that_cannot_be_satisfied_at_all_is_named(settings: Settings, tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels", "xgboost", "2.1", requires="nobody-has-this")
    with pytest.raises(StackError, match=r"no stack can be made for xgboost 2\.1:\nxgboost 2\.1: .*nobody-has-this"):
        make_software(Framework(name="xgboost", version="2.1"), settings, lambda line: None)
    assert not list(settings.cache.rglob("*.json"))


def test_what_the_predictor_does_not_run_is_refused_before_anything_is_built(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PREDICTORS["xgboost"], "versions", ">=1.2")
    with pytest.raises(
        StackError, match=r"xgboost 1\.0 means xgboost 1\.0, and the predictor .* runs >=1\.2; .* 1\.4"
    ) as told:
        make_software(Framework(name="xgboost", version="1.0"), settings, lambda line: None)
    assert told.value.hint is not None and "--relax-framework takes 1.4" in told.value.hint
    made = make_software(Framework(name="xgboost", version="<2"), settings, lambda line: None)
    assert made is not None and made.name == "xgboost-1.4"  # an older one that fits, too, is passed over


@pytest.mark.parametrize(
    ("asked", "taken"), [("1.3.9", "1.4"), ("0.1", "1.0"), ("^9", "3.0"), (">=2.2 <2.4", "2.0"), ("1.0.1", "1.0")]
)
def test_the_nearest_release_is_taken_where_that_is_allowed(settings: Settings, asked: str, taken: str) -> None:
    near = relaxed_framework(Framework(name="XGBoost", version=asked), settings)
    assert near is not None and near.name == "XGBoost"
    assert Constraint(near.version).matches(Version(taken))


def test_without_the_network_the_nearest_known_stack_is_taken(settings: Settings) -> None:
    offline = Settings(settings.home, settings.cache, offline=True)
    near = relaxed_framework(Framework(name="xgboost", version="1.0"), offline)
    assert near is not None and Constraint(near.version).matches(Version("2.0"))


def test_an_index_that_does_not_answer_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(StackError, match=r"no package index answers: http://127\.0\.0\.1:9/simple"):
        make_software(Framework(name="xgboost", version="2.1"), settings, lambda line: None)


def test_odd_files_of_an_index_are_passed_over(settings: Settings, tmp_path: Path) -> None:
    for name in ("xgboost-.whl", "xgboost-1.4.whl", "xgboost-what-py3-none-any.whl", "xgboost-2.2-py3-none-win32.whl"):
        (tmp_path / "wheels" / name).write_bytes(b"")
    found = list_releases(Framework(name="xgboost", version="*"))
    assert [each.version for each in found] == ["3.0", "2.0", "1.4", "1.0"]
