"""A model file alone gives a manifest that says what it knows, and marks what it supposes."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.author import make as making
from mlmodelscope.author.draft import Draft, Fact
from mlmodelscope.author.make import make_manifest, write_files
from mlmodelscope.author.request import Request
from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFile, Quantization, TensorInfo

from . import samples

MODELS = Path(__file__).parent.parent / "model_file" / "files"
EVERY = sorted(path.name for path in MODELS.iterdir() if path.name != "torch_state_dict.pt")


def tensor(name: str, *shape: int | None, kind: str | None = "float32", **more: Any) -> TensorInfo:
    return TensorInfo(name, kind, shape, **more)


IMAGE = tensor("input", None, 3, 32, 32, layout="NCHW")


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A manifest of a file that says just this."""
    base = describe_model(MODELS / "onnx_logits.onnx")

    def make_one(
        *outputs: TensorInfo, inputs: tuple[TensorInfo, ...] = (IMAGE,), flags: Any = None, **more: Any
    ) -> Any:
        model: ModelFile = replace(base, inputs=inputs, outputs=outputs, metadata={}, labels=(), **more)
        monkeypatch.setattr(making, "describe_model", lambda path, **_: model)
        written = make_manifest(Request(model=MODELS / "onnx_logits.onnx", **(flags or {})))
        parse_manifest(written.text)
        return written

    yield make_one


@pytest.mark.parametrize("name", EVERY)
def test_every_format_gives_a_right_manifest(name: str, tmp_path: Path) -> None:
    output = tmp_path / "model.yml"
    written = make_manifest(Request(model=MODELS / name, output=output))
    write_files(written, output, force=False)
    manifest = load_manifest(output)
    assert manifest.inputs[0].type == "image"  # type: ignore[attr-defined]
    assert Path(manifest.source.graph_path).resolve() == (MODELS / name).resolve()  # type: ignore[attr-defined]


def test_the_checksum_is_the_files() -> None:
    path = MODELS / "onnx_softmax.onnx"
    written = make_manifest(Request(model=path))
    assert written.data["source"]["graph_checksum"] == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    folder = make_manifest(Request(model=MODELS / "saved_model"))
    assert "graph_checksum" not in folder.data["source"]
    assert "checksum of a folder" in folder.text


def test_no_normalisation_is_invented() -> None:
    written = make_manifest(Request(model=MODELS / "onnx_logits.onnx"))
    assert [name for step in written.data["inputs"][0]["processing"] for name in step] == ["decode", "resize", "layout"]
    assert "# - normalize: {mean: [0.485" in written.text
    assert "guess: this is usual for networks trained on ImageNet" in written.text


def test_what_a_files_metadata_says_is_no_guess() -> None:
    written = make_manifest(Request(model=MODELS / "metadata.tflite"))
    assert {"normalize": {"mean": 127.5, "std": 127.5}} in written.data["inputs"][0]["processing"]
    assert "# - " not in written.text


def test_the_end_of_the_graph_tells_logits_from_probabilities() -> None:
    logits = make_manifest(Request(model=MODELS / "onnx_logits.onnx")).data["outputs"][0]
    softmax = make_manifest(Request(model=MODELS / "onnx_softmax.onnx")).data["outputs"][0]
    assert (logits["type"], logits["processing"]) == ("logits", [{"softmax": None}])
    assert softmax["type"] == "probability"
    assert "processing" not in softmax


def test_where_the_end_cannot_be_told_the_name_is_taken_and_marked(pretend: Any) -> None:
    written = pretend(tensor("prob", 1, 10), ends_in_softmax=None)
    assert written.data["outputs"][0]["type"] == "probability"
    assert any(guess.where == "outputs.prob.type" for guess in written.draft.guesses)


def test_a_quantised_input_gets_the_pixel_as_it_is_unless_it_is_normalised(pretend: Any) -> None:
    written = make_manifest(Request(model=MODELS / "keras_quantized.tflite"))
    assert {"cast": {"element_type": "uint8", "mode": "saturate"}} in written.data["inputs"][0]["processing"]
    assert written.data["outputs"][0]["processing"] == [{"dequantize": {"scale": 0.00390625}}]
    said = make_manifest(Request(model=MODELS / "keras_quantized.tflite", mean="127.5", std="127.5"))
    assert said.data["inputs"][0]["processing"][-2]["quantize"]["element_type"] == "uint8"
    signed = tensor("input", 1, 8, 8, 3, kind="int8", layout="NHWC", quantization=Quantization((0.0078125,), (0,)))
    steps = pretend(tensor("out", 1, 10), inputs=(signed,)).data["inputs"][0]["processing"]
    assert {"mean": 128} in steps


def test_a_thousand_and_one_outputs_have_a_background(pretend: Any) -> None:
    assert pretend(tensor("out", 1, 1001)).data["outputs"][0]["label_offset"] == 1
    assert "label_offset" not in pretend(tensor("out", 1, 1000)).data["outputs"][0]
    assert pretend(tensor("out", 1, 1001), flags={"label_offset": 0}).data["outputs"][0]["label_offset"] == 0


def test_a_detector_is_told_by_its_outputs(pretend: Any) -> None:
    def kinds(*outputs: TensorInfo) -> list[str]:
        written = pretend(*outputs)
        assert written.data["task"] == "object_detection"
        return [output["type"] for output in written.data["outputs"]]

    named = (
        tensor("detection_boxes", 1, 100, 4),
        tensor("detection_classes", 1, 100),
        tensor("detection_scores", 1, 100),
        tensor("num_detections", 1),
    )
    assert kinds(*named) == ["boxes", "classes", "scores", "tensor"]
    nameless = tuple(
        tensor(f"call:{index}", *shape) for index, shape in enumerate([(1, 10, 4), (1, 10), (1, 10), (1,)])
    )
    assert kinds(*nameless) == ["boxes", "classes", "scores", "tensor"]
    assert kinds(tensor("logits", 1, 100, 92), tensor("pred_boxes", 1, 100, 4)) == ["scores", "boxes"]
    assert kinds(tensor("detection_out", 1, 1, 200, 7)) == ["boxes"]
    assert kinds(tensor("output0", 1, 84, 8400)) == ["tensor"]


def test_a_map_of_the_image_is_a_segmentation(pretend: Any) -> None:
    written = pretend(tensor("out", 1, 21, 32, 32))
    assert (written.data["task"], written.data["outputs"][0]["type"]) == ("semantic_segmentation", "masks")


def test_what_is_no_image_is_a_tensor(pretend: Any) -> None:
    tokens = tensor("input_ids", None, 128, kind="int64")
    written = pretend(tensor("logits", None, 2), inputs=(tokens,))
    assert written.data["inputs"][0] == {
        "type": "tensor",
        "layer_name": "input_ids",
        "element_type": "int64",
        "shape": [-1, 128],
    }
    both = pretend(tensor("out", 1, 10), inputs=(tensor("im_info", 1, 3), IMAGE))
    assert [each["type"] for each in both.data["inputs"]] == ["tensor", "image"]


def test_grey_images_are_decoded_grey(pretend: Any) -> None:
    written = pretend(tensor("out", 1, 10), inputs=(tensor("input", 1, 1, 28, 28),))
    assert written.data["inputs"][0]["processing"][0]["decode"]["color_layout"] == "GRAY"
    assert "layout: NCHW  # guess" in written.text


@pytest.mark.parametrize("name", ["a: b", "x # y", "é\u2028\x85", "\ud800", "", "null", "[1]", "a\nb", "'\"", "%TAG"])
def test_odd_names_of_tensors_survive_or_are_left_out(pretend: Any, name: str) -> None:
    written = pretend(tensor(name, 1, 10), inputs=(replace(IMAGE, name=name),), producer=name)
    said = parse_manifest(written.text).outputs[0].layer_name  # type: ignore[attr-defined]
    assert said == name or (said is None and not (name and name.isprintable()))


def test_flags_replace_what_was_found() -> None:
    request = Request(
        model=MODELS / "onnx_logits.onnx",
        name="toy",
        version="2.1.0",
        task="classification",
        color="bgr",
        library="opencv",
        resize="10",
        method="area",
        scale="255",
        mean="0.485,0.456,0.406",
        std="0.229,0.224,0.225",
        license="MIT",
        description="A toy.",
        framework_version="^1.10",
        dataset="imagenet-70",
        claims=("top1=75.10@imagenet-val:https://example.org",),
    )
    written = make_manifest(request)
    assert written.data["inputs"][0]["processing"] == [
        {"decode": {"library": "opencv", "color_layout": "BGR"}},
        {"resize": {"short_side": 10, "method": "area", "library": "opencv"}},
        {"crop": {"method": "center", "dimensions": [8, 8]}},
        {"rescale": 255},
        {"normalize": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}},
        {"layout": "NCHW"},
    ]
    assert written.draft.guesses == []
    manifest: Any = parse_manifest(written.text)
    assert (manifest.reference, manifest.framework.version) == ("toy@2.1.0", "^1.10")
    claim = manifest.claims[0]
    assert (claim.metric, claim.value, claim.dataset, claim.source) == (
        "top1",
        "75.10",
        "imagenet-val",
        "https://example.org",
    )


def test_a_share_is_cut_before_and_pixels_after_scaling() -> None:
    def names(crop: str) -> list[str]:
        written = make_manifest(Request(model=MODELS / "onnx_logits.onnx", resize="9x9", crop=crop))
        return [name for step in written.data["inputs"][0]["processing"] for name in step]

    assert names("87.5%") == ["decode", "crop", "resize", "layout"]
    assert names("8") == ["decode", "resize", "crop", "layout"]


def test_a_mean_below_one_without_a_scale_is_asked_about() -> None:
    written = make_manifest(Request(model=MODELS / "onnx_logits.onnx", mean="0.5", std="0.5"))
    assert any("--scale 255" in note for note in written.draft.notes)


def test_a_size_that_the_model_does_not_take_is_said() -> None:
    written = make_manifest(Request(model=MODELS / "onnx_logits.onnx", resize="16x16"))
    assert "the steps end at 16 x 16 (height x width), but the model takes 8 x 8" in written.text


@pytest.mark.parametrize(
    "flags",
    [
        {"task": "cooking"},
        {"color": "CMYK"},
        {"mean": "some"},
        {"std": "0"},
        {"mean": "nan"},
        {"resize": "0"},
        {"resize": "224y224"},
        {"crop": "120%"},
        {"library": "paint"},
        {"method": "magic"},
        {"library": "pillow", "method": "area"},
        {"claims": ("top1",)},
        {"claims": ("a b=3",)},
        {"name": "a b"},
        {"version": "new"},
        {"framework_version": "?"},
        {"label_offset": 10**6},
        {"labels": "gone.txt"},
        {"labels": "https://"},
    ],
)
def test_a_flag_that_cannot_be_meant_is_refused(flags: dict[str, Any]) -> None:
    with pytest.raises((UsageError, ArtifactError)):
        make_manifest(Request(model=MODELS / "onnx_logits.onnx", **flags))


def test_labels_that_are_given_beat_those_that_are_found(tmp_path: Path) -> None:
    labels = tmp_path / "mine.txt"
    labels.write_text("a\nb\nc\n")
    written = make_manifest(Request(model=MODELS / "onnx_softmax.onnx", labels=str(labels), output=tmp_path / "m.yml"))
    assert written.labels_path is None
    assert written.data["outputs"][0]["features_url"] == "mine.txt"
    assert written.data["outputs"][0]["features_checksum"].startswith("sha256:")
    assert "3 names for 4 outputs" in written.text


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    output = tmp_path / "m.yml"
    written = make_manifest(Request(model=MODELS / "onnx_softmax.onnx", output=output))
    (tmp_path / "m.labels.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_files(written, output, force=False)
    assert not output.exists()
    write_files(written, output, force=True)
    assert (tmp_path / "m.labels.txt").read_text() == "cat\ndog\nbird\nfish\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.labels.txt", "m.yml"]


def test_a_file_called_like_an_address_stays_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "https:model.onnx"
    path.write_bytes((MODELS / "onnx_logits.onnx").read_bytes())
    written = make_manifest(Request(model=path))
    assert written.data["source"]["graph_path"] == "./https:model.onnx"


def test_what_is_read_takes_the_place_of_what_was_supposed() -> None:
    draft = Draft()
    draft.learn("name", "guessed", "a feeling", guess=True)
    draft.learn("name", "read", "a file")
    draft.learn("name", "late", "another file")
    assert draft.facts["name"] == Fact("read", "a file")


def test_the_report_can_be_printed_as_json() -> None:
    written = make_manifest(Request(model=MODELS / "keras_quantized.tflite"))
    assert json.dumps([vars(guess) for guess in written.draft.guesses])


def test_the_example_in_the_documentation_is_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "init.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    shutil.copy(MODELS / "onnx_softmax.onnx", "toy.onnx")
    Path("preprocessor_config.json").write_text(json.dumps({**samples.VIT, "size": {"height": 8, "width": 8}}))
    request = Request(Path("toy.onnx"), (Path("preprocessor_config.json"),), license="MIT", output=Path("toy.yml"))
    assert make_manifest(request).text == example
