"""Plans of models of texts and sounds: layers, steps that do not fit, files, and how a decoder is asked."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings, evaluate
from mlmodelscope.errors import ArtifactError, ManifestError, MLModelScopeError, PlanError
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.stack import StackDescription

STACK = StackDescription("current", "3.11.7", {"numpy": "2.4.6", "tokenizers": "0.23.3", "onnxruntime": "1.31.1"})
CHECKSUM = "sha256:" + "a" * 64
MODEL = """
name: sentences
version: 1.0.0
task: text_classification
framework: {name: onnxruntime, version: ^1.10}
files:
  tokenizer: {url: "https://example.org/tokenizer.json", checksum: "sha256:CCC"}
inputs:
  - type: text
    element_type: int64
    layers: {input_ids: ids, attention_mask: mask, token_type_ids: types}
    processing:
      tokenize: {file: tokenizer, special_tokens: true}
      truncate: 16
      pad_tokens:
outputs: [{type: logits}]
source: {graph_path: "https://example.org/net.onnx", graph_checksum: "sha256:AAA"}
""".replace("CCC", "c" * 64).replace("AAA", "a" * 64)
DATASET = """
name: reviews
version: 1.0.0
task: text_classification
format: table
columns: {text: 0, target: 1}
sources: [{url: "https://example.org/reviews.csv", checksum: "sha256:%s"}]
""" % ("b" * 64)
GENERATE = """
generate:
  graph: decoder
  feeds: {said: tokens, states: outputs.states}
  start: [0]
"""
TRANSLATOR = (
    MODEL.replace("text_classification", "translation")
    .replace(
        "outputs: [{type: logits}]",
        "outputs: [{type: tensor, layer_name: states}]\nanswer: [{detokenize: {file: tokenizer}}]" + GENERATE.rstrip(),
    )
    .replace("files:\n", f'files:\n  decoder: {{url: "https://example.org/d.onnx", checksum: "{CHECKSUM}"}}\n')
)


def planned(model: str = MODEL, task: str = "text_classification", **options: Any) -> Plan:
    found, dataset = parse_manifest(model), parse_manifest(DATASET.replace("text_classification", task))
    assert isinstance(found, ModelManifest) and isinstance(dataset, DatasetManifest)
    return make_plan(found, dataset, Options(**options), STACK, {})


def test_one_text_feeds_three_inputs_by_the_same_steps() -> None:
    inputs = planned().inputs
    assert [each.layer_name for each in inputs] == ["input_ids", "attention_mask", "token_type_ids"]
    assert {each.part for each in inputs} == {"text"} and {each.element_type for each in inputs} == {"int64"}
    own = [[step.name for step in each.steps] for each in inputs]
    assert own == [["tokenize", "truncate", "pad_tokens", "take", "cast"]] * 3
    assert [each.steps[3].parameters["tensor"] for each in inputs] == ["ids", "mask", "types"]
    assert inputs[0].steps[:3] == inputs[1].steps[:3] == inputs[2].steps[:3]


def test_layers_and_a_name_do_not_go_together() -> None:
    with pytest.raises(PlanError, match=r"inputs\[0\] of sentences has `layer_name` and `layers`; one of them"):
        planned(MODEL.replace("    layers:", "    layer_name: input_ids\n    layers:"))


@pytest.mark.parametrize("tensor", ["id", "one", "3"])
def test_a_layer_takes_one_of_the_tensors_that_there_are(tensor: str) -> None:
    with pytest.raises(ManifestError, match="is not one of the known values at inputs.0..layers") as caught:
        planned(MODEL.replace("attention_mask: mask", f"attention_mask: '{tensor}'"))
    assert caught.value.problems[0].known == ("ids", "mask", "types", "positions", "length", "ones", "zeros")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("mel: {count: 8, scale: htk, norm: none}", "`mel` is for .*, and an input of type text is text"),
        ("truncate: 16", "`truncate` is for tokens, and an input of type text is text"),
        (
            "tokenize: {file: tokenizer}\n      normalize_text: {case: lower}",
            "`normalize_text` is for text, and what `tokenize` makes is tokens",
        ),
        ("resize: {dimensions: [8, 8]}", "`resize` is for image, and an input of type text is text"),
        ("normalize_text: {case: lower}", "no step makes numbers of what `normalize_text` makes"),
    ],
)
def test_steps_that_do_not_fit_are_refused(steps: str, words: str) -> None:
    written = MODEL[: MODEL.index("      tokenize")] + f"      {steps}\n" + MODEL[MODEL.index("outputs:") :]
    with pytest.raises(PlanError, match=words) as caught:
        planned(written)
    assert "docs/reference/steps.md" in str(caught.value) or "`tokenize` cuts a text into tokens" in str(caught.value)


def test_an_input_without_steps_says_which_make_numbers() -> None:
    written = MODEL[: MODEL.index("    processing")] + MODEL[MODEL.index("outputs:") :]
    with pytest.raises(PlanError, match="no step makes numbers of an input of type text"):
        planned(written)


def test_what_counts_of_a_file_is_its_content() -> None:
    plain = planned()
    assert planned(MODEL.replace("example.org/tokenizer", "example.net/other")).digest == plain.digest
    assert planned(MODEL.replace("c" * 64, "d" * 64)).digest != plain.digest
    assert planned(MODEL.replace("c" * 64, "d" * 64)).model_digest != plain.model_digest


def test_a_decoder_is_planned_in_full_and_part_of_the_identity() -> None:
    plan = planned(TRANSLATOR, "translation")
    assert plan.generation is not None and plan.generation.graph == "decoder"
    assert (plan.generation.longest, plan.generation.beams, plan.generation.length_penalty) == (448, 1, 1.0)
    assert [step.name for step in plan.answer.steps] == ["detokenize"]
    for more in ("beams: 2", "stop: [3]", "longest: 7", "never: [2]"):
        other = planned(TRANSLATOR.replace("  start: [0]", f"  start: [0]\n  {more}"), "translation")
        assert other.digest != plan.digest and other.model_digest != plan.model_digest
    assert planned(TRANSLATOR.replace("  start: [0]", "  start: [0]\n  beams: 1"), "translation").digest == plan.digest
    assert Plan.model_validate_json(plan.model_dump_json()).digest == plan.digest


def world(folder: Path, **changes: str) -> tuple[Any, Any]:
    """Manifests on disk, with files beside them."""
    written = MODEL.replace("https://example.org/", "").replace(f', checksum: "sha256:{"c" * 64}"', "")
    written = written.replace(f', graph_checksum: "sha256:{"a" * 64}"', "")
    for before, after in changes.items():
        assert before in written
        written = written.replace(before, after)
    (folder / "model.yml").write_text(written)
    (folder / "data.yml").write_text(
        DATASET.replace("https://example.org/", "").replace(f', checksum: "sha256:{"b" * 64}"', "")
    )
    (folder / "net.onnx").write_bytes(b"net")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "reviews.csv").write_text("text,target\ngood,1\n")
    return load_manifest(folder / "model.yml"), load_manifest(folder / "data.yml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path, settings: Settings) -> None:
    model, dataset = world(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(MLModelScopeError, match=r"tokenizer\.json"):
        evaluate(model, dataset, settings=settings)


def test_a_file_with_another_content_than_its_checksum_is_refused(tmp_path: Path, settings: Settings) -> None:
    model, dataset = world(tmp_path, **{'{url: "tokenizer.json"}': f'{{url: tokenizer.json, checksum: "{CHECKSUM}"}}'})
    with pytest.raises(ArtifactError, match=r"tokenizer\.json"):
        evaluate(model, dataset, settings=settings)
