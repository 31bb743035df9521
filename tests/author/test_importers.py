"""What others write beside their models is read as they mean it, and what cannot be said is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.author.config_file import read_config
from mlmodelscope.author.importer import IMPORTERS, recognise
from mlmodelscope.author.make import Written, make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest.load import parse_manifest

from . import samples

MODELS = Path(__file__).parent.parent / "model_file" / "files"
Make = Callable[..., Written]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A manifest of one text."""

    def make_one(text: str | dict[str, Any], **flags: Any) -> Written:
        path = tmp_path / "config"
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return make_manifest(Request(configs=(path,), **flags))

    return make_one


def steps(written: Written) -> list[dict[str, Any]]:
    (image,) = [each for each in written.data["inputs"] if each["type"] == "image"]
    found: list[dict[str, Any]] = image["processing"]
    return found


@pytest.mark.parametrize("name", samples.TEXTS)
def test_every_kind_is_recognised_and_gives_a_right_manifest(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(samples.TEXTS[name])
    assert recognise(read_config(path)).name == samples.KINDS[name]
    written = make_manifest(Request(configs=(path,)))
    assert parse_manifest(written.text).name


@pytest.mark.parametrize("name", samples.TEXTS)
def test_every_kind_goes_with_a_model_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(samples.TEXTS[name])
    for model in ("onnx_logits.onnx", "keras_quantized.tflite", "torch_scripted.pt", "saved_model"):
        written = make_manifest(Request(model=MODELS / model, configs=(path,)))
        assert parse_manifest(written.text).name


def test_every_importer_has_a_sample_and_a_line_of_documentation() -> None:
    assert {*samples.KINDS.values(), "huggingface_template"} == set(IMPORTERS)  # a template is told by its name
    page = (Path(__file__).parents[2] / "docs" / "init.md").read_text()
    for known in IMPORTERS.values():
        assert known.meaning
        assert f"`{known.name}`" in page


def test_vit_squeezes_the_whole_image(make: Make) -> None:
    assert steps(make(samples.VIT)) == [
        {"decode": {"library": "pillow", "color_layout": "RGB"}},
        {"resize": {"dimensions": [224, 224], "method": "bilinear", "library": "pillow"}},
        {"rescale": 255},
        {"normalize": {"mean": 0.5, "std": 0.5}},
        {"layout": "NCHW"},
    ]


def test_convnext_cuts_below_384_and_squeezes_from_there_on(make: Make) -> None:
    small, large = steps(make(samples.CONVNEXT)), steps(make({**samples.CONVNEXT, "size": 384}))
    assert small[1]["resize"]["short_side"] == 256
    assert small[2]["crop"]["dimensions"] == [224, 224]
    assert large[1]["resize"]["dimensions"] == [384, 384]
    assert "crop" not in large[2]


def test_clip_keeps_the_shorter_side_and_cuts(make: Make) -> None:
    resize, crop = steps(make(samples.CLIP))[1:3]
    assert resize["resize"] == {"short_side": 224, "rounding": "floor", "method": "bicubic", "library": "pillow"}
    assert crop["crop"] == {"method": "center", "dimensions": [224, 224], "offset": "floor"}


def test_a_fast_processor_does_as_torchvision_does(make: Make) -> None:
    resize, crop = steps(make({**samples.CLIP, "image_processor_type": "CLIPImageProcessorFast"}))[1:3]
    assert resize["resize"]["library"] == "torchvision"
    assert crop["crop"]["offset"] == "round"


def test_levit_has_a_rule_of_its_own(make: Make) -> None:
    levit = {**samples.CLIP, "image_processor_type": "LevitImageProcessor", "size": {"shortest_edge": 224}}
    assert steps(make(levit))[1]["resize"]["short_side"] == 256


def test_an_efficientnet_is_divided_twice_and_shifted(make: Make) -> None:
    assert steps(make(samples.EFFICIENTNET))[2:6] == [
        {"rescale": 127.5},
        {"mean": 1},
        {"normalize": {"mean": 0.5, "std": 0.5}},
        {"rescale": 0.5},
    ]


def test_a_detectors_longest_edge_is_named_not_dropped(make: Make) -> None:
    written = make(samples.DETR)
    assert written.data["task"] == "object_detection"
    assert written.data["attributes"]["preprocessor_config"]["size.longest_edge"] == 1333
    assert any("longest_edge" in what for what in written.draft.unknown)
    assert "not expressed: preprocessor_config.size.longest_edge" in written.text


def test_what_a_processor_turns_off_is_off(make: Make) -> None:
    off = {**samples.VIT, "do_resize": False, "do_rescale": False, "do_normalize": False}
    assert [name for step in steps(make(off)) for name in step] == ["decode", "layout"]


def test_a_field_nobody_knows_is_kept_and_named(make: Make) -> None:
    written = make({**samples.VIT, "do_magic": {"strength": 7}})
    assert written.data["attributes"]["preprocessor_config"]["do_magic"] == {"strength": 7}
    assert "do_magic" in written.text.split("name:")[0]


def test_sound_gets_no_image_steps(make: Make) -> None:
    written = make({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000, "do_normalize": True})
    assert written.data["inputs"][0]["type"] == "tensor"
    assert "sampling_rate" in written.text


def test_a_missing_mean_is_a_guess_that_says_so(make: Make) -> None:
    bare = {key: value for key, value in samples.VIT.items() if key not in ("image_mean", "image_std")}
    written = make(bare)
    assert any(guess.where == "normalize" for guess in written.draft.guesses)


def test_the_architecture_tells_the_task_and_the_names_become_a_file(tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(samples.VIT))
    (tmp_path / "config.json").write_text(json.dumps(samples.HF_CONFIG))
    written = make_manifest(Request(configs=(tmp_path,), output=tmp_path / "toy.yml"))
    assert written.data["task"] == "classification"
    assert written.labels_path == tmp_path / "toy.labels.txt"
    assert written.labels_text == "cat\ndog\nbird\nfish\n"
    assert written.data["outputs"][0]["features_url"] == "toy.labels.txt"


def test_holes_among_names_keep_their_place(make: Make) -> None:
    written = make({**samples.HF_CONFIG, "id2label": {"0": "cat", "2": "bird"}})
    assert written.draft.labels == ("cat", "", "bird")


def test_timm_resizes_to_the_floor_of_size_by_share(make: Make) -> None:
    found = steps(make(samples.TIMM))
    assert found[1]["resize"]["short_side"] == 235  # floor(224 / 0.95)
    assert found[2]["crop"] == {"method": "center", "dimensions": [224, 224], "offset": "round"}
    assert found[3:5] == [
        {"rescale": 255},
        {"normalize": {"mean": samples.IMAGENET_MEAN, "std": samples.IMAGENET_STD}},
    ]


def test_timms_other_size_for_tests_is_named(make: Make) -> None:
    written = make(samples.TIMM)
    assert written.data["attributes"]["timm"]["test_input_size"] == [3, 288, 288]
    assert written.data["license"] == "apache-2.0"


@pytest.mark.parametrize(
    ("mode", "step", "key"),
    [("squash", "resize", "dimensions"), ("border", "fit", "mode"), ("center", "resize", "short_side")],
)
def test_timm_has_three_ways_to_crop(make: Make, mode: str, step: str, key: str) -> None:
    cfg = {**samples.TIMM["pretrained_cfg"], "crop_mode": mode}
    assert key in steps(make(cfg))[1][step]


def test_a_printed_dictionary_is_read_without_running_it(make: Make) -> None:
    written = make(samples.TIMM_PRINTED)
    assert steps(written)[1]["resize"]["short_side"] == 333  # floor(299 / 0.8975)
    assert "label_offset" not in written.data["outputs"][0]  # timm itself has taken the background out


def test_torchvisions_preset_and_its_results(make: Make) -> None:
    written = make(json.dumps(samples.TORCHVISION).replace("80.85", "80.850"))
    assert steps(written)[1:3] == [
        {
            "resize": {
                "short_side": 232,
                "rounding": "floor",
                "method": "bilinear",
                "library": "pillow",
                "antialias": True,
            }
        },
        {"crop": {"method": "center", "dimensions": [224, 224], "offset": "round"}},
    ]
    top1, top5 = parse_manifest(written.text).claims  # type: ignore[attr-defined]
    assert (top1.metric, top1.value, top1.dataset) == ("top1", "80.850", "imagenet-val")
    assert (top5.metric, top5.value) == ("top5", "95.434")


def test_torchvisions_parameters_may_be_a_mapping_or_a_partial(make: Make) -> None:
    preset = "<class 'torchvision.transforms._presets.ImageClassification'>"
    partial = f"functools.partial({preset}, crop_size=224, resize_size=232)"
    mapping = {"type": "ImageClassification", "crop_size": [224], "resize_size": [232]}
    for transforms in (partial, mapping):
        assert steps(make({**samples.TORCHVISION, "transforms": transforms}))[1]["resize"]["short_side"] == 232


def test_torchvisions_detectors_normalise_inside(make: Make) -> None:
    written = make({**samples.TORCHVISION, "transforms": "ObjectDetection()"})
    assert [name for step in steps(written) for name in step] == ["decode", "rescale", "layout"]


def test_the_first_model_and_launcher_is_taken_and_said(make: Make) -> None:
    written = make(samples.ACCURACY_CHECK)
    assert written.data["name"] == "toynet-onnx"
    assert written.data["framework"]["name"] == "onnxruntime"
    assert "toynet with dlsdk" in written.text
    assert steps(written)[:5] == [
        {"decode": {"library": "pillow", "color_layout": "RGB"}},
        {"resize": {"short_side": 256, "rounding": "floor", "method": "bilinear", "library": "pillow"}},
        {"crop": {"method": "center", "offset": "round", "dimensions": [224, 224]}},
        {"rescale": 255},
        {"normalize": {"mean": samples.IMAGENET_MEAN, "std": samples.IMAGENET_STD}},
    ]


def test_references_become_claims_in_percent_with_their_digits(make: Make) -> None:
    top1, top5 = parse_manifest(make(samples.ACCURACY_CHECK).text).claims  # type: ignore[attr-defined]
    assert (top1.metric, top1.value) == ("top1", "76.120")
    assert "0.76120" in top1.source
    assert (top5.metric, top5.value) == ("top5", "92.858")


def test_a_launcher_can_be_named(make: Make) -> None:
    written = make(samples.ACCURACY_CHECK, launcher="openvino")
    assert written.data["name"] == "toynet"
    assert steps(written)[0]["decode"] == {"library": "opencv", "color_layout": "BGR", "exif": "apply"}
    assert make(samples.ACCURACY_CHECK, model_name="toynet").data["framework"]["name"] == "openvino"
    with pytest.raises(UsageError, match="toynet with dlsdk"):
        make(samples.ACCURACY_CHECK, launcher="mxnet")


def test_the_launcher_that_runs_the_file_is_preferred(tmp_path: Path) -> None:
    path = tmp_path / "accuracy-check.yml"
    path.write_text(samples.ACCURACY_CHECK)
    assert make_manifest(Request(model=MODELS / "openvino.xml", configs=(path,))).data["name"] == "toynet"
    assert make_manifest(Request(model=MODELS / "onnx_logits.onnx", configs=(path,))).data["name"] == "toynet-onnx"


def test_what_a_checker_does_and_we_cannot_is_named_in_its_place(make: Make) -> None:
    written = make(samples.ACCURACY_CHECK_DETECTION)
    assert written.data["task"] == "object_detection"
    kept = written.data["attributes"]["accuracy_check"]
    assert {"type": "flip", "mode": "horizontal"} in kept.values()
    for word in ("flip", "auto_resize", "frcnn_keep_aspect_ratio", "resize_prediction_boxes", "mae", "im_info"):
        assert word in written.text
    assert kept["annotation_conversion"]["converter"] == "mscoco_detection"
    assert [claim["metric"] for claim in written.data["claims"]] == ["map"]
    assert {output["type"]: output["layer_name"] for output in written.data["outputs"]} == {
        "boxes": "boxes",
        "scores": "scores",
        "classes": "labels",
    }


def test_references_by_class_become_claims_and_spreads_do_not(make: Make) -> None:
    text = samples.ACCURACY_CHECK_SEGMENTATION.replace("0.6841", "{mean: 0.6841, std: 0.01, car: 0.5}")
    written = make(text)
    assert [(claim["metric"], str(claim["value"].text)) for claim in written.data["claims"]] == [
        ("mean_iou", "68.41"),
        ("mean_iou.car", "50"),
    ]
    assert any("std" in what for what in written.draft.unknown)


def test_definitions_of_datasets_may_be_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "check.yml").write_text(samples.ACCURACY_CHECK)
    background = "datasets: [{name: imagenet_1000_classes, annotation_conversion: {has_background: true}}]"
    (tmp_path / "definitions.yml").write_text(background)
    written = make_manifest(Request(configs=(tmp_path / "check.yml", tmp_path / "definitions.yml")))
    assert written.data["outputs"][0]["label_offset"] == 1


def test_auto_resize_takes_the_files_size(tmp_path: Path) -> None:
    path = tmp_path / "accuracy-check.yml"
    path.write_text(samples.ACCURACY_CHECK_DETECTION)
    written = make_manifest(Request(model=MODELS / "openvino.xml", configs=(path,)))
    assert {"resize": {"dimensions": [8, 8], "method": "bilinear", "library": "opencv"}} in steps(written)


def test_fitting_into_a_window_and_padding(make: Make) -> None:
    found = steps(make(samples.ACCURACY_CHECK_SEGMENTATION))
    assert found[0]["decode"]["color_layout"] == "GRAY"
    assert found[1]["resize"] == {"max_dimension": 513, "rounding": "floor", "method": "lanczos", "library": "pillow"}
    assert found[2]["pad"] == {"dimensions": [513, 513], "method": "top_left", "value": [128, 128, 128]}


def test_swapping_channels_swaps_whatever_comes(make: Make) -> None:
    text = samples.ACCURACY_CHECK.replace("- {type: normalization, std: 255}", "- {type: bgr_to_rgb}")
    assert {"color": "BGR"} in steps(make(text))  # pillow had read RGB


def test_code_of_its_own_is_refused_with_its_name(make: Make) -> None:
    with pytest.raises(ManifestError, match=r"custom\.Evaluator"):
        make("evaluations: [{name: x, module: custom.Evaluator, module_config: {}}]")


def test_a_conversions_mean_is_a_step_for_the_original_only(make: Make) -> None:
    original, converted = make(samples.MODEL_YML), make(samples.MODEL_YML, launcher="openvino")
    assert {"normalize": {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375]}} in steps(original)
    assert steps(original)[0]["decode"]["color_layout"] == "RGB"
    assert steps(converted)[0]["decode"]["color_layout"] == "BGR"
    assert not any("normalize" in step for step in steps(converted))
    assert "inside the converted model" in converted.text


def test_a_zoos_files_become_the_source(make: Make) -> None:
    written = make(samples.MODEL_YML)
    assert written.data["source"]["graph_path"] == "https://example.org/toynet.onnx"
    assert written.data["source"]["graph_checksum"].startswith("sha384:")
    assert written.data["license"] == "https://example.org/LICENSE"
    assert "google_drive" in written.text


def test_the_zoos_two_files_complete_one_another(tmp_path: Path) -> None:
    (tmp_path / "model.yml").write_text(samples.MODEL_YML)
    (tmp_path / "accuracy-check.yml").write_text(
        samples.ACCURACY_CHECK.split("  - name: toynet\n")[0].replace("onnx_runtime", "dlsdk")
    )
    written = make_manifest(Request(model=MODELS / "onnx_logits.onnx", configs=(tmp_path,)))
    assert written.data["framework"]["name"] == "onnxruntime"
    assert {"normalize": {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375]}} in steps(written)


def test_an_unknown_configuration_is_refused_with_what_is_known(make: Make) -> None:
    with pytest.raises(ManifestError, match="known: accuracy_checker"):
        make({"hello": 1})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"size": {"height": -4, "width": 4}}, "size.height"),
        ({"size": "large"}, "size"),
        ({"image_std": [0, 1, 1]}, "divided by"),
        ({"image_mean": [1, 2, 3, 4, 5]}, "four channels"),
        ({"resample": 17}, "resample"),
        ({"rescale_factor": 0}, "rescale_factor"),
        ({"crop_pct": 0}, "crop_pct"),
        ({"do_resize": "perhaps"}, "true or false"),
    ],
)
def test_nonsense_is_refused_where_it_stands(make: Make, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ManifestError, match=complaint):
        make({**samples.VIT, **changes})
