"""Pitfalls: every edit is another plan that can be carried out, and the way back is among its own edits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Settings
from mlmodelscope.manifest.catalog import find_dataset, find_model
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.model_file.model_file import ModelFile, Quantization, TensorInfo
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import PITFALLS, finer_variants, variants_of
from mlmodelscope.replicate.pitfall.explanation import explanation_of
from mlmodelscope.replicate.pitfall.pitfall import step, steps_of
from mlmodelscope_worker.pipeline import STEPS

PINS_ANY = "0" * 64


class AnyPins(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return PINS_ANY


@pytest.fixture(params=["efficientnet-lite0", "resnet20-cifar10"])
def plan(request: pytest.FixtureRequest) -> Plan:
    model = find_model(request.param)
    dataset = find_dataset("imagenet-70" if "efficient" in request.param else "cifar10-test")
    return make_plan(model, dataset, Options(), describe_current(), AnyPins())


def test_every_edit_is_a_plan_of_its_own_with_steps_that_exist(plan: Plan) -> None:
    variants = variants_of(plan)
    assert len({each.key for each in variants} | {plan.digest}) == len(variants) + 1
    for variant in variants:
        assert variant.plan.input is not None and variant.words
        for each in variant.plan.input.steps:
            assert STEPS[each.name].resolve(dict(each.parameters)) == each.parameters


def test_every_pitfall_is_explained() -> None:
    for each in PITFALLS.values():
        assert each.title and len(each.explanation) > 40, each.name


def test_whoever_fell_into_a_pitfall_finds_the_way_back(plan: Plan) -> None:
    """From a wrong plan, the right one is again a single edit of the same pitfall."""
    lost = []
    for variant in variants_of(plan):
        back = [each for each in variants_of(variant.plan, variant.pitfalls) if each.key == plan.digest]
        if not back:
            lost.append((variant.pitfalls[0], variant.words))
    # A crop that is written anew rounds its offset in the usual way, `normalize` comes back as two steps, and other
    # normalisations than the known ones cannot be guessed; from odd pixels another interpolation leads back.
    known = {"cropping", "crop-order", "normalization", "normalization-order", "resizing", "half-pixel"}
    assert {name for name, _ in lost} <= known, lost


def planned(element_type: str, processing: dict[str, object]) -> Plan:
    manifest = load_manifest(
        {
            "name": "small",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "onnxruntime"},
            "inputs": [{"type": "image", "element_type": element_type, "processing": processing}],
            "outputs": [{"type": "logits"}],
            "source": {"graph_path": "https://example.org/small.onnx", "graph_checksum": f"sha256:{PINS_ANY}"},
        }
    )
    assert isinstance(manifest, ModelManifest)
    return make_plan(manifest, find_dataset("cifar10-test"), Options(), describe_current(), AnyPins())


def spelled(plan: Plan) -> list[str]:
    """Steps in short, without those that change nothing."""
    telling = {"mean": "values", "rescale": "divisor", "cast": "mode", "quantize": "zero_point"}
    steps = [each for each in steps_of(plan) if each.name in telling]
    return [f"{each.name} {each.parameters[telling[each.name]]}" for each in steps]


RIGHT_BYTES = ["mean 128.0", "cast saturate"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"cast": {"element_type": "int8", "mode": "value"}},
        {"cast": {"element_type": "int8", "mode": "saturate"}},
        {"rescale": 255, "mean": 128, "cast": {"element_type": "int8", "mode": "saturate"}},
        {"rescale": 255, "quantize": {"scale": 1 / 255, "element_type": "int8"}},
    ],
)
def test_signed_bytes_that_were_made_in_another_way_find_back_to_bytes_less_128(wrong: dict[str, object]) -> None:
    plan = planned("int8", {"decode": None, **wrong})
    found = [spelled(each.plan) for each in variants_of(plan, ["quantization"]) if each.words == "bytes less 128"]
    assert [each[:2] for each in found] == [RIGHT_BYTES]


def test_scale_and_zero_point_of_the_model_file_are_tried() -> None:
    told = TensorInfo("input", "uint8", (1, 3, 32, 32), "NCHW", Quantization((0.02,), (114,)))
    file = ModelFile("onnx", "onnxruntime", (told,), (), None, None, None, (), {}, ())
    plain = planned("uint8", {"decode": None, "cast": "uint8"})
    normalized = [each for each in variants_of(plain, ["quantization"], file) if "as the model file says" in each.words]
    assert len(normalized) > 5 and all(spelled(each.plan)[-1] == "quantize 114" for each in normalized)
    quantized = planned("uint8", {"decode": None, "rescale": 255, "quantize": {"scale": 1.0}})
    (exact,) = [
        each for each in variants_of(quantized, ["quantization"], file) if "as the model file says" in each.words
    ]
    assert steps_of(exact.plan)[-1].parameters["scale"] == 0.02
    assert not [each for each in variants_of(planned("float32", {"decode": None}), ["quantization"], file)]


def test_where_a_plan_quantizes_as_the_file_says_the_real_values_before_it_are_tried() -> None:
    told = TensorInfo("input", "uint8", (1, 3, 32, 32), "NCHW", Quantization((0.02,), (114,)))
    file = ModelFile("onnx", "onnxruntime", (told,), (), None, None, None, (), {}, ())
    for zero_point, tried in ((114, 1), (0, 0)):
        steps = {"decode": None, "rescale": 255, "quantize": {"scale": 0.02, "zero_point": zero_point}}
        found = variants_of(planned("uint8", steps), ["normalization"], file)
        assert [each.words for each in found].count("the values that bytes stand for, as the model file says") == tried
    (exact,) = [
        each
        for each in variants_of(
            planned("uint8", {**steps, "quantize": {"scale": 0.02, "zero_point": 114}}), ["normalization"], file
        )
        if "stand for" in each.words
    ]
    mean, scale, quantize = steps_of(exact.plan)[1:4]
    byte = (200 - mean.parameters["values"]) / scale.parameters["divisor"] / quantize.parameters["scale"] + 114
    assert round(byte) == 200


@pytest.mark.parametrize("processing", [{}, {"layout": "NCHW"}])
def test_what_is_not_normalized_at_all_is_normalized_before_it_is_quantized(processing: dict[str, object]) -> None:
    """Such a plan ends in a cast; in its place, arithmetic would be done with the integers."""
    plan = planned("uint8", {"decode": None, "quantize": {"scale": 1 / 128, "zero_point": 128}, **processing})
    for each in variants_of(plan, ["normalization"]):
        names = [one.name for one in steps_of(each.plan)]
        assert names.count("quantize") == 1
        behind = names[names.index("quantize") + 1 :]
        assert not {"mean", "rescale", "normalize"} & set(behind), each.words
    (centred,) = [each for each in variants_of(plan, ["normalization"]) if each.words == "values from -1 to 1"]
    assert spelled(centred.plan)[:3] == ["mean 127.5", "rescale 127.5", "quantize 128"]


def test_common_edits_of_a_pitfall_start_ahead_of_rare_ones() -> None:
    plan = planned("float32", {"decode": None, "resize": {"dimensions": [224, 224]}, "rescale": 255})
    for name, first in (("cropping", "the centre 87.5 %"), ("normalization", "ImageNet's mean and deviation")):
        found = variants_of(plan, [name])
        assert max(found, key=lambda each: each.commonness).words == first
        assert sum(each.commonness for each in found) == pytest.approx(len(found))
    assert {each.commonness for each in variants_of(plan, ["resizing"])} == {1.0}


def test_a_crop_of_227_out_of_256_is_tried_and_finer_ones_go_by_the_pixel() -> None:
    plan = planned("float32", {"decode": None, "resize": {"dimensions": [227, 227]}})
    crops = {
        steps_of(each.plan)[1].parameters["short_side"]: each
        for each in variants_of(plan, ["cropping"])
        if steps_of(each.plan)[1].name == "resize"
    }
    assert 256 in crops
    sides = {steps_of(each.plan)[1].parameters["short_side"] for each in finer_variants(crops[256])}
    assert {253, 254, 255, 257, 258, 259} <= sides


def test_means_are_in_the_order_of_the_channels() -> None:
    for order, first in (("RGB", 123.675), ("BGR", 103.53)):
        plan = planned("float32", {"decode": {"color_layout": order}, "cast": "float32"})
        (found,) = [
            each for each in variants_of(plan, ["normalization"]) if each.words == "ImageNet's mean, no deviation"
        ]
        assert next(each for each in steps_of(found.plan) if each.name == "mean").parameters["values"][0] == first


def test_the_execution_provider_is_tried_on_the_cpu_where_it_is_another(plan: Plan) -> None:
    assert variants_of(plan, ["execution-provider"]) == []
    options = {**plan.predictor.options, "device": "cuda"}
    elsewhere = plan.model_copy(update={"predictor": plan.predictor.model_copy(update={"options": options})})
    (variant,) = variants_of(elsewhere, ["execution-provider"])
    assert variant.words == "on the CPU" and variant.plan.predictor.options["device"] == "cpu"


def test_another_software_stack_is_tried_only_where_it_is_named(plan: Plan) -> None:
    assert variants_of(plan, ["software-stack"]) == []


def test_no_edit_of_a_plan_is_another_split(plan: Plan) -> None:
    """Samples of another split have other answers, so nothing is tried."""
    assert variants_of(plan, ["split"]) == [] and ".8446" in explanation_of("split")


def test_a_plan_whose_steps_are_its_authors_own_code_has_no_variants(
    make_model: Callable, make_dataset: Callable, make_pictures: Callable, settings: Settings, tmp_path: Path
) -> None:
    from mlmodelscope import evaluate
    from mlmodelscope.errors import PlanError
    from mlmodelscope.replicate.replication import open_trials

    model = tmp_path / "model.yml"
    model.write_text(
        "name: own\nversion: 1.0.0\ntask: classification\ninputs: [{type: image}]\noutputs: [{type: classes}]\n"
        "preprocess:\n  gets: sample\n  code: |\n    def preprocess(ctx, data):\n        return [1.0]\n"
        "run: |\n  def run(ctx, data):\n      return data[0]\n"
        "postprocess: |\n  def postprocess(ctx, data):\n      return [0 for _ in data]\n"
    )
    record = evaluate(model, make_dataset(make_pictures(count=3)), trust=True, settings=settings)
    from mlmodelscope.watcher import Watcher

    with pytest.raises(PlanError, match="code of its own"):
        open_trials(record, settings, Watcher())


def names_of(plan: Plan, task: str, part: str) -> set[str]:
    assert plan.input is not None
    steps = {
        "text": (step("tokenize", file="vocabulary"),),
        "audio": (step("decode_audio"),),
        "columns": (step("columns", names=["a", "b"]),),
    }[part]
    other = plan.model_copy(
        update={"task": task, "inputs": (plan.input.model_copy(update={"part": part, "steps": steps}),)}
    )
    return {each.pitfalls[0] for each in variants_of(other)}


OF_CLASSES = {"label-offset", "label-order", "softmax", "tie-breaking"}


@pytest.mark.parametrize(
    ("task", "part"), [("text_classification", "text"), ("audio_classification", "audio"), ("regression", "columns")]
)
def test_what_is_no_picture_has_no_pitfalls_of_pictures(task: str, part: str) -> None:
    plan = planned("float32", {"decode": None, "resize": {"dimensions": [8, 8]}, "rescale": 255})
    of_pictures = {"color-layout", "decoding", "cropping", "resizing", "normalization", "letterbox", "data-layout"}
    found = names_of(plan, task, part)
    assert not found & of_pictures and found & OF_CLASSES == (OF_CLASSES if "class" in task else set())
