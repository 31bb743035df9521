"""Pitfalls of prompts: what was done to a prompt is named first, and variants share what they have in common."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import language_world as world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.plan.claim import Claim
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.plan import Plan, StackRecipe
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import PITFALLS, language_engines, variants_of
from mlmodelscope.replicate.pitfall.prompting import DOCUMENT
from mlmodelscope.replicate.replication import Replication, replicate
from mlmodelscope.replicate.replication_page import render
from mlmodelscope.task.task import task_named
from replicate.planned import AnyPins

ANIMALS = {"cat": "milk", "dog": "bones", "cow": "grass", "bee": "nectar", "fox": "hens", "owl": "mice"}
WORDS = ["Question", "what does the", " like?\nAnswer:", " forever", *ANIMALS, *ANIMALS.values()]
PROMPT = {
    "question": "Question: what does the {{animal}} like?\nAnswer:",
    "choices": ["{{a}}", "{{b}}"],
    "answer": "label",
}


def lines() -> list[str]:
    draw = random.Random(0)
    names = list(ANIMALS)
    found = []
    for _ in range(200):
        animal = draw.choice(names)
        food = ANIMALS[animal] if draw.random() < 0.7 else ANIMALS[draw.choice(names)]
        more = " forever" if draw.random() < 0.3 else ""
        found.append(f"Question: what does the {animal} like?\nAnswer: {food}{more}\n")
    return found


def documents(count: int = 120) -> list[dict[str, Any]]:
    draw = random.Random(1)
    found = []
    for _ in range(count):
        animal = draw.choice(list(ANIMALS))
        right, wrong = ANIMALS[animal], draw.choice([food for name, food in ANIMALS.items() if name != animal])
        wrong += draw.choice(["", " forever"])
        label = draw.randrange(2)
        found.append({"animal": animal, "a": wrong if label else right, "b": right if label else wrong, "label": label})
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompts")
    world.write_arpa(folder / "animals.arpa", [world.pieces_of(each, WORDS) for each in lines()], order=6)
    world.write_documents(folder / "animals.jsonl", documents())
    world.write_documents(folder / "shots.jsonl", documents(20))
    (folder / "chat.jinja").write_text("{% for each in messages %}{{ each['content'] }}{% endfor %}")
    return folder


def model(place: Path, encode: dict[str, Any] | None = None) -> Any:
    return world.model_of(place / "animals.arpa", encode, files={"chat_template": {"url": str(place / "chat.jinja")}})


def dataset(place: Path, task: str = "multiple_choice", ask: dict[str, Any] | None = None, **more: Any) -> Any:
    prompt = {**PROMPT, **more.pop("prompt", {})}
    if task != "multiple_choice":
        prompt.pop("choices", None)
        prompt["answer"] = "a"
    files = {"files": {"shots": {"url": str(place / "shots.jsonl")}}}
    return world.dataset_of(place / "animals.jsonl", task, prompt, ask, size=120, **files, **more)


def plan_of(place: Path, task: str = "multiple_choice", **more: Any) -> Plan:
    return make_plan(model(place), dataset(place, task, **more), Options(), describe_current(), AnyPins())


def names_of(plan: Plan) -> set[str]:
    return {name for each in variants_of(plan) for name in each.pitfalls}


COMMON = {"shot-count", "question-wording", "beginning-token", "context-length", "context-cut", "trailing-blank"}
OF_TASK = {
    "multiple_choice": {
        "choice-normalization",
        "choice-letters",
        "answer-order",
        "answer-delimiter",
        "joined-tokens",
        "chat-template",
    },
    "language_modeling": {"perplexity-unit", "reading-window", "window-overlap", "first-token"},
    "text_generation": {
        "stop-strings",
        "written-length",
        "sampling",
        "answer-extraction",
        "answer-normalization",
        "number-format",
    },
}


@pytest.mark.parametrize("task", OF_TASK)
def test_each_task_has_the_pitfalls_of_its_prompts_and_none_of_pictures(task: str, place: Path) -> None:
    names = names_of(plan_of(place, task))
    assert names >= COMMON | OF_TASK[task]
    assert not names & {name for other in OF_TASK if other != task for name in OF_TASK[other] - OF_TASK[task]} - {
        "answer-delimiter",
        "joined-tokens",
        "chat-template",
    }
    assert all(PITFALLS[name].parts in ((), DOCUMENT) for name in names)


@pytest.mark.parametrize(
    ("task", "more", "name"),
    [
        ("multiple_choice", {"prompt": {"shots": 2, "shots_file": "shots"}}, "shot-choice"),
        ("multiple_choice", {"prompt": {"shots": 2, "shots_file": "shots"}}, "shot-separator"),
        ("multiple_choice", {"prompt": {"shots": 2, "shots_file": "shots"}}, "shot-order"),
        ("multiple_choice", {"prompt": {"system": "Be short."}}, "system-prompt"),
        ("text_generation", {"ask": {"temperature": 1.0}}, "sampling-seed"),
    ],
)
def test_what_a_prompt_has_may_be_otherwise(task: str, more: dict[str, Any], name: str, place: Path) -> None:
    assert name in names_of(plan_of(place, task, **more)) and name not in names_of(plan_of(place, task))


def with_chat(place: Path, **prompt: Any) -> Plan:
    files = {"chat_template": {"url": str(place / "chat.jinja")}, "tokenizer_2": {"url": str(place / "shots.jsonl")}}
    files["weights_q8"] = {"url": str(place / "animals.jsonl")}
    steps = [{"chat": {"file": "chat_template"}}, {"encode_prompt": {}}]
    changed = world.model_of(place / "animals.arpa", files=files, inputs=[{"type": "prompt", "processing": steps}])
    return make_plan(changed, dataset(place, prompt=prompt), Options(), describe_current(), AnyPins())


def test_a_chat_has_pitfalls_of_its_own(place: Path) -> None:
    plan = with_chat(place, shots=2, shots_file="shots")
    assert names_of(plan) >= {"shot-turns", "chat-template", "system-prompt"}
    plain = next(each for each in variants_of(plan, ["chat-template"]) if each.words == "plain text, no chat")
    assert plain.plan.input is not None and "chat" not in [each.name for each in plain.plan.input.steps]


def test_other_files_of_the_manifest_are_tried(place: Path) -> None:
    plan = with_chat(place)
    assert [each.words for each in variants_of(plan, ["prompt-tokenizer"])] == ["tokens of the file tokenizer_2"]
    ((words, other),) = PITFALLS["weights-file"].edits(plan)
    assert words == "the weights of the file weights_q8" and other.model.graph == plan.model.files["weights_q8"]


def test_a_type_of_arithmetic_is_another_stack(place: Path) -> None:
    plan = plan_of(place)
    predictor = plan.predictor.model_copy(update={"name": "transformers", "options": {"dtype": "float32"}})
    found = variants_of(plan.model_copy(update={"predictor": predictor}), ["arithmetic-type"])
    assert [each.plan.predictor.options["dtype"] for each in found] == ["bfloat16", "float16"]
    assert PITFALLS["arithmetic-type"].is_about_stack


def opened_by(plan: Plan, name: str, graph: str, *requirements: str, **options: Any) -> Plan:
    """The plan with another predictor and file, in a stack of its own where packages are named."""
    assert plan.model.graph is not None
    resolved = dict(PREDICTORS[name].resolve(options))
    changes: dict[str, Any] = {
        "predictor": plan.predictor.model_copy(update={"name": name, "options": resolved}),
        "model": plan.model.model_copy(update={"graph": plan.model.graph.model_copy(update={"url": graph})}),
    }
    if requirements:
        recipe = StackRecipe(python="3.11", requirements=requirements)
        changes["stack"] = plan.stack.model_copy(update={"recipe": recipe, "packages": {name: "1.0"}})
    return plan.model_copy(update=changes)


def words_of(plan: Plan, name: str) -> list[str]:
    return [each.words for each in variants_of(plan, [name])]


def test_rows_of_a_rotary_layout_are_rearranged_both_ways(place: Path) -> None:
    stored = opened_by(plan_of(place), "transformers", "file:model")
    found = [each.plan.predictor.options["rotary"] for each in variants_of(stored, ["rotary-layout"])]
    assert found == ["pairs_to_halves", "halves_to_pairs"] and PITFALLS["rotary-layout"].is_about_stack
    other = opened_by(plan_of(place), "transformers", "file:model", rotary="pairs_to_halves")
    assert "rows of queries and keys as they are stored" in words_of(other, "rotary-layout")
    assert not words_of(plan_of(place), "rotary-layout")


def test_fewer_bits_need_no_other_weights_file(place: Path) -> None:
    found = words_of(opened_by(plan_of(place), "transformers", "file:model"), "weights-file")
    assert found == [f"weights rounded to {kind}" for kind in ("F16", "BF16", "Q8_0", "Q4_0")]


@pytest.mark.parametrize(
    ("name", "other", "package"),
    [("transformers", "llama_cpp", "llama-cpp-python"), ("llama_cpp", "transformers", "transformers")],
)
def test_another_engine_runs_the_same_file_where_it_is_installed(
    name: str, other: str, package: str, place: Path
) -> None:
    pinned = ("transformers==5.1", "llama-cpp-python[server]==0.3 ; python_version > '3'")
    (found,) = variants_of(opened_by(plan_of(place), name, "file:model.Q4_1.gguf", *pinned, threads=2), ["engine"])
    assert found.plan.predictor.name == other and found.plan.predictor.options["threads"] == 2
    assert found.plan.stack.packages[package] == {"transformers": "5.1", "llama-cpp-python": "0.3"}[package]
    assert not words_of(opened_by(plan_of(place), name, "file:model.Q4_1.gguf", "numpy==1.0"), "engine")
    assert not words_of(opened_by(plan_of(place), name, "file:model", *pinned), "engine")


def test_this_python_is_asked_which_engines_it_has(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = opened_by(plan_of(place), "transformers", "file:model.gguf")
    for installed in ({}, {"llama-cpp-python": "0.3.36"}):
        described = StackDescription("current", "3.11", {"numpy": "2", **installed})
        monkeypatch.setattr(language_engines, "describe_current", lambda described=described: described)
        assert len(words_of(plan, "engine")) == len(installed)


def settings_of(folder: Path) -> Settings:
    return Settings(folder / "home", folder / "cache")


def replicated(place: Path, tmp_path: Path, wrong: Any, encode: dict[str, Any] | None = None) -> Replication:
    settings = settings_of(tmp_path)
    right = evaluate(model(place), dataset(place), Options(8), settings=settings)
    claimed = f"{100 * right.metrics['choice-accuracy'].value:.2f}"
    claim = Claim("choice-accuracy", claimed, "animals", factor=100)
    return replicate(model(place, encode), wrong, Options(8), claim=claim, settings=settings)


FAULTS: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "choices exchanged": ("answer-order", {"prompt": {"choices": ["{{b}}", "{{a}}"]}}, None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_done_to_a_prompt_is_named_first(fault: str, place: Path, tmp_path: Path) -> None:
    name, more, encode = FAULTS[fault]
    done = replicated(place, tmp_path, dataset(place, **more), encode)
    assert done.verdict.kind == "not reproduced" and done.found is not None
    first = done.found.explained or done.found.compatible or done.found.candidates
    assert name in {each for candidate in first for each in candidate.pitfalls}
    assert done.cost is not None and done.cost.tokens > 0


def test_more_examples_are_tried_where_some_come_near(place: Path) -> None:
    plan = plan_of(place, prompt={"shots": 5, "shots_file": "shots"})
    assert {each.words for each in variants_of(plan, ["shot-count"])} >= {"no examples", "1 example", "4 examples"}
    finer = PITFALLS["shot-count"].finer
    assert finer is not None
    assert [words for words, _ in finer(plan)] == ["8 examples", "10 examples", "25 examples"]
    assert not list(finer(plan_of(place)))


def test_steps_of_an_extraction_have_their_defaults(place: Path) -> None:
    for name in ("answer-extraction", "answer-normalization", "number-format"):
        for words, edited in PITFALLS[name].edits(plan_of(place, "text_generation")):
            assert task_named(edited.task).settle(edited.measure) == edited.measure, words


def test_prompts_share_what_they_have_in_common(place: Path, tmp_path: Path) -> None:
    """25 variants and more, counted in tokens that went through the model: a few evaluations' worth."""
    done = replicated(place, tmp_path, dataset(place, prompt={"choices": ["{{b}}", "{{a}}"]}))
    assert done.found is not None and done.cost is not None
    tried = [each for each in done.found.candidates if len(each.pitfalls) == 1]
    assert sum(len(each.alike) + 1 for each in tried) >= 25
    assert done.cost.calls / done.samples <= 8
    # As many as those tokens are evaluations' worth: one evaluation is what the plan's own rows take.
    own = sum(_own_tokens(each) for each in documents())
    assert done.cost.calls / done.samples == pytest.approx(done.cost.tokens / own, rel=0.15)


def _own_tokens(document: dict[str, Any]) -> int:
    """Of both choices after one question, which is read once but for its last token."""
    choices = [len(world.pieces_of(f" {document[each]}", WORDS)) for each in ("a", "b")]
    asked = len(world.pieces_of(f"Question: what does the {document['animal']} like?\nAnswer:", WORDS))
    return asked - 1 + sum(choices)


def test_flips_are_samples_whose_choice_is_another_and_show_both(place: Path, tmp_path: Path) -> None:
    done = replicated(place, tmp_path, dataset(place, prompt={"choices": ["{{b}}", "{{a}}"]}))
    assert done.evidence is not None and done.found is not None
    first = done.found.explained[0]
    assert done.evidence.count("fixed") == first.gained and done.evidence.count("broken") == first.lost
    shown = [each.overlaid for each in done.evidence.flips if each.overlaid is not None]
    assert shown and all(each.before and each.after and each.truth for each in shown)
    assert "choices one place further" in render(done)
