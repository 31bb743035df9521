"""What the rules see beyond the examples of their pages."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.lint.check import check_text

from .conftest import Say
from .samples import CLOUD20_FRAMEWORK, DLSPEC_HARDWARE, DLSPEC_SOFTWARE, LISTING1, SAMPLES, V1A, V1B, V2

ROOT = Path(__file__).parent.parent.parent
MODEL_FILES = Path(__file__).parent.parent / "model_file" / "files"
Codes = Callable[..., set[str]]


def test_a_right_manifest_gives_no_findings(say: Say) -> None:
    assert say() == []


@pytest.mark.parametrize("path", sorted((ROOT / "manifests").rglob("*.yml")), ids=lambda path: path.stem)
def test_a_shipped_manifest_gives_no_warning(path: Path) -> None:
    subject, found = check_text(path.read_bytes(), str(path), path.parent)
    assert subject.manifest is not None
    assert [str(each) for each in found if each.severity != "info"] == []
    assert len(found) <= 3


def test_swapped_images_are_told_once_and_where(say: Say) -> None:
    found = [each for each in say(V1A) if each.code == "M020"]
    assert [(each.line, each.path) for each in found] == [(7, "container.amd64")]
    wrong = [each for each in say(V1A) if each.code == "M021"]
    assert [each.path for each in wrong] == ["container.ppc64le.cpu"]


def test_images_inside_the_framework_are_found_where_they_stand(say: Say) -> None:
    text = LISTING1.replace("1.13.0-cpu", "x").replace("1.13.0-gpu", "1.13.0-cpu").replace(":x", ":1.13.0-gpu")
    found = next(each for each in say(text) if each.code == "M020")
    assert text.splitlines()[found.line - 1].strip() == "amd64:"


def test_one_image_for_all_devices_is_not_wrong_for_one(codes: Codes) -> None:
    assert not codes(DLSPEC_SOFTWARE) & {"M020", "M021"}


def test_an_image_for_another_architecture_or_a_moving_one_is_told(say: Say) -> None:
    found = {each.code: each for each in say(CLOUD20_FRAMEWORK)}
    assert found["M023"].path == "container.ppc64le.cpu"
    assert any(each.code == "M024" and each.severity == "warning" for each in say(CLOUD20_FRAMEWORK))


@pytest.mark.parametrize("image", ["pytorch/pytorch:1.8-cuda", "example/carml-caffe2:cpu", "nvcr.io/nvidia/caffe2:20"])
def test_an_image_that_holds_the_framework_is_not_foreign(codes: Codes, image: str) -> None:
    assert "M022" not in codes(framework={"name": "Caffe2"}, container={"amd64": {"cpu": image, "gpu": image}})


def test_caffe_is_not_caffe2(codes: Codes) -> None:
    assert "M022" in codes(framework={"name": "Caffe2"}, container={"amd64": {"cpu": "example/caffe:cpu"}})


def test_a_version_whose_zero_would_be_lost_says_so(say: Say) -> None:
    found = [each for each in say(V1B) if each.code == "M030"]
    assert "other programs read 1.1" in found[0].message and "other programs" not in found[1].message


def test_an_empty_checksum_is_told_once(say: Say) -> None:
    found = [each for each in say(V1A) if each.code in ("M040", "M041")]
    assert [(each.code, each.path) for each in found] == [("M041", "model.weights_checksum")]


def test_a_missing_checksum_is_told_for_files_of_the_network(say: Say, tmp_path: Path) -> None:
    assert [each.severity for each in say(source__graph_checksum=None) if each.code == "M040"] == ["warning"]
    (tmp_path / "toy.json").write_text("{}")
    found = say(source={"graph_path": "toy.json"})
    assert [each.severity for each in found if each.code == "M040"] == ["info"]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ({"mean": [123.68, 116.78, 103.94], "rescale": [58.4, 57.1, 57.4]}, set()),
        ({"mean": 127.5, "rescale": 127.5}, set()),
        ({"rescale": 127.5, "mean": 1}, set()),
        ({"rescale": 255, "normalize": {"mean": 0.5, "std": 0.5}}, set()),
        ({"mean": 0, "rescale": 1}, set()),
        ({"rescale": 255, "cast": {"element_type": "uint8", "mode": "scale"}, "mean": 127.5}, set()),
        ({"rescale": 255, "cast": {"element_type": "float32", "mode": "scale"}}, {"M052"}),
        ({"rescale": 255, "normalize": {"mean": [0.406, 0.456, 0.485], "std": 0.225}}, {"M055"}),
        ({"mean": [0.485, 0.456, 0.406], "rescale": 255}, {"M050"}),
        ({"normalize": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}, {"M050"}),
        ({"rescale": 255, "mean": [123.68, 116.78, 103.94]}, {"M051"}),
        ({"cast": {"element_type": "float32", "mode": "scale"}, "rescale": 255}, {"M052"}),
        ({"cast": {"element_type": "float32", "mode": "scale"}, "normalize": {"mean": 0.45, "std": 57}}, {"M053"}),
        ({"mean": [103.94, 116.78, 123.68], "rescale": 58.8}, {"M055"}),
    ],
)
def test_means_and_divisors_must_suit_the_pixels(codes: Codes, steps: dict[str, Any], expected: set[str]) -> None:
    assert codes(inputs__0__processing={"decode": {"color_layout": "RGB"}, **steps}) == expected


def test_the_order_of_a_mean_is_judged_after_the_colours_are_turned(codes: Codes) -> None:
    mean = [103.94, 116.78, 123.68]
    assert "M055" not in codes(inputs__0__processing={"decode": None, "color": "BGR", "mean": mean})
    assert "M055" in codes(inputs__0__processing={"decode": None, "mean": mean, "color": "BGR"})


def test_inception_crops_first_and_resnet_last(codes: Codes) -> None:
    first = {"decode": None, "crop": {"percentage": 87.5}, "resize": {"dimensions": [299, 299]}}
    assert "M060" not in codes(name="inception_resnet_v2", inputs__0__processing=first)
    assert "M060" in codes(name="ResNet50", inputs__0__processing=first)
    assert "M060" not in codes(name="mine", inputs__0__processing=first)


def test_the_same_part_of_the_image_in_another_order_is_only_good_to_know(say: Say) -> None:
    assert [each.severity for each in say(LISTING1) if each.code == "M060"] == ["info"]


def with_file(tmp_path: Path, name: str) -> str:
    shutil.copy(MODEL_FILES / name, tmp_path / name)
    return name


def test_a_softmax_too_few_or_too_many_is_told(codes: Codes, tmp_path: Path) -> None:
    logits = {"graph_path": with_file(tmp_path, "onnx_logits.onnx")}
    softmax = {"graph_path": with_file(tmp_path, "onnx_softmax.onnx")}
    assert "M071" in codes(source=logits)
    assert "M071" not in codes(source=softmax)
    assert "M071" in codes(source=softmax, outputs=[{"type": "logits", "processing": ["softmax"]}])
    assert "M071" in codes(source=softmax, outputs=[{"type": "logits"}])
    assert "M071" not in codes(source=logits, outputs=[{"type": "logits", "processing": ["softmax"]}])


def test_layers_are_compared_with_the_file(say: Say, tmp_path: Path) -> None:
    from mlmodelscope.model_file.describe import describe_model

    source = {"graph_path": with_file(tmp_path, "onnx_logits.onnx")}
    tensor = describe_model(tmp_path / "onnx_logits.onnx").inputs[0]
    right = {"type": "tensor", "layer_name": tensor.name, "element_type": tensor.element_type}
    assert not [each for each in say(source=source, inputs=[right]) if each.code == "M073"]
    for changes, about in (
        ({"layer_name": "nothing"}, "no input `nothing`"),
        ({"layer_name": 7}, "no number 7"),
        ({"element_type": "uint8"}, "the element type is uint8"),
        ({"shape": [1, 2]}, "the shape is [1, 2]"),
    ):
        found = [each for each in say(source=source, inputs=[{**right, **changes}]) if each.code == "M073"]
        assert len(found) == 1 and about in found[0].message


def test_an_image_of_the_wrong_size_or_layout_is_told(say: Say) -> None:
    text = (ROOT / "manifests" / "models" / "efficientnet-lite0.yml").read_text()
    text = text.replace("graph_path: ", f"graph_path: {ROOT}/manifests/models/")
    assert not [each for each in say(text) if each.code == "M073"]
    layout = [each.message for each in say(text.replace("layout: NCHW", "layout: NHWC")) if each.code == "M073"]
    assert layout == ["the layout is NHWC, in the model's file NCHW"]
    size = [each.message for each in say(text.replace("[3, 224, 224]", "[3, 240, 240]")) if each.code == "M073"]
    assert size == ["the image becomes 240 x 240, the model's file wants 224 x 224"]


def test_a_file_of_another_framework_is_told(codes: Codes, tmp_path: Path) -> None:
    source = {"graph_path": with_file(tmp_path, "keras_float.tflite")}
    assert "M074" in codes(source=source, framework={"name": "pytorch"})
    assert "M074" not in codes(source=source, framework={"name": "TensorFlow Lite"})


def test_a_list_of_classes_that_is_too_short_is_told_with_a_hint(say: Say, tmp_path: Path) -> None:
    source = {"graph_path": str(ROOT / "manifests" / "models" / "graphs" / "resnet20-cifar10.onnx")}

    def about(count: int, **output: Any) -> list[Any]:
        (tmp_path / "classes.txt").write_text("".join(f"class {number}\n" for number in range(count)))
        outputs = [{"type": "logits", "features_url": "classes.txt", **output}]
        return [each for each in say(source=source, outputs=outputs) if each.code == "M072"]

    assert about(10) == []
    assert "label_offset" in str(about(9)[0].hint) and about(9)[0].line > 0
    assert about(9, label_offset=1) == []
    assert about(100)[0].hint is None and "100 classes" in about(100)[0].message


def test_a_file_that_is_missing_or_no_model_is_told(say: Say, tmp_path: Path) -> None:
    assert "M076" in {each.code for each in say(source__graph_path="nothing.onnx")}
    with_checksum = say(source={"graph_path": "nothing.onnx", "graph_checksum": "sha256:" + "0" * 64})
    (found,) = (each for each in with_checksum if each.code == "M076")
    assert found.severity in (None, "warning")  # there is no mirror that could have it
    (tmp_path / "page.onnx").write_text("<!doctype html><p>please log in")
    assert "M075" in {each.code for each in say(source__graph_path="page.onnx")}


@pytest.mark.parametrize(
    ("url", "moves"),
    [
        ("https://github.com/o/r/raw/master/x.onnx", True),
        ("https://github.com/o/r/archive/refs/heads/x.zip", True),
        ("https://github.com/o/r/releases/latest/download/x.onnx", True),
        ("https://raw.githubusercontent.com/o/r/main/x.onnx", True),
        ("https://huggingface.co/o/r/resolve/main/x.onnx", True),
        ("https://github.com/o/master/raw/v1.0/x.onnx", False),
        ("https://github.com/o/r/releases/download/v1/x.onnx", False),
        ("https://huggingface.co/o/r/resolve/8f2a1c7/main.onnx", False),
        ("https://example.org/main/x.onnx", False),
    ],
)
def test_an_address_that_can_change_is_told(say: Say, url: str, moves: bool) -> None:
    found = [each for each in say(source={"graph_path": url}) if each.code == "M080"]
    assert [each.severity for each in found] == (["warning"] if moves else [])


def test_a_checksum_makes_a_moving_address_only_good_to_know(say: Say) -> None:
    found = say(source__graph_path="https://github.com/o/r/raw/master/x.onnx")
    assert [(each.code, each.severity) for each in found] == [("M080", "info")]


def test_a_password_in_an_address_is_not_repeated(say: Say) -> None:
    found = say(source={"graph_path": "https://me:secret@github.com/o/r/raw/master/x.onnx?token=secret"})
    assert found and not any("secret" in str(each) for each in found)


def test_carried_code_is_listed_with_its_lines_and_digest(say: Say) -> None:
    from mlmodelscope.manifest.load import parse_manifest
    from mlmodelscope.manifest.trust import code_digest

    found = {each.code: each for each in say(V2)}
    runs = found["M110"].message
    first = V2.splitlines().index("  import numpy as np") + 1
    assert f"preprocess (line {first}, 3 lines)" in runs and "postprocess" in runs and "setup" in runs
    assert str(code_digest(parse_manifest(V2))) in str(found["M110"].hint)
    told = [each.message for each in say(V2) if each.code == "M111"]
    assert told == [
        "the code of `setup` uses `os` (the system)",
        "the code of `postprocess` uses `open() for writing` (files)",
    ]


def test_commands_for_the_machine_are_listed(say: Say) -> None:
    found = next(each for each in say(DLSPEC_HARDWARE) if each.code == "M112")
    assert "nvidia-smi -pm 1; echo 1 >" in found.message and "before anything" not in found.message


def test_a_fraction_is_no_claim_in_percent(say: Say) -> None:
    found = next(each for each in say(V2) if each.code == "M101")
    assert found.hint == "in percent it is 56.52"


def test_every_finding_has_a_place_in_the_file(say: Say) -> None:
    for text in SAMPLES.values():
        for found in say(text):
            assert 1 <= found.line <= len(text.splitlines()) and found.column >= 1 and found.severity


def test_an_image_that_would_run_is_told_unless_a_stack_is_built(say: Say) -> None:
    found = [each for each in say(DLSPEC_SOFTWARE) if each.code == "M113"]
    assert [each.path for each in found] == ["container"] and "--trust" in (found[0].hint or "")
    stack = (
        "name: s\nversion: 1.0.0\nframework: {name: fake}\nstack: {python: '3.11'}\ncontainer: {any: {cpu: 'a/b:1'}}\n"
    )
    assert not [each for each in say(stack) if each.code == "M113"]
