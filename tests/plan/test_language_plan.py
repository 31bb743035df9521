"""A language model is asked what the dataset asks, and all of it is part of the plan's identity."""

from pathlib import Path
from typing import Any

import pytest

import language_world
from mlmodelscope import Options, Settings
from mlmodelscope.errors import ManifestError, PlanError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.input import plan_inputs
from mlmodelscope.plan.language import planned_task
from mlmodelscope.plan.pairing import check_manifests
from mlmodelscope.preparation import ask

ASKED = {"question": "{{q}}", "choices": ["{{a}}", "{{b}}"], "answer": "label"}


def model(**changes: Any) -> Any:
    return language_world.model_of(Path("pets.arpa"), **changes)


def dataset(task: str = "multiple_choice", prompt: Any = None, **changes: Any) -> Any:
    return language_world.dataset_of(Path("ends.jsonl"), task, prompt or ASKED, **changes)


def steps(model: Any, dataset: Any) -> list[str]:
    (only,) = plan_inputs(model, dataset)
    return [each.name for each in only.steps]


def test_the_datasets_prompt_goes_before_the_models_words_and_what_is_asked_behind() -> None:
    assert steps(model(), dataset()) == ["prompt", "encode_prompt", "choose"]
    assert steps(model(), dataset("language_modeling", {"answer": "text"})) == ["prompt", "encode_prompt", "read"]
    assert steps(model(), dataset("text_generation")) == ["prompt", "encode_prompt", "write"]


def test_a_model_may_say_the_prompt_and_the_question_itself() -> None:
    own = [{"prompt": {"question": "{{q}}?"}}, {"encode_prompt": {}}, {"write": {"longest": 3}}]
    one = model(inputs=[{"type": "prompt", "processing": own}])
    (planned,) = plan_inputs(one, dataset("text_generation"))
    assert [each.name for each in planned.steps] == ["prompt", "encode_prompt", "write"]
    assert planned.steps[0].parameters["question"] == "{{q}}?" and planned.steps[2].parameters["longest"] == 3


def test_what_is_measured_is_what_the_dataset_asks_for() -> None:
    assert planned_task(model(), dataset()) == "multiple_choice"
    assert planned_task(model(), dataset("text_generation")) == "text_generation"


def test_a_language_model_is_not_asked_about_pictures() -> None:
    pictures = load_manifest(
        {"name": "pets", "version": "1.0.0", "task": "classification", "format": "folder", "sources": [{"url": "pets"}]}
    )
    with pytest.raises(PlanError, match="is a language model, and pets is for classification"):
        check_manifests(model(), pictures)


def test_documents_are_what_it_is_asked_about() -> None:
    table = load_manifest(
        {"name": "t", "version": "1.0.0", "task": "text_generation", "format": "table", "sources": [{"url": "t.csv"}]}
    )
    with pytest.raises(PlanError) as error:
        plan_inputs(model(), table)
    assert "has the format table" in str(error.value) and "`format: documents`" in (error.value.hint or "")


def test_a_file_that_no_manifest_has_is_named() -> None:
    one = model(inputs=[{"type": "prompt", "processing": {"encode_prompt": {}}}])
    shots = {**ASKED, "shots": 1, "shots_file": "train"}
    with pytest.raises(ManifestError, match=r"`shots_file` is `train`, which is not one of the manifest's `files`"):
        dataset(prompt=shots)
    planned = plan_inputs(one, dataset(prompt=shots, files={"train": {"url": "train.jsonl"}}))
    assert planned[0].steps[0].parameters["shots_file"] == "train"
    with pytest.raises(PlanError, match="both have a file `train`"):
        plan_inputs(model(files={"train": {"url": "x"}}), dataset(prompt=shots, files={"train": {"url": "y"}}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"prompt": {"questions": "a"}}, r"unknown parameter `questions`"),
        ({"prompt": {"shots": -1}}, r"-1 is below 0"),
        ({"prompt": [1]}, "expected a mapping"),
        ({"ask": {"longest": 5}}, "unknown parameter `longest`"),
        ({"task": "classification", "prompt": {}, "ask": {"stop": ["."]}}, "ask language models"),
    ],
)
def test_a_wrong_prompt_is_an_error_of_the_manifest(changes: Any, reason: str) -> None:
    data = {
        "name": "ends",
        "version": "1.0.0",
        "task": "multiple_choice",
        "format": "documents",
        "sources": [{"url": "ends.jsonl"}],
        "prompt": ASKED,
    }
    with pytest.raises(ManifestError, match=reason):
        load_manifest({**data, **changes})


def test_the_place_of_a_wrong_prompt_is_told(tmp_path: Path) -> None:
    path = tmp_path / "d.yml"
    path.write_text(
        "name: d\nversion: 1.0.0\ntask: text_generation\nformat: documents\nsources: [{url: d.jsonl}]\n"
        "prompt:\n  question: q\n  shotz: 5\n"
    )
    with pytest.raises(ManifestError) as error:
        load_manifest(path)
    assert "d.yml:8" in str(error.value) and "shots" in str(error.value)


@pytest.fixture
def world(tmp_path: Path) -> tuple[Any, Path]:
    lines = ["the cat sat on the mat\n", "the dog sat on the rug\n"]
    graph = language_world.write_arpa(tmp_path / "pets.arpa", [language_world.pieces_of(each) for each in lines])
    documents = [{"q": "the cat sat on", "a": "the mat", "b": "tam eht", "label": 0}]
    return language_world.model_of(graph), language_world.write_documents(tmp_path / "ends.jsonl", documents)


def test_every_word_of_a_prompt_counts_for_the_plans_digest(world: tuple[Any, Path], tmp_path: Path) -> None:
    one, documents = world
    settings = Settings(tmp_path / "home", tmp_path / "cache")

    def digest(prompt: Any, **more: Any) -> str:
        data = language_world.dataset_of(documents, "multiple_choice", prompt, **more)
        return ask(one, data, Options(), settings=settings).plan().digest

    known = {
        digest(ASKED),
        digest({**ASKED, "delimiter": ""}),
        digest({**ASKED, "question": "{{q}} "}),
        digest({**ASKED, "description": "a"}),
        digest(ASKED, ask={"unconditional": True}),
        digest(ASKED, measure={"normalization": "bytes"}),
    }
    assert len(known) == 6 and digest(dict(reversed(ASKED.items()))) in known
