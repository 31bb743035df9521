"""Which agents could make a stack for a request: never one that the predictor does not run."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.cluster.description import AgentDescription, describe_agent
from mlmodelscope.cluster.resolve import Needs, is_offered, resolve
from mlmodelscope.cluster.work import with_framework
from mlmodelscope.errors import StackError, VersionError
from mlmodelscope.ledger.request import FrameworkChoice, Request, Where, Work
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.version import Constraint, Version, both
from mlmodelscope.provision.stack import makeable
from mlmodelscope.provision.stack.interpreter import installed_minors
from mlmodelscope.provision.stack.made import make_software
from mlmodelscope.provision.stack.makeable import list_makeable
from mlmodelscope.provision.web import WebError
from mlmodelscope.settings import Settings
from provision.stack.wheels import make_wheel

PAPER = ">=1.10.x and <=1.13.0"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index on disk, and a catalog with one stack."""
    wheels, folder = tmp_path / "wheels", tmp_path / "manifests" / "software"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", wheels.as_uri())
    folder.mkdir(parents=True)
    (folder / "flow.yml").write_text(
        "name: flow\nversion: 1.0.0\nframework: {name: tensorflow, version: '1.13'}\n"
        f"stack: {{python: '{HERE}', requirements: [tensorflow==1.13.1, numpy==1.0]}}\n"
    )
    monkeypatch.setattr("mlmodelscope.manifest.folders.catalog_folders", lambda: [tmp_path / "manifests"])
    monkeypatch.setattr(makeable, "installed_minors", lambda: frozenset(range(6, 14)))  # asking each takes seconds
    for version in ("1.9.0", "1.10.0", "1.12.3", "1.13.0", "1.15.5"):
        make_wheel(wheels, "tensorflow", version)
    return wheels


def model(version: str = "^1.x", name: str = "tensorflow") -> ModelManifest:
    data = {
        "name": "net",
        "version": "1.0.0",
        "task": "classification",
        "framework": {"name": name, "version": version},
    }
    data |= {"inputs": [{"type": "image"}], "outputs": [{"type": "logits"}], "source": {"graph_path": "net.pb"}}
    found = load_manifest(data)
    assert isinstance(found, ModelManifest)
    return found


def agent(settings: Settings, makes: dict[str, tuple[str, ...]]) -> AgentDescription:
    return describe_agent(settings, name="lab").model_copy(update={"offers": (), "makes": makes})


def test_what_the_predictor_runs_and_the_index_has_is_offered(index: Path, settings: Settings) -> None:
    assert list_makeable(settings) == {"tensorflow": ("1.15.5", "1.13.0", "1.12.3")}  # it runs none before 1.12
    make_wheel(index, "tensorflow", "1.14.0")
    make_wheel(index, "tensorflow", "1.14.1.dev20200202")
    assert "1.14.0" not in list_makeable(settings)["tensorflow"]  # asked once a day
    kept = settings.cache / "made-stacks" / "makeable.json"
    for damaged in ("", "[]", '{"key": 1}', "\x00", kept.read_text().replace('"at": ', '"at": 9')):
        kept.write_text(damaged)
        assert "1.14.0" in list_makeable(settings)["tensorflow"]


def test_the_pythons_here_are_known() -> None:
    assert sys.version_info.minor in installed_minors()


def test_what_no_predictor_declares_is_offered_as_far_back_as_it_was_tried(index: Path, settings: Settings) -> None:
    (index.parent / "manifests" / "software" / "boost.yml").write_text(
        "name: boost\nversion: 1.0.0\nframework: {name: xgboost, version: '1.7'}\n"
        f"stack: {{python: '{HERE}', requirements: [xgboost==1.7.0, numpy==1.0]}}\n"
    )
    for version in ("0.72", "1.6.2", "1.7.5", "3.0.0"):
        make_wheel(index, "xgboost", version)
    assert list_makeable(settings)["xgboost"] == ("3.0.0", "1.7.5")


def _refuse(*words: Any) -> Any:
    raise WebError("connection refused", is_transient=True)


def test_without_an_index_or_its_python_nothing_is_offered(
    index: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list_makeable(replace(settings, offline=True)) == {}
    monkeypatch.setattr(makeable, "installed_minors", lambda: frozenset({99}))
    assert list_makeable(settings) == {}
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert list_makeable(settings) == {}
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr("mlmodelscope.provision.python_index.read_url", _refuse)
    with pytest.raises(StackError, match="no package index answers"):
        list_makeable(settings)


def test_the_papers_own_request_finds_an_agent(settings: Settings) -> None:
    choice = FrameworkChoice(name="TensorFlow", version=PAPER)
    needs = Needs(Where(framework=choice), model())
    assert resolve(needs, [agent(settings, {"tensorflow": ("1.15.5", "1.12.3")})]).matching == ("lab",)
    assert resolve(needs, [agent(settings, {"tensorflow": ("1.15.5",)})]).matching == ()
    assert resolve(needs, [agent(settings, {})]).matching == ()
    told = str(resolve(needs, [agent(settings, {"tensorflow": ("1.15.5", "1.9.0")})]))
    assert "no tensorflow, and stacks can be made of 2 releases from 1.9.0 to 1.15.5" in told.lower()


@pytest.mark.nightly
def test_the_papers_own_request_is_met_by_the_real_index(settings: Settings) -> None:
    """Lists of files are read and a stack is locked; nothing of it is downloaded."""
    try:
        makes = dict(list_makeable(settings))
    except StackError as error:
        pytest.skip(error.message)
    found = resolve(
        Needs(Where(framework=FrameworkChoice(name="tensorflow", version=PAPER)), model()), [agent(settings, makes)]
    )
    assert found.matching == ("lab",), str(found)
    framework = with_framework(model(), PAPER).framework
    assert framework is not None
    made = make_software(framework, settings, lambda line: None)
    assert made is not None and made.stack is not None
    assert any(line.startswith("tensorflow===1.12.3") for line in made.stack.requirements)


def test_one_release_must_meet_the_model_and_the_request(settings: Settings) -> None:
    """1.12 for the request and 1.15 for the model are two stacks."""
    needs = Needs(Where(framework=FrameworkChoice(name="tensorflow", version=PAPER)), model(">=1.14 <2"))
    early = {"tensorflow": ("1.13.0rc2",)}  # nobody makes a stack of it who asks for 1.13.0
    assert not is_offered((), FrameworkChoice(name="tensorflow", version="1.13.0"), makes=early)
    assert is_offered((), FrameworkChoice(name="tensorflow", version="1.13.0-rc2"), makes=early)
    (obstacle,) = resolve(needs, [agent(settings, {"tensorflow": ("1.15.5", "1.12.3")})]).obstacles
    assert obstacle.constraint == "the model's framework" and PAPER in obstacle.example
    other = replace(needs, model=model("*", "onnxruntime"))  # the request is about another framework than the model
    assert resolve(other, [agent(settings, {"tensorflow": ("1.12.3",), "onnxruntime": ("1.17.0",)})]).matching
    current = replace(needs, model=model(), software_word="current")  # a stack that is made is not the running Python
    assert not resolve(current, [agent(settings, {"tensorflow": ("1.12.3",)})]).matching


def test_a_request_narrows_what_the_agent_runs() -> None:
    narrowed = with_framework(model("^1.x"), PAPER).framework
    assert narrowed is not None
    constraint = Constraint(narrowed.version)
    assert [each for each in ("1.9.0", "1.12.3", "1.13.1", "2.0.0") if constraint.matches(Version(each))] == ["1.12.3"]
    assert with_framework(model(), None) == model()
    work = Work(kind="evaluate", model="name: x")
    assert "framework" not in work.model_dump()  # agents of older releases refuse what they do not know


@pytest.mark.parametrize(
    ("one", "other", "yes", "no"),
    [
        ("*", ">=1.2", "1.3.0", "1.1.0"),
        ("^1.x || ^2.x", ">=1.5 <2.1", "2.0.5", "1.4.0"),
        ("1.10 or 1.12", "~1.12", "1.12.3", "1.10.0"),
        (">=1.10.x and <=1.13.0", ">=1.10.x and <=1.13.0", "1.12.3", "1.14.0"),
    ],
)
def test_constraints_are_joined(one: str, other: str, yes: str, no: str) -> None:
    joined = Constraint(both(one, other))
    assert joined.matches(Version(yes)) and not joined.matches(Version(no))


@pytest.mark.parametrize(("one", "other"), [("1.0 - 2.0", ">=1"), ("* || " * 40, ">=1"), ("nonsense", "*")])
def test_what_cannot_be_joined_is_refused(one: str, other: str) -> None:
    with pytest.raises(VersionError):
        both(one, other)


def test_hostile_lists_of_releases_are_bounded_and_match_nothing(settings: Settings) -> None:
    described: dict[str, Any] = describe_agent(settings, name="lab").model_dump(mode="json")
    assert "makes" not in described
    for makes in ({"a": ["1"] * 1001}, {str(n): [] for n in range(101)}, {"a": ["9" * 101]}, {"a": [{}]}):
        with pytest.raises(ValueError, match="makes"):
            AgentDescription.model_validate({**described, "makes": makes})
    odd = {"tensorflow": ("", "../../etc", "NaN", "1.12.3; rm")}
    assert not is_offered((), FrameworkChoice(name="tensorflow", version=PAPER), makes=odd)
    assert Request(model="net").where.framework is None
