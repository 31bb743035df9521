"""A plan's digest is the identity of the work: stable where nothing changes, different where a result could."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.report.reproduction import command

STACK = StackDescription("current", "3.11.7", {"numpy": "2.4.6", "pillow": "13.0.0", "onnxruntime": "1.31.1"})
MODEL = """
name: net
version: 1.0.0
task: classification
framework: {name: onnxruntime, version: ^1.10}
inputs:
  - type: image
    processing:
      decode: {color_layout: RGB}
      resize: {dimensions: [3, 224, 224], method: bilinear}
      mean: 127.5
outputs:
  - type: logits
source:
  graph_path: https://example.org/net.onnx
  graph_checksum: sha256:%s
""" % ("a" * 64)
DATASET = """
name: photos
version: 1.0.0
task: classification
format: folder
sources:
  - url: https://example.org/photos.zip#photos/
    checksum: sha256:%s
""" % ("b" * 64)


def plan(model: str = MODEL, dataset: str = DATASET, stack: StackDescription = STACK, **options: Any) -> Plan:
    parsed_model, parsed_dataset = parse_manifest(model), parse_manifest(dataset)
    assert isinstance(parsed_model, ModelManifest) and isinstance(parsed_dataset, DatasetManifest)
    return make_plan(parsed_model, parsed_dataset, Options(**options), stack, {})


def test_a_model_is_loaded_for_a_run_function_that_asks_for_it() -> None:
    """A state dict is no model that a framework could open: its class comes with the code that uses it."""
    for body, predictor in (('ctx["model"].run(data)', "onnxruntime"), ('ctx["artifacts"]["graph"]', None)):
        planned = plan(MODEL + f"run: |\n  def run(ctx, data):\n      return {body}\n")
        assert planned.predictor.name == predictor


def test_the_digest_does_not_see_comments_or_the_order_of_keys() -> None:
    reordered = MODEL.replace("version: 1.0.0\n", "").replace("source:", "version: 1.0.0 # the first\nsource:")
    reordered = reordered.replace("[3, 224, 224], method: bilinear", "[3, 224, 224] , method: 'bilinear'")
    assert plan(reordered).digest == plan().digest


def test_the_digest_does_not_see_where_the_bytes_come_from() -> None:
    assert plan(MODEL.replace("example.org", "mirror.example.net")).digest == plan().digest


def test_the_digest_does_not_see_a_default_that_is_written_out() -> None:
    assert (
        plan(MODEL.replace("{color_layout: RGB}", "{color_layout: RGB, library: pillow, exif: ignore}")).digest
        == plan().digest
    )


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("a" * 64, "c" * 64),  # model bytes
        ("method: bilinear", "method: bicubic"),  # a step's parameter
        ("mean: 127.5", "mean: 127"),
        ("color_layout: RGB", "color_layout: BGR"),
        ("      mean: 127.5\n", "      mean: 127.5\n      rescale: 2\n"),  # another step
        ("- type: logits", "- {type: logits, processing: [softmax]}"),
        ("- type: logits", "- {type: logits, label_offset: 1}"),
    ],
)
def test_the_digest_sees_every_change_of_the_model_that_could_change_a_result(written: str, instead: str) -> None:
    assert written in MODEL
    assert plan(MODEL.replace(written, instead)).digest != plan().digest


def test_the_digest_sees_the_order_of_steps() -> None:
    resize = "      resize: {dimensions: [3, 224, 224], method: bilinear}\n"
    swapped = MODEL.replace(resize, "").replace("mean: 127.5\n", "mean: 127.5\n" + resize)
    assert plan(swapped).digest != plan().digest


def test_the_digest_sees_the_dataset_the_stack_and_the_options() -> None:
    other_stack = StackDescription("current", "3.11.7", {**STACK.packages, "pillow": "12.0.0"})
    digests = [
        plan().digest,
        plan(dataset=DATASET.replace("b" * 64, "d" * 64)).digest,
        plan(stack=other_stack).digest,
        plan(stack=StackDescription("current", "3.12.0", STACK.packages)).digest,
        plan(seed=1).digest,
        plan(batch_size=2).digest,
        plan(threads=2).digest,
        plan(limit=10).digest,
        plan(limit=10, stratified=True).digest,
        plan(predictor_options={"graph_optimization": "basic"}).digest,
    ]
    assert len(set(digests)) == len(digests)


def test_a_package_that_the_plan_does_not_use_does_not_matter() -> None:
    assert plan(stack=StackDescription("current", "3.11.7", {**STACK.packages, "pytest": "9"})).digest == plan().digest


def test_every_default_is_explicit() -> None:
    steps = plan().input.steps
    assert steps[0].parameters["exif"] == "ignore" and steps[0].parameters["library"] == "pillow"
    assert steps[1].parameters["antialias"] is True
    assert steps[-1].name == "cast" and steps[-1].parameters == {"element_type": "float32", "mode": "value"}
    assert plan().predictor.options == {
        "threads": 1,
        "inter_op_threads": 1,
        "device": "cpu",
        "execution_provider": None,
        "graph_optimization": "all",
    }


def test_a_plan_survives_being_written_down() -> None:
    made = plan()
    assert Plan.model_validate_json(made.model_dump_json()) == made
    assert Plan.model_validate_json(made.model_dump_json()).digest == made.digest


def test_a_plan_cannot_be_changed() -> None:
    with pytest.raises(Exception, match="frozen"):
        plan().seed = 3  # type: ignore[misc]


def test_a_version_that_is_not_installed_is_refused_with_both_versions() -> None:
    with pytest.raises(PlanError, match=r"needs onnxruntime \^2.0, this Python has onnxruntime 1.31.1"):
        plan(MODEL.replace("^1.10", "^2.0"))


def test_a_framework_that_is_not_installed_comes_with_the_command_that_installs_it() -> None:
    with pytest.raises(PlanError, match=r"pip install onnxruntime, or name a stack"):
        plan(stack=StackDescription("current", "3.11.7", {"numpy": "2"}))


def test_a_framework_without_a_predictor_is_refused_with_those_there_are() -> None:
    with pytest.raises(PlanError, match="no predictor for the framework Darknet"):
        plan(MODEL.replace("name: onnxruntime", "name: Darknet"))


def test_a_library_that_a_step_names_must_be_there() -> None:
    with pytest.raises(PlanError, match="lacks opencv-python-headless"):
        plan(MODEL.replace("color_layout: RGB", "library: opencv"))


def test_frameworks_go_by_several_spellings() -> None:
    assert plan(MODEL.replace("name: onnxruntime", "name: ONNX Runtime")).predictor.name == "onnxruntime"


def test_an_unknown_predictor_option_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown parameter `speed`"):
        plan(predictor_options={"speed": "high"})


def test_a_file_without_a_known_digest_cannot_be_planned() -> None:
    with pytest.raises(PlanError, match=r"digest of https://example.org/net.onnx is not known"):
        plan(MODEL.replace("  graph_checksum: sha256:" + "a" * 64 + "\n", ""))


def test_a_local_file_changes_the_plan_when_its_bytes_change(
    settings: Any, make_model: Callable[..., ModelManifest], make_dataset: Any, make_pictures: Any
) -> None:
    from mlmodelscope.manifest.aspects import find_aspects
    from mlmodelscope.preparation import plan_aspects
    from mlmodelscope.provision.artifact import ArtifactStore

    folder: Path = make_pictures()
    model, dataset = make_model(), make_dataset(folder)
    before = plan_aspects(find_aspects(model, dataset), Options(), ArtifactStore(settings), settings).digest
    assert plan_aspects(find_aspects(model, dataset), Options(), ArtifactStore(settings), settings).digest == before
    picture = next(folder.rglob("*.png"))
    picture.write_bytes(picture.read_bytes() + b"\0")
    assert plan_aspects(find_aspects(model, dataset), Options(), ArtifactStore(settings), settings).digest != before


def test_another_release_than_the_pinned_one_runs_where_that_is_allowed_and_is_told() -> None:
    pinned = MODEL.replace("^1.10", "'=1.7.1'")
    assert pinned != MODEL
    with pytest.raises(PlanError, match=r"needs onnxruntime =1\.7\.1, this Python has onnxruntime 1\.31\.1") as told:
        plan(pinned)
    assert told.value.hint is not None and "--relax-framework" in told.value.hint
    relaxed = plan(pinned, relax_framework=True)
    assert relaxed.stack.relaxed == "onnxruntime =1.7.1"
    assert any("asks for onnxruntime =1.7.1; `--relax-framework` let current" in each for each in relaxed.warnings)
    assert "--relax-framework" in command(relaxed) and "--relax-framework" not in command(plan(MODEL))
    plain = plan(MODEL, relax_framework=True)  # nothing had to give way
    assert plain.stack.relaxed is None and plain.digest == plan(MODEL).digest


def test_a_release_that_the_predictor_does_not_run_is_refused_in_words() -> None:
    old = StackDescription("current", "3.11.7", {**STACK.packages, "onnxruntime": "1.2.0"})
    for options in ({}, {"relax_framework": True}):
        with pytest.raises(PlanError, match=r"has onnxruntime 1\.2\.0, and the predictor `onnxruntime` runs >=1\.4"):
            plan(MODEL, stack=old, **options)


def test_code_that_imports_what_nobody_brings_is_noted() -> None:
    code = "preprocess: |\n  import tokenization\n  def preprocess(ctx, data):\n    return data\n"
    assert any("imports tokenization, which no package" in each for each in plan(MODEL + code).warnings)
