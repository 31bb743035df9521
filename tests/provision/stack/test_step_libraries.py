"""A stack for a model has the libraries that the model's steps name, or it is said before anything is built."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import PlanError, StackError, TrustError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.provision.stack import StackStore, choose_stack
from mlmodelscope.provision.stack.step_libraries import lacking, with_libraries
from mlmodelscope.settings import Settings
from provision.stack.wheels import make_wheel

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
TEXT: list[Any] = [{"tokenize": {"file": "words"}}, {"truncate": 8}]


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index on disk."""
    folder = tmp_path / "wheels"
    for name, version, requires in (
        ("xgboost", "2.0", "helper"),
        ("helper", "1.0", ""),
        ("helper", "5.0", ""),
        ("numpy", "1.0", ""),
        ("tokenizers", "0.9", "helper"),
        ("soundfile", "0.5", ""),
    ):
        make_wheel(folder, name, version, requires)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", folder.as_uri())
    return folder


@pytest.fixture
def software(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> SoftwareManifest:
    """The only stack of a catalog: closed, with hashes."""
    lines = []
    for name, version in (("xgboost", "2.0"), ("helper", "1.0"), ("numpy", "1.0")):
        content = (wheels / f"{name}-{version}-py3-none-any.whl").read_bytes()
        lines.append(f"{name}=={version} --hash=sha256:{hashlib.sha256(content).hexdigest()}")
    file = tmp_path / "manifests" / "software" / "boost.yml"
    file.parent.mkdir(parents=True)
    listed = "".join(f"    - {line}\n" for line in lines)
    file.write_text(
        f"name: boost\nversion: 1.0.0\nframework: {{name: xgboost, version: '2.0'}}\n"
        f"stack:\n  python: '{HERE}'\n  requirements:\n{listed}"
    )
    monkeypatch.setattr("mlmodelscope.manifest.folders.catalog_folders", lambda: [tmp_path / "manifests"])
    found = load_manifest(file)
    assert isinstance(found, SoftwareManifest)
    return found


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home", tmp_path / "cache")


def model(kind: str, processing: list[Any], **more: Any) -> ModelManifest:
    found = load_manifest(
        {
            "name": "net",
            "version": "1.0.0",
            "task": "general",
            "framework": {"name": "xgboost", "version": "2.0"},
            "files": {"words": {"url": "https://example.com/words.json", "checksum": "sha256:" + "0" * 64}},
            "inputs": [{"type": kind, "processing": processing}],
            "outputs": [{"type": "general"}],
            "source": {"graph_path": "net.json"},
            **more,
        }
    )
    assert isinstance(found, ModelManifest)
    return found


def no_build(*given: Any) -> Any:
    raise AssertionError("something was built")


def test_a_stack_that_was_chosen_gets_the_library_and_keeps_the_rest(
    software: SoftwareManifest, settings: Settings
) -> None:
    told: list[str] = []
    found, stack = choose_stack(model("text", TEXT), None, settings, told.append)
    assert found is not None and found.name == "boost-tokenizers" and found.digest != software.digest
    assert "boost@1.0.0 does not have tokenizers; adding it for net" in told
    assert {name: stack.packages[name] for name in ("tokenizers", "helper", "xgboost", "numpy")} == {
        "tokenizers": "0.9",
        "helper": "1.0",
        "xgboost": "2.0",
        "numpy": "1.0",
    }


def test_it_is_made_once(software: SoftwareManifest, settings: Settings, wheels: Path) -> None:
    wanted = model("text", TEXT)
    first = with_libraries(wanted, software, settings, print)
    for wheel in wheels.iterdir():
        wheel.unlink()
    offline = Settings(settings.home, settings.cache, offline=True)
    assert with_libraries(wanted, software, offline, print) == first
    assert first.stack is not None and all("--hash=sha256:" in line for line in first.stack.requirements)


def test_a_stack_that_was_named_is_refused_before_it_is_built(
    software: SoftwareManifest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StackStore, "build", no_build)
    with pytest.raises(PlanError, match=r"boost@1.0.0 lacks tokenizers, which net needs") as error:
        choose_stack(model("text", TEXT), software, settings)
    assert error.value.hint is not None and "`requirements`" in error.value.hint


def test_offline_it_is_said_before_anything_is_built(
    software: SoftwareManifest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StackStore, "build", no_build)
    offline = Settings(settings.home, settings.cache, offline=True)
    with pytest.raises(PlanError, match="cannot get it without the network"):
        choose_stack(model("text", TEXT), None, offline)


@pytest.mark.parametrize(
    ("kind", "processing", "missing"),
    [
        ("text", TEXT, ("tokenizers",)),
        ("text", [{"tokenize": {"file": "words", "library": "wordpiece"}}], ()),
        ("audio", [{"decode_audio": {"library": "soundfile"}}], ("soundfile",)),
        ("audio", [{"decode_audio": {"library": "wave"}}], ()),
        ("image", [{"decode": {"library": "opencv"}}], ("opencv-python-headless",)),
    ],
)
def test_what_steps_name_is_known_from_the_manifests(
    software: SoftwareManifest, kind: str, processing: list[Any], missing: tuple[str, ...]
) -> None:
    assert lacking(model(kind, processing), software) == missing


def test_of_requirements_that_are_not_closed_nobody_can_tell(software: SoftwareManifest) -> None:
    assert software.stack is not None
    stack = software.stack.model_copy(update={"requirements": ("transformers", "xgboost==2.0")})
    assert lacking(model("text", TEXT), software.model_copy(update={"stack": stack})) == ()
    assert lacking(model("text", TEXT), software.model_copy(update={"stack": None})) == ()


CODE = "import os\nfrom soundfile import read\n\ndef preprocess(ctx, data):\n    return data\n"


def test_a_stack_gets_what_the_models_code_imports(software: SoftwareManifest, settings: Settings) -> None:
    found, stack = choose_stack(model("image", [], preprocess=CODE), None, settings, print)
    assert found is not None and found.name == "boost-soundfile"
    assert stack.packages["soundfile"] == "0.5" and stack.packages["xgboost"] == "2.0"


def test_a_name_in_code_installs_nothing_that_is_not_on_the_list(software: SoftwareManifest, wheels: Path) -> None:
    make_wheel(wheels, "evil", "1.0", "")
    assert lacking(model("image", [], preprocess=CODE.replace("soundfile", "evil")), software) == ()


def test_a_stack_that_was_named_and_lacks_an_import_is_refused_before_it_is_built(
    software: SoftwareManifest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StackStore, "build", no_build)
    with pytest.raises(PlanError, match=r"boost@1.0.0 lacks soundfile, which net needs"):
        choose_stack(model("image", [], preprocess=CODE), software, settings)


def test_companions_give_way_to_a_library_and_the_framework_stays(
    software: SoftwareManifest, settings: Settings, wheels: Path
) -> None:
    make_wheel(wheels, "soundfile", "0.6", "helper>=3")
    for old in wheels.glob("soundfile-0.5*"):
        old.unlink()
    made = with_libraries(model("image", [], preprocess=CODE), software, settings, print)
    assert made.stack is not None
    lines = {line.partition(" --hash=")[0] for line in made.stack.requirements}
    assert lines == {"xgboost==2.0", "helper==5.0", "numpy==1.0", "soundfile==0.6"}


def test_the_nearest_release_runs_a_model_whose_pin_nobody_has(
    software: SoftwareManifest, settings: Settings, wheels: Path
) -> None:
    pinned = model("image", [], framework={"name": "xgboost", "version": "1.7.1"})
    with pytest.raises(StackError, match=r"satisfies 1\.7\.1; the nearest release that runs is 2\.0"):
        choose_stack(pinned, None, settings)
    told: list[str] = []
    found, stack = choose_stack(pinned, None, settings, told.append, relax=True)
    assert found is not None and found.name == "boost" and stack.packages["xgboost"] == "2.0"
    assert "xgboost 1.7.1 cannot be had; taking 2.0.0" in told


def test_an_image_that_nobody_trusts_says_which_stack_would_do(software: SoftwareManifest, settings: Settings) -> None:
    images = {"any": {"cpu": "example.org/boost:1.7.1", "gpu": "example.org/boost:1.7.1"}}
    pinned = model("image", [], framework={"name": "xgboost", "version": "1.7.1"}, container=images)
    with pytest.raises(TrustError, match="No stack does instead: no index has a release of xgboost") as told:
        choose_stack(pinned, None, settings)
    assert told.value.hint is not None and told.value.hint.endswith("and the record says so")
