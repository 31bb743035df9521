"""V1: what its agents did becomes steps that anyone can read, and nothing that was written is lost."""

import numpy as np
import pytest

from manifest.dialect.reading import converted, model, notes, written_steps
from mlmodelscope.manifest.load import load_manifest, parse_document
from mlmodelscope_worker.pipeline.step import Pipeline

V1 = """\
name: Inception_v3
framework: {name: TensorFlow, version: 1.10}
version: 1.0
license: MIT
inputs:
  - type: image
    description: the input image
    parameters:
      element_type: float32
      input_layer: 'input'
      layout: HWC
      color_mode: RGB
      dimensions: [3, 299, 299]
      mean: [128, 127, 126]
      scale: 128
output:
  type: classification
  description: the label
  parameters:
    element_type: float32
    probabilities_layer: 'Predictions'
    features_url: https://example.org/synset.txt
    features_checksum: 6c05083991207dea5c37f2d271014fad
model:
  base_url: https://example.org/graphs/
  graph_path: inception_v3.pb
  graph_checksum: 328f68f37ae0c180191e96c9b73a813e
  is_archive: false
attributes:
  kind: CNN
  training_dataset: ImageNet
  manifest_author: Cheng Li
  top1: 78.0
  Top5: 46.
"""
DECODE = {"library": "pillow", "dct": "accurate", "color_layout": "RGB"}
DETECTOR = V1.replace("type: classification", "type: boundingbox").replace(
    "probabilities_layer: 'Predictions'", "probabilities_layer: 2\n    boxes_layer: boxes\n    classes_layer: ''"
)


def test_the_order_is_fixed_and_scale_divides() -> None:
    assert written_steps(parse_document(V1)) == [
        ("decode", DECODE),
        ("resize", {"dimensions": [299, 299], "method": "bilinear"}),
        ("cast", {"element_type": "float32"}),
        ("mean", {"values": [128, 127, 126]}),
        ("rescale", {"divisor": 128}),
        ("layout", {"data_layout": "HWC"}),
        ("cast", {"element_type": "float32"}),
    ]


def test_channels_are_turned_round_after_mean_and_scale() -> None:
    text = V1.replace("RGB", "BGR").replace("HWC", "CHW")
    names = [name for name, _ in written_steps(parse_document(text))]
    assert names == ["decode", "resize", "cast", "mean", "rescale", "color", "layout", "cast"]
    assert ("color", {"color_layout": "BGR"}) in written_steps(parse_document(text))
    assert any("R, G, B order" in note for note in notes(text, "implied"))


def test_bytes_stay_bytes_where_there_is_no_arithmetic() -> None:
    text = V1.replace("      mean: [128, 127, 126]\n      scale: 128\n", "").replace(
        "float32\n      input", "uint8\n      input"
    )
    assert written_steps(parse_document(text))[2:] == [
        ("layout", {"data_layout": "HWC"}),
        ("cast", {"element_type": "uint8"}),
    ]


@pytest.mark.parametrize("color", ["RGB", "BGR"])
@pytest.mark.parametrize("layout", ["HWC", "CHW"])
@pytest.mark.parametrize("element_type", ["float32", "uint8"])
def test_a_v1_manifest_gives_the_very_tensors_of_the_agents(color: str, layout: str, element_type: str) -> None:
    """By hand: stretch, (x - mean) / scale per R, G, B, then the channels, the axes and the type."""
    from io import BytesIO

    from PIL import Image

    picture = Image.fromarray(np.random.default_rng(3).integers(0, 256, (20, 30, 3), dtype=np.uint8))
    file = BytesIO()
    picture.save(file, "png")
    text = V1.replace("[3, 299, 299]", "[3, 9, 7]").replace("RGB", color).replace("HWC", layout)
    text = text.replace("element_type: float32\n      input", f"element_type: {element_type}\n      input")
    if element_type == "uint8":
        text = text.replace("      mean: [128, 127, 126]\n      scale: 128\n", "")
    seen = Pipeline([step.model_dump() for step in model(text).inputs[0].processing])(file.getvalue()).array
    expected = np.asarray(picture.resize((7, 9), Image.Resampling.BILINEAR))
    if element_type == "float32":
        expected = (expected.astype(np.float32) - np.float32([128, 127, 126])) / np.float32(128)
    expected = expected[..., ::-1] if color == "BGR" else expected
    expected = expected.transpose(2, 0, 1) if layout == "CHW" else expected
    assert seen.dtype == element_type and np.array_equal(seen, expected)


def test_what_the_agents_took_where_nothing_is_written_depends_on_the_framework() -> None:
    bare = V1.replace("      layout: HWC\n      color_mode: RGB\n", "")
    assert ("layout", {"data_layout": "HWC"}) in written_steps(parse_document(bare))
    caffe = written_steps(parse_document(bare.replace("TensorFlow", "Caffe")))
    assert ("color", {"color_layout": "BGR"}) in caffe and ("layout", {"data_layout": "CHW"}) in caffe
    assert len([note for note in notes(bare, "implied") if "is not written" in note]) == 2


def test_no_crop_whatever_is_written() -> None:
    text = V1.replace("      scale: 128\n", "      scale: 128\n      crop: center\n")
    assert "crop" not in [name for name, _ in written_steps(parse_document(text))]
    assert model(text).inputs[0].attributes == {"crop": "center"}


def test_the_longer_side_and_the_aspect_ratio() -> None:
    text = V1.replace("dimensions: [3, 299, 299]", "max_dimension: 513\n      keep_aspect_ratio: true")
    resize = {"max_dimension": 513, "method": "bilinear", "keep_aspect_ratio": True}
    assert ("resize", resize) in written_steps(parse_document(text))
    assert any("whatever" in note for note in notes(text.replace("ratio: true", "ratio: false"), "unclear"))


def test_the_aspect_ratio_is_not_kept_where_the_agents_stretched() -> None:
    text = V1.replace("      scale: 128\n", "      scale: 128\n      keep_aspect_ratio: true\n")
    assert ("resize", {"dimensions": [299, 299], "method": "bilinear"}) in written_steps(parse_document(text))
    assert any("stretched" in note for note in notes(text, "unclear"))
    assert model(text).inputs[0].attributes == {"keep_aspect_ratio": True}


@pytest.mark.parametrize(
    ("written", "size", "said"),
    [
        ("[3, 10, 20]", [10, 20], ""),
        ("[1, 3, 10, 20]", [10, 20], ""),
        ("[640, 360, 4]", [640, 360], "are read as height, width, channels"),
        ("[1, 28, 28]", [28, 28], "dimensions say 1"),
        ("[10, 20]", [10, 20], ""),
    ],
)
def test_dimensions_in_every_spelling(written: str, size: list[int], said: str) -> None:
    text = V1.replace("[3, 299, 299]", written)
    assert ("resize", {"dimensions": size, "method": "bilinear"}) in written_steps(parse_document(text))
    assert said in "\n".join(notes(text)) and bool(said) == any("dimensions" in note for note in notes(text))


@pytest.mark.parametrize("empty", ["dimensions: []", "dimensions:", "description: x"])
def test_no_dimensions_are_worth_a_look(empty: str) -> None:
    assert any("in its own size" in note for note in notes(V1.replace("dimensions: [3, 299, 299]", empty), "unclear"))


def test_layers_by_number_stay_numbers() -> None:
    manifest = model(V1.replace("'input'", "0").replace("'Predictions'", "1"))
    assert (manifest.inputs[0].layer_name, manifest.outputs[0].layer_name) == (0, 1)


def test_claims_keep_their_digits_and_versions_their_spelling() -> None:
    manifest = model(V1)
    assert [(claim.metric, claim.value) for claim in manifest.claims] == [("top1", "78.0"), ("top5", "46")]
    assert manifest.framework is not None and (manifest.version, manifest.framework.version) == ("1.0", "1.10")
    assert "value: 78.0" in converted(V1) and "value: 46\n" in converted(V1) and "version: 1.10" in converted(V1)


@pytest.mark.parametrize(("written", "value"), [("78.8 %", "78.8"), ("'70'", "70"), ("75.10", "75.10"), ("76.", "76")])
def test_numbers_in_percent(written: str, value: str) -> None:
    assert model(V1.replace("top1: 78.0", f"top1: {written}")).claims[0].value == value


def test_a_claim_that_is_no_number_stays_an_attribute() -> None:
    text = V1.replace("top1: 78.0", "top1: about 70")
    assert model(text).attributes["top1"] == "about 70" and "is no number" in notes(text, "unclear")[0]


def test_claims_that_are_there_already_leave_the_attributes_alone() -> None:
    manifest = model(V1 + "claims: [{metric: top1, value: 77}]\n")
    assert [claim.value for claim in manifest.claims] == ["77"] and manifest.attributes["top1"] == 78.0


def test_two_spellings_of_one_claim_are_both_kept_and_told() -> None:
    text = V1.replace("Top5: 46.", "Top1: 79")
    assert [claim.value for claim in model(text).claims] == ["78.0", "79"] and notes(text, "unclear")


def test_checksums_of_the_old_kind_are_kept() -> None:
    manifest = model(V1)
    assert manifest.source is not None and manifest.source.graph_checksum == "md5:328f68f37ae0c180191e96c9b73a813e"
    assert manifest.outputs[0].features_checksum == "md5:6c05083991207dea5c37f2d271014fad"


def test_files_are_joined_to_their_base() -> None:
    def path(base: str, file: str, archive: str = "false") -> str:
        text = V1.replace("https://example.org/graphs/", base).replace("inception_v3.pb", file)
        source = model(text.replace("is_archive: false", f"is_archive: {archive}")).source
        assert source is not None
        return source.graph_path

    assert path("https://a.org/x", "y.pb") == "https://a.org/x/y.pb"
    assert path("https://a.org/x/", "https://b.org/y.pb") == "https://b.org/y.pb"
    assert path("https://a.org/x.tar.gz", "y.pb", "true") == "https://a.org/x.tar.gz#y.pb"
    assert path("https://a.org/x", "y.pb", "'false'") == "https://a.org/x/y.pb"
    assert path("https://a.org/x", "y.pb", "true") == "https://a.org/x/y.pb"  # and it is said
    assert path("''", "https://b.org/y.pb", "true") == "https://b.org/y.pb"


@pytest.mark.parametrize(
    ("written", "said"),
    [("is_archive: true", "does not look like an archive"), ("is_archive: maybe", "neither true nor false")],
)
def test_an_archive_that_is_none_is_worth_a_look(written: str, said: str) -> None:
    assert said in "\n".join(notes(V1.replace("is_archive: false", written), "unclear"))


def test_empty_texts_mean_nothing() -> None:
    text = V1.replace("328f68f37ae0c180191e96c9b73a813e", "''").replace("ImageNet", "''").replace("78.0", "''")
    text = (
        text.replace("license: MIT", "license: ''")
        .replace("'input'", "''")
        .replace("description: the label", "description:")
    )
    manifest = model(text)
    assert manifest.source is not None and manifest.source.graph_checksum is None
    assert manifest.training_dataset is None and manifest.license is None and manifest.inputs[0].layer_name is None
    assert [claim.metric for claim in manifest.claims] == ["top5"] and manifest.outputs[0].description is None


def test_a_name_of_several_words_becomes_one_and_is_kept_as_title() -> None:
    text = V1.replace("Inception_v3", "Inception v3 (slim)", 1).replace(" (slim)", "") + "  title: taken\n"
    manifest = model(text)
    assert manifest.name == "Inception-v3"
    assert (manifest.attributes["title"], manifest.attributes["title_2"]) == ("taken", "Inception v3")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("probabilities_layer", "probailities_layer"),
        ("training_dataset", "trailing_dataset"),
        ("element_type: float32\n    prob", "element_type: float32s\n    prob"),
    ],
)
def test_misspelt_words_are_read_and_told(right: str, wrong: str) -> None:
    text = V1.replace(right, wrong)
    assert text != V1 and model(text) == model(V1)
    assert len(notes(text, "typo")) == 1


def test_what_nobody_knows_is_kept_and_told() -> None:
    text = V1.replace("  is_archive: false", "  model_type: frozen") + "hidden: true\nunheard: {of: [1, 2]}\n"
    text = text.replace("    description: the input image\n", "    description: the input image\n    odd: 7\n")
    manifest = model(text)
    assert manifest.attributes["hidden"] is True and manifest.attributes["unheard"] == {"of": [1, 2]}
    assert manifest.attributes["model_type"] == "frozen" and manifest.inputs[0].attributes == {"odd": 7}
    assert len(notes(text, "kept")) == 4


def test_a_key_that_is_an_attribute_too_loses_neither() -> None:
    manifest = model(V1 + "  hidden: 1\nhidden: 2\n")
    assert (manifest.attributes["hidden"], manifest.attributes["hidden_2"]) == (1, 2)


def test_softmax_makes_logits() -> None:
    text = V1.replace("    probabilities_layer", "    probabilities_transform: Softmax\n    probabilities_layer")
    output = model(text).outputs[0]
    assert output.type == "logits" and [step.name for step in output.processing] == ["softmax"]


def test_a_detector_has_an_output_for_each_layer_that_is_named() -> None:
    manifest = model(DETECTOR)
    assert manifest.task == "object_detection"
    assert [(output.type, output.layer_name) for output in manifest.outputs] == [("scores", 2), ("boxes", "boxes")]
    assert manifest.outputs[0].features_url == "https://example.org/synset.txt"


def test_a_segmentation_keeps_its_element_type() -> None:
    text = V1.replace("type: classification", "type: semanticsegment").replace("probabilities_layer", "masks_layer")
    text = text.replace("element_type: float32\n    masks", "element_type: int64\n    masks")
    assert model(text).task == "semantic_segmentation"
    assert [(output.type, output.element_type) for output in model(text).outputs] == [("masks", "int64")]
    assert {
        output.element_type for output in model(DETECTOR.replace("float32\n    prob", "float64\n    prob")).outputs
    } == {"float64"}


@pytest.mark.parametrize(
    ("written", "task"),
    [
        ("feature", "classification"),
        ("raw", "general"),
        ("image", "image_enhancement"),
        ("instancesegment", "instance_segmentation"),
    ],
)
def test_the_output_says_the_task(written: str, task: str) -> None:
    text = V1.replace("type: classification", f"type: {written}")
    assert model(text).task == task
    assert f"`output.type: {written}`" in parse_document(text).data.reasons["task"]


def test_a_task_that_contradicts_the_output_is_worth_a_look() -> None:
    assert any("is taken, though" in note for note in notes(V1 + "task: object_detection\n", "unclear"))


def test_raw_tensors_keep_where_their_values_are() -> None:
    start, _, rest = V1.partition("inputs:\n")
    raw = "inputs:\n  - {type: raw, parameters: {input_layer: x, input_type: slice, element_type: int32, url: 'https://e.org/x'}}\n"
    given = model(start + raw + rest[rest.index("output:") :]).inputs[0]
    assert (given.type, given.layer_name, given.element_type, given.processing) == ("tensor", "x", "int32", ())
    assert given.attributes == {"input_type": "slice", "url": "https://e.org/x"}


def test_every_implied_value_has_its_reason() -> None:
    for step in parse_document(V1.replace("      layout: HWC\n", "")).data["inputs"][0]["processing"]:
        for name, parameters in step.items():
            for key in parameters:
                written = (name, key) in {("resize", "dimensions"), ("mean", "values"), ("rescale", "divisor")}
                assert written or key in parameters.reasons or (name, key) == ("cast", "element_type"), (name, key)


def test_its_conversion_means_the_same_and_is_todays_form() -> None:
    for text in (V1, DETECTOR, V1.replace("TensorFlow", "Caffe")):
        converted(text)


def test_a_mapping_made_by_a_program_may_be_of_an_old_dialect() -> None:
    import yaml

    assert load_manifest(yaml.safe_load(V1) | {"version": "1.0"}).name == "Inception_v3"
