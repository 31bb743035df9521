"""The CLOUD'20 paper's form: lists of steps, labels inside `argsort`, framework manifests with `containers`."""

import pytest

from manifest.dialect.reading import converted, model, notes, written_steps
from mlmodelscope.manifest.load import parse_document, parse_manifest
from mlmodelscope.manifest.schema import SoftwareManifest

CLOUD = """\
name: MLPerf ResNet50
version: 1.0.0
framework: {name: TensorFlow, version: '>=1.12.0 <2.0'}
inputs:
  - type: image
    layer_name: input_tensor
    element_type: float32
    steps:
      - decode: {data_layout: NHWC, color_mode: RGB}
      - resize: {dimensions: [3, 224, 224], method: bilinear, keep_aspect_ratio: true}
      - normalize: {mean: [123.68, 116.78, 103.94], rescale: 2.0}
outputs:
  - type: probability
    layer_name: prob
    element_type: float32
    steps:
      - argsort: {labels_url: https://example.org/synset.txt, order: down}
model:
  graph_path: https://example.org/resnet50.pb
  checksum: 7b94a2da05d23d0d9ae6e4e0d0e9b9f5
attributes:
  training_dataset: [ILSVRC, 1.10]
"""
FRAMEWORK = """\
name: TensorFlow
version: ^1.x
containers:
  amd64: {cpu: carml/tf:amd64-cpu, gpu: carml/tf:amd64-gpu}
  ppc64le: {cpu: carml/tf:ppc64le-cpu}
"""


def test_steps_in_our_words() -> None:
    assert written_steps(parse_document(CLOUD)) == [
        ("decode", {"data_layout": "NHWC", "color_layout": "RGB"}),
        ("resize", {"dimensions": [3, 224, 224], "method": "bilinear", "keep_aspect_ratio": True}),
        ("normalize", {"mean": [123.68, 116.78, 103.94], "std": 2.0}),
    ]
    assert any("`rescale` divides" in note for note in notes(CLOUD, "implied"))


@pytest.mark.parametrize(("left_out", "put"), [("mean: [123.68, 116.78, 103.94], ", "mean"), (", rescale: 2.0", "std")])
def test_half_a_normalisation_says_what_the_other_half_is(left_out: str, put: str) -> None:
    step = parse_document(CLOUD.replace(left_out, "")).data["inputs"][0]["processing"][2]["normalize"]
    assert step[put] == (0.0 if put == "mean" else 1.0) and put in step.reasons


def test_labels_inside_argsort_belong_to_the_output() -> None:
    output = model(CLOUD).outputs[0]
    assert output.features_url == "https://example.org/synset.txt" and output.attributes == {"order": "down"}
    assert output.processing == () and any("sorted by their score" in note for note in notes(CLOUD, "implied"))


def test_other_output_steps_stay() -> None:
    output = model(CLOUD.replace("      - argsort", "      - softmax\n      - argsort")).outputs[0]
    assert [step.name for step in output.processing] == ["softmax"]


def test_the_rest_of_the_file() -> None:
    manifest = model(CLOUD)
    assert manifest.source is not None
    assert manifest.source.graph_checksum == "md5:7b94a2da05d23d0d9ae6e4e0d0e9b9f5"
    assert manifest.training_dataset is not None and manifest.training_dataset.name == "ILSVRC, 1.10"
    assert (manifest.task, manifest.name) == ("classification", "MLPerf-ResNet50")
    converted(CLOUD)


@pytest.mark.parametrize(
    ("written", "kind", "task"),
    [
        ("boundingbox", "boxes", "object_detection"),
        ("label", "probability", "classification"),
        ("logits",) * 2 + ("classification",),
    ],
)
def test_what_the_output_is(written: str, kind: str, task: str) -> None:
    manifest = model(CLOUD.replace("type: probability", f"type: {written}"))
    assert (manifest.outputs[0].type, manifest.task) == (kind, task)


def test_a_framework_manifest_is_software() -> None:
    manifest = parse_manifest(FRAMEWORK)
    assert isinstance(manifest, SoftwareManifest) and manifest.framework is not None
    assert (manifest.framework.name, manifest.framework.version, manifest.version) == ("TensorFlow", "^1.x", "1.0.0")
    assert manifest.container["ppc64le"].cpu == "carml/tf:ppc64le-cpu"
    assert any("the constraint is the framework's" in note for note in notes(FRAMEWORK, "implied"))
    converted(FRAMEWORK)
