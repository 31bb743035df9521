"""A local folder of a language model, and the files that lie in it, become a manifest that is checked."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.author.make import Written, make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.lint.check import check_text
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import ModelManifest

from . import samples


def folder(place: Path, **files: Any) -> Path:
    """A folder as transformers saves it; `files` take the place of its own."""
    made: dict[str, Any] = {
        "config.json": samples.LLAMA,
        "tokenizer_config.json": samples.TOKENIZER,
        "generation_config.json": samples.GENERATION,
        "README.md": samples.MODEL_CARD,
        "model.safetensors": "",
        "tokenizer.json": "{}",
    }
    made.update({name.replace("__", "."): content for name, content in files.items()})
    found = place / "toy-lm"
    found.mkdir()
    for name, content in made.items():
        if content is not None:
            (found / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return found


def make(place: Path, **files: Any) -> Written:
    return make_manifest(Request(configs=(folder(place, **files),), output=place / "out.yml"))


def made_of(written: Written, folder: Path) -> ModelManifest:
    found = parse_manifest(written.text, str(folder / "out.yml"))
    assert isinstance(found, ModelManifest)
    return found


def test_a_folder_becomes_a_model_that_runs(tmp_path: Path) -> None:
    written = make(tmp_path)
    found = made_of(written, tmp_path)
    assert found.task == "language_model" and found.framework is not None and found.framework.name == "transformers"
    assert written.data["source"] == {"graph_path": "toy-lm"} and found.name == "toy-lm"
    assert written.data["inputs"] == [
        {
            "type": "prompt",
            "processing": [{"chat": {"file": "tokenizer_config"}}, {"encode_prompt": {"special_tokens": "once"}}],
        }
    ]
    assert written.data["files"]["tokenizer_config"]["url"] == "toy-lm/tokenizer_config.json"
    assert found.license == "apache-2.0" and not found.outputs
    (tmp_path / "out.yml").write_text(written.text)
    _, told = check_text(written.text, str(tmp_path / "out.yml"), tmp_path)
    assert not [each for each in told if each.severity == "error"]


def test_how_it_writes_is_said_with_its_reason(tmp_path: Path) -> None:
    written = make(tmp_path)
    assert written.data["ask"] == {
        "longest": 128,
        "temperature": 0.6,
        "top_k": 50,
        "top_p": 0.9,
        "stop_tokens": [2, 7],
        "stop": ["<end>"],
    }
    assert "top_k: 50  # transformers' default" in written.text
    assert any("repetition_penalty" in each for each in written.draft.unknown)
    assert written.data["attributes"]["generation_config"]["repetition_penalty"] == 1.1


def test_settings_that_count_for_draws_only_are_named_where_nothing_is_drawn(tmp_path: Path) -> None:
    written = make(tmp_path, generation_config__json={**samples.GENERATION, "do_sample": False})
    assert written.data["ask"]["temperature"] == 0 and "top_p" not in written.data["ask"]
    assert written.data["attributes"]["generation_config"]["temperature"] == 0.6


def test_a_template_of_its_own_gets_the_special_tokens_from_the_tokenizer(tmp_path: Path) -> None:
    written = make(tmp_path, chat_template__jinja=samples.TEMPLATE)
    (step, _) = written.data["inputs"][0]["processing"]
    assert step == {"chat": {"file": "chat_template", "tokens": "tokenizer_config"}}
    assert set(written.data["files"]) == {"chat_template", "tokenizer_config"}
    assert any("has a template as well" in each for each in written.draft.notes)


def test_a_base_model_has_no_turns(tmp_path: Path) -> None:
    plain = {key: value for key, value in samples.TOKENIZER.items() if key != "chat_template"}
    written = make(tmp_path, tokenizer_config__json=plain, generation_config__json=None)
    assert written.data["inputs"][0]["processing"] == [{"encode_prompt": {"special_tokens": "once"}}]
    assert "ask" not in written.data and "files" not in written.data


def test_other_templates_are_named(tmp_path: Path) -> None:
    several = [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]
    written = make(tmp_path, tokenizer_config__json={**samples.TOKENIZER, "chat_template": several})
    assert "chat" in written.data["inputs"][0]["processing"][0]
    assert any("rag" in each for each in written.draft.unknown)


def test_numbers_of_a_card_are_claims_with_what_they_are_counted_in_and_why(tmp_path: Path) -> None:
    claims = made_of(written := make(tmp_path), tmp_path).claims
    assert [(each.metric, each.value, each.dataset, each.split, each.unit) for each in claims] == [
        ("choice-accuracy-characters", "37.30", "ai2_arc/ARC-Challenge", "test", "percent"),
        ("perplexity", "27.614", "wikitext/wikitext-2-raw-v1", "test", None),
        ("choice-accuracy", "66.1", "wikitext/wikitext-2-raw-v1", "test", "percent"),
        ("exact-match", "1.4", "wikitext/wikitext-2-raw-v1", "test", "percent"),
    ]
    assert claims[0].source == "https://example.org/leaderboard"
    assert claims[0].conditions is not None and "num_few_shot 25" in claims[0].conditions
    assert claims[2].conditions is not None and "± 0.4" in claims[2].conditions
    assert "unit: percent  # a percent sign stands behind it" in written.text
    assert "nobody can tell" in written.text and "is not a number as claims are" in written.text


def test_a_card_of_shares_says_so(tmp_path: Path) -> None:
    card = "---\nmodel-index:\n- name: a\n  results:\n  - dataset: {type: piqa, name: PIQA}\n    metrics:\n"
    (tmp_path / "README.md").write_text(card + "    - {type: accuracy, value: 0.84493506493506493}\n---\n")
    written = make_manifest(Request(configs=(tmp_path / "README.md",)))
    (claim,) = written.data["claims"]
    assert claim["unit"] == "share" and str(claim["value"].text) == "0.844935064935"
    assert "no such number of the file is more than 1" in written.text


def test_results_beside_the_weights_are_claims(tmp_path: Path) -> None:
    place = folder(tmp_path, README__md="# no header\n")
    (place / ".eval_results").mkdir()
    (place / ".eval_results" / "math.yaml").write_text(samples.EVAL_RESULTS)
    written = make_manifest(Request(configs=(place,), output=tmp_path / "out.yml"))
    first, second = made_of(written, tmp_path).claims
    assert (first.metric, first.dataset, first.unit) == ("score", "openai/gsm8k", "share")
    assert first.source == "https://example.org/log" and "date 2026-01-02" in str(first.conditions)
    assert (second.dataset, second.conditions) == ("Idavidrein/gpqa/gpqa_diamond", "no-tools")
    assert "names no metrics" in written.text


def test_pickles_are_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        make(tmp_path, model__safetensors=None, **{"pytorch_model.bin": ""})
    assert "safetensors" in str(caught.value.hint)


def test_a_folder_without_weights_is_a_configuration(tmp_path: Path) -> None:
    assert make(tmp_path, model__safetensors=None).data["task"] == "text_generation"


def test_a_broken_header_is_refused_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        make(tmp_path, README__md="---\nlicense: mit\nlicense: gpl-3.0\n---\n")
    assert caught.value.problems[0].line == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"eos_token_id": "two"},
        {"eos_token_id": [-1]},
        {"stop_strings": [3]},
        {"top_p": 7, "do_sample": True},
        {"temperature": -1, "do_sample": True},
        {"max_new_tokens": 1e30},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ManifestError):
        make(tmp_path, generation_config__json={**samples.GENERATION, **changes})


def test_ask_belongs_to_language_models(tmp_path: Path) -> None:
    text = make(tmp_path).text.replace("temperature: 0.6", "temperature: hot")
    with pytest.raises(ManifestError, match="temperature"):
        parse_manifest(text, "out.yml")
    with pytest.raises(ManifestError, match="goes with"):
        parse_manifest(
            "name: a\nversion: 1.0.0\ntask: general\nask: {longest: 3}\nrun: |\n  def fun(ctx, data): pass\n", "b"
        )
