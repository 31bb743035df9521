"""A prompt is made of a document by declared parts, and every character of it can be foretold."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.chat import tokens_in
from mlmodelscope_worker.pipeline.document import Document, read_document, with_numbers
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.predictor import ModelError
from worker_package.tasks import steps

pytest.importorskip("jinja2")

FIELDS = {"goal": "Boil an egg", "sol1": "Heat water", "sol2": "Freeze it", "label": 0}
ASKED = {"question": "Question: {{goal}}\nAnswer:", "choices": ["{{sol1}}", "{{sol2}}"], "answer": "label"}


def made(fields: dict[str, Any], asked: dict[str, Any], *more: tuple[str, Any], ordinal: int = 0) -> Any:
    for name, given in (("prompt", asked), *more):
        ready = getattr(STEPS[name], "ready", None)
        if ready is not None:
            ready(STEPS[name].resolve(given))
    return Pipeline(steps(STEPS, [("prompt", asked), *more]))(Document(fields, ordinal))


def pool(folder: Path, count: int = 8) -> str:
    path = folder / "train.jsonl"
    rows = [{**FIELDS, "goal": f"Goal {each}", "label": each % 2} for each in range(count)]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return str(path)


def test_prompt_fills_templates_in_and_pairs_each_choice_with_the_question() -> None:
    prompt = made(FIELDS, ASKED)
    assert prompt.pairs == [
        ("Question: Boil an egg\nAnswer:", " Heat water"),
        ("Question: Boil an egg\nAnswer:", " Freeze it"),
    ]
    assert prompt.answer == 0


def test_a_template_that_is_a_field_stands_for_it() -> None:
    fields = {"text": "{{not a template}}", "options": ["a", "b"]}
    prompt = made(fields, {"question": "text", "choices": ["options"], "answer": "1"})
    assert prompt.questions == ["{{not a template}}"] and prompt.choices == ["a", "b"]
    assert prompt.answer == 1, "a number, where there are choices"
    assert made({"n": "007"}, {"question": "n", "answer": "n"}).answer == "007", "a text, where there are none"


def test_choices_may_stand_in_the_question() -> None:
    asked = {
        "question": "{{label}}",
        "choices": ["The {{sol1}} is in", "The {{sol2}} is in"],
        "answer": "the pot",
        "varies": "question",
    }
    prompt = made(FIELDS, asked)
    assert prompt.pairs == [("The Heat water is in", " the pot"), ("The Freeze it is in", " the pot")]


def test_examples_that_are_drawn_are_those_of_one_stream_of_random_numbers(tmp_path: Path) -> None:
    """The third document's are what the same generator gives at its third draw."""
    asked = {**ASKED, "shots": 2, "shots_file": pool(tmp_path), "seed": 7}
    chance = random.Random(7)
    draws = [chance.sample(range(8), 2) for _ in range(4)]
    for ordinal in (2, 0, 3):
        shown = made(FIELDS, asked, ordinal=ordinal).examples
        assert [question for question, _ in shown] == [f"Question: Goal {each}\nAnswer:" for each in draws[ordinal]]
        assert [answer for _, answer in shown] == [("Heat water", "Freeze it")[each % 2] for each in draws[ordinal]]


def test_the_example_that_was_drawn_first_may_come_last(tmp_path: Path) -> None:
    asked = {**ASKED, "shots": 3, "shots_file": pool(tmp_path), "seed": 7}
    drawn, other = made(FIELDS, asked).examples, made(FIELDS, {**asked, "order": "reversed"}).examples
    assert len(set(drawn)) == 3 and other == drawn[::-1]


def test_examples_and_description_come_before_the_question(tmp_path: Path) -> None:
    asked = {**ASKED, "shots": 1, "shots_file": pool(tmp_path), "pick": "first", "description": "Choose well.\n"}
    assert made(FIELDS, asked).pairs[0][0] == (
        "Choose well.\nQuestion: Goal 0\nAnswer: Heat water\n\nQuestion: Boil an egg\nAnswer:"
    )


def test_no_document_is_its_own_example(tmp_path: Path) -> None:
    own = {**FIELDS, "goal": "Goal 0"}
    asked = {**ASKED, "shots": 3, "shots_file": pool(tmp_path, 4), "same": True}
    for ordinal in range(20):
        shown = made(own, asked, ordinal=ordinal).examples
        assert len(shown) == 3 and "Question: Goal 0\nAnswer:" not in [question for question, _ in shown]


def test_a_document_that_is_drawn_twice_has_all_its_examples_drawn_anew(tmp_path: Path) -> None:
    """From the same stream, so that those of the documents behind it are the harness's, too."""
    rows = [{**FIELDS, "goal": goal} for goal in ("a", "a", "b", "c")]
    path = tmp_path / "same.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    chance, due = random.Random(1), []
    for row in rows:
        drawn = [rows[each] for each in chance.sample(range(4), 3)]
        found = [each for each in drawn if each != row][:2]
        due.append(found if len(found) == 2 else chance.sample([each for each in rows if each != row], 2))
    asked = {"question": "{{goal}}", "answer": "x", "shots": 2, "shots_file": str(path), "same": True, "seed": 1}
    for ordinal in (3, 0, 1, 2):
        shown = made(rows[ordinal], asked, ordinal=ordinal).examples
        assert [question for question, _ in shown] == [each["goal"] for each in due[ordinal]]


def test_examples_may_stand_in_the_manifest_and_be_worded_in_their_own_way() -> None:
    shown = {**FIELDS, "goal": "Fry it", "other": ["Yes", "No"], "label": 1}
    asked = {
        **ASKED,
        "shots": 1,
        "shots_documents": [shown],
        "shots_question": "{{goal}}?",
        "shots_choices": "other",
        "shots_answer": "{{1 - label}}",
        "shots_delimiter": "\t",
    }
    (first, _) = made(FIELDS, asked).pairs
    assert first == ("Fry it?\tYes\n\nQuestion: Boil an egg\nAnswer:", " Heat water")


def test_choices_of_a_list_are_words_even_where_a_field_has_that_name() -> None:
    asked = {"question": "goal", "choices": ["sol1", "label"], "answer": "label"}
    assert made(FIELDS, asked).choices == ["sol1", "label"]


@pytest.mark.parametrize(("label", "reason"), [("2", "none of the 2 choices"), ("x", "none of the 2 choices")])
def test_an_example_whose_question_is_no_number_of_a_choice_is_said(label: str, reason: str) -> None:
    asked = {**ASKED, "varies": "question", "question": "label", "answer": "goal", "shots": 1}
    with pytest.raises(SampleError, match=reason):
        made(FIELDS, {**asked, "shots_documents": [{**FIELDS, "label": label}]})


def test_columns_of_whole_numbers_are_numbers() -> None:
    rows = [{"a": "1", "b": "01", "c": "1"}, {"a": "-20", "b": "2", "c": "x"}]
    assert with_numbers(rows) == [{"a": 1, "b": "01", "c": "1"}, {"a": -20, "b": "2", "c": "x"}]
    assert with_numbers([]) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[1, 2]", "no documents with named fields"),
        ("", "no documents with named fields"),
        ('{"a": 1}\n{"a"', "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_damaged_file_of_examples_is_said(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(content)
    with pytest.raises(ModelError, match=reason):
        made(FIELDS, {**ASKED, "shots": 1, "shots_file": str(path)})


def test_more_examples_than_there_are_documents_is_said(tmp_path: Path) -> None:
    for pick in ("sample", "first"):
        with pytest.raises((ModelError, SampleError), match="9 examples are asked for"):
            made(FIELDS, {**ASKED, "shots": 9, "shots_file": pool(tmp_path), "pick": pick})


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"question": "{{nothing}}"}, "cannot be filled in: 'nothing' is undefined"),
        ({"question": "{{goal.__class__.__mro__}}"}, "cannot be filled in"),
        ({"question": "{{ 'x' * 2000000 }}"}, "2000000 characters"),
        ({"question": "{{1/0}}"}, "cannot be filled in"),
        ({"question": "a", "choices": ["goal"]}, "not a list"),
        ({"question": "a", "choices": ["{{[1, 2]}}"]}, "not a list of texts"),
        ({"question": "a", "choices": ["{{[]}}"]}, "0 choices"),
    ],
)
def test_what_a_template_cannot_do_costs_its_document(asked: dict[str, Any], reason: str) -> None:
    with pytest.raises(SampleError, match=reason):
        made(FIELDS, asked)


def test_a_template_that_nobody_can_read_is_known_before_the_first_document() -> None:
    with pytest.raises(ValueError, match="the template cannot be read"):
        made(FIELDS, {"question": "{{goal"})


@pytest.mark.parametrize("content", [{}, {"document": []}, {"document": "x"}])
def test_what_is_no_document_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(SampleError, match="not a document"):
        read_document(content)


TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture
def template(tmp_path: Path) -> str:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": TEMPLATE, "eos_token": {"content": "</s>"}}))
    return str(path)


def test_chat_writes_turns_by_the_template_of_the_model(template: str, tmp_path: Path) -> None:
    asked = {**ASKED, "shots": 1, "shots_file": pool(tmp_path), "pick": "first", "system": "Be brief."}
    together = made(FIELDS, asked, ("chat", {"file": template}))
    assert together.pairs[1] == (
        "<|system|>Be brief.</s>\n<|user|>Question: Goal 0\nAnswer: Heat water\n\n"
        "Question: Boil an egg\nAnswer:</s>\n<|assistant|>",
        "Freeze it",
    )
    turns = made(FIELDS, asked, ("chat", {"file": template, "examples": "turns", "opened": False, "delimiter": " "}))
    assert turns.pairs[0] == (
        "<|system|>Be brief.</s>\n<|user|>Question: Goal 0\nAnswer:</s>\n<|assistant|>Heat water</s>\n"
        "<|user|>Question: Boil an egg\nAnswer:</s>\n",
        " Heat water",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [('{"chat_template": 5}', "no `chat_template`"), ("{% if", "cannot be read"), ("{}", "no `chat_template`")],
)
def test_a_damaged_chat_template_is_said(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "template"
    path.write_text(content)
    with pytest.raises((ModelError, ValueError), match=reason):
        made(FIELDS, ASKED, ("chat", {"file": str(path)}))


def test_a_template_of_its_own_gets_its_special_tokens_from_another_file(tmp_path: Path) -> None:
    template, tokens = tmp_path / "chat_template.jinja", tmp_path / "tokenizer_config.json"
    template.write_text("{{ bos_token }}{{ messages[0].content }}")
    tokens.write_text('{"bos_token": {"content": "<s>"}, "chat_template": "another"}')
    found = made(FIELDS, ASKED, ("chat", {"file": str(template), "tokens": str(tokens)}))
    assert found.pairs[0][0] == "<s>Question: Boil an egg\nAnswer:"
    tokens.write_text("[1]")
    tokens_in.cache_clear()
    with pytest.raises(ModelError, match="not a JSON object"):
        made(FIELDS, ASKED, ("chat", {"file": str(template), "tokens": str(tokens)}))


def test_a_chat_template_may_refuse_what_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "template"
    path.write_text("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(SampleError, match="roles must alternate"):
        _ = made(FIELDS, ASKED, ("chat", {"file": str(path)})).pairs
