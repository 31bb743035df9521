"""Old manifests of detectors, segmentations and enhancers: what they name becomes a plan, what is open an error.

The small ones here are published ones, reduced to what matters; the whole corpora are counted where they are here.
"""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.load import load_manifest, parse_document, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope_worker.environment import normalise

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parent.parent.parent.parent / "shared")
FORMATS = {
    "object_detection": "coco",
    "instance_segmentation": "coco",
    "semantic_segmentation": "masks",
    "image_enhancement": "pictures",
}
STACK = StackDescription(
    "any",
    "3.11.7",
    {"numpy": "2.0", "pillow": "13.0"}
    | {normalise(name): "1.0" for each in PREDICTORS for name in PREDICTORS[each].packages}
    | {"mxnet": "1.9.1", "tensorflow": "1.15.5", "onnxruntime": "1.8.1", "tensorrt": "8.6.0", "torch": "1.7.1"},
)
V1 = """\
name: net
version: 1.0
framework: {{name: {framework}, version: '>=0.1'}}
inputs:
  - type: image
    parameters: {{layout: {layout}, color_mode: RGB, element_type: float32{more}}}
output:
  type: {kind}
  parameters: {{{parameters}}}
model: {{graph_path: https://example.org/net, graph_checksum: 9ce439bcfb44c304e49a0fe1ae398f69}}
"""
V2 = """\
name: net
version: 1.0
framework: {{name: TensorFlow, version: 1.14.0}}
modality: {modality}
inputs: [{{type: image}}]
outputs: [{outputs}]
model:
  graph_path: https://example.org/net
  features_path: https://example.org/synsets/{classes}
preprocess: |
  def preprocess(ctx, data):
      return data
postprocess: |
  def postprocess(ctx, data):
      return data
"""
BOXES = "boxes_layer: detection_boxes, probabilities_layer: detection_scores, classes_layer: detection_classes"


class AnyFile(dict[str, str]):
    """Pins of files that nobody fetches."""

    def get(self, key: str, default: Any = None) -> Any:
        return "d" * 64


def old(framework: str, kind: str, parameters: str, layout: str = "HWC", more: str = "") -> str:
    return V1.format(framework=framework, kind=kind, parameters=parameters, layout=layout, more=more)


def planned(model: ModelManifest | str) -> Plan:
    manifest = parse_manifest(model) if isinstance(model, str) else model
    assert isinstance(manifest, ModelManifest) and manifest.framework is not None
    any_version = manifest.framework.model_copy(update={"version": "*"})
    dataset = parse_manifest(
        f"name: truth\nversion: 1.0.0\ntask: {manifest.task}\nformat: {FORMATS[manifest.task]}\n"
        "sources: [{url: https://example.org/pictures.zip, labels_url: https://example.org/labels.zip}]\n"
    )
    assert isinstance(dataset, DatasetManifest)
    return make_plan(manifest.model_copy(update={"framework": any_version}), dataset, Options(), STACK, AnyFile())


def steps(plan: Plan) -> list[str]:
    """Step names with the parameters that matter here."""
    shown = ("order", "unit", "of", "layout", "factor", "offset", "scheme")
    told = []
    for step in plan.answer.steps:
        values = [f"{step.parameters[key]}" for key in shown if key in step.parameters]
        told.append(" ".join([step.name, *values]))
    return told


def notes(text: str, kind: str) -> str:
    return "\n".join(note.message for note in parse_document(text).notes if note.kind == kind)


def test_tensorflows_detectors_give_shares_with_y_first_and_cocos_ids() -> None:
    text = old("TensorFlow", "boundingbox", f"{BOXES}, features_url: 'https://x.org/coco_labels_paper.txt'")
    plan = planned(text)
    assert [(each.role, each.layer_name) for each in plan.outputs] == [
        ("scores", "detection_scores"),
        ("boxes", "detection_boxes"),
        ("classes", "detection_classes"),
    ]
    assert steps(plan) == ["boxes yxyx share input", "threshold", "class_ids coco91"]
    assert "COCO's ids, 1 to 90" in notes(text, "implied") and "num_detections" in notes(text, "implied")


def test_tensorflows_other_detectors_number_classes_from_1() -> None:
    plan = planned(old("TensorFlow", "boundingbox", BOXES))
    assert plan.answer.label_offset == 1 and steps(plan) == ["boxes yxyx share input", "threshold"]


def test_a_list_of_other_classes_than_the_models_is_not_believed() -> None:
    parameters = BOXES.replace("detection_boxes", "detection_bboxes")
    text = old("TensorFlow", "boundingbox", f"{parameters}, features_url: 'https://x.org/coco_labels_paper.txt'")
    plan = planned(text)
    assert plan.answer.label_offset == 1 and plan.answer.names is None and "class_ids" not in str(steps(plan))
    assert "has 91, the model 80" in notes(text, "unclear")


def test_masks_lie_inside_their_boxes() -> None:
    plan = planned(old("TensorFlow", "instancesegment", f"{BOXES}, masks_layer: detection_masks"))
    assert steps(plan) == ["boxes yxyx share input", "threshold", "paste_masks"]


@pytest.mark.parametrize(("file", "offset"), [("pascal_voc_lables_no_background.txt", 0), ("pascal_voc_labels.txt", 1)])
def test_gluons_detectors_give_pixels_with_x_first(file: str, offset: int) -> None:
    layers = "classes_layer: 0, probabilities_layer: 1, boxes_layer: 2"
    text = old("MXNet", "boundingbox", f"{layers}, features_url: 'https://x.org/{file}'", layout="CHW")
    plan = planned(text)
    assert [(each.role, each.layer_name) for each in plan.outputs] == [("scores", 1), ("boxes", 2), ("classes", 0)]
    assert steps(plan) == ["boxes xyxy pixel input"] and plan.answer.label_offset == offset
    assert "the class -1" in notes(text, "implied")


@pytest.mark.parametrize(
    ("framework", "layer", "layout"), [("TensorFlow", "SemanticPredictions", "HWC"), ("Caffe", "0", "CHW")]
)
def test_a_segmentation_holds_classes_or_scores_of_them(framework: str, layer: str, layout: str) -> None:
    plan = planned(old(framework, "semanticsegment", f"masks_layer: {layer}, element_type: int64"))
    assert steps(plan) == [f"argmax_map {layout}"] and str(plan.outputs[0].layer_name) == layer


def test_a_torchscript_file_has_no_names_of_outputs() -> None:
    text = old("PyTorch", "semanticsegment", "masks_layer: SemanticPredictions", layout="CHW")
    assert planned(text).outputs[0].layer_name is None
    assert "`SemanticPredictions` is kept under `attributes`" in notes(text, "implied")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", mean: [127.5, 127.5, 127.5], scale: 127.5", ["picture HWC", "multiply 127.5 127.5", "clip_picture"]),
        (", mean: [0.0, 0.0, 0.0], scale: 255", ["picture HWC", "multiply 255.0 0.0", "clip_picture"]),
        ("", ["picture HWC", "clip_picture"]),
    ],
)
def test_an_enhanced_picture_comes_back_in_the_numbers_of_the_input(more: str, expected: list[str]) -> None:
    text = old("TensorFlow", "image", "masks_layer: 'SRGAN_g/out/Tanh'", more=more)
    plan = planned(text)
    assert steps(plan) == expected
    assert (plan.outputs[0].role, plan.outputs[0].layer_name) == ("image", "SRGAN_g/out/Tanh")


def test_channels_that_are_scaled_otherwise_leave_the_picture_open() -> None:
    text = old("TensorFlow", "image", "masks_layer: out", more=", mean: [1, 2, 3]")
    assert "`answer` must say it" in notes(text, "unclear")


@pytest.mark.parametrize(
    ("text", "key", "error"),
    [
        (old("PyTorch", "boundingbox", "probabilities_layer: 0"), "`boxes_layer`", "missing output of type `boxes`"),
        (
            old("TensorFlow", "boundingbox", "boxes_layer: x"),
            "`probabilities_layer`",
            "missing output of type `scores`",
        ),
        (
            old("Caffe", "boundingbox", "probabilities_layer: 0, boxes_layer: 1, classes_layer: 2"),
            "`answer`",
            "the key `answer` of net is missing",
        ),
    ],
)
def test_what_is_left_open_is_named(text: str, key: str, error: str) -> None:
    assert key in notes(text, "unclear")
    with pytest.raises(PlanError) as failure:
        planned(text)
    assert error in f"{failure.value} {failure.value.hint}"


@pytest.mark.parametrize(
    ("classes", "expected", "offset"),
    [
        ("coco_labels_paper_background.txt", ["boxes yxyx share original", "class_ids coco91"], 0),
        ("coco_labels_2014_2017_background.txt", ["boxes yxyx share original"], 1),
        ("coco_labels_2014_2017.txt", ["boxes yxyx share original"], 0),
        ("own.txt", ["boxes yxyx share original"], 0),
    ],
)
def test_functions_of_detectors_number_classes_as_their_list_does(
    classes: str, expected: list[str], offset: int
) -> None:
    outputs = "{type: classes}, {type: scores}, {type: boundingboxes}"
    plan = planned(V2.format(modality="image_object_detection", outputs=outputs, classes=classes))
    assert steps(plan) == expected and plan.answer.label_offset == offset


def test_functions_of_instances_give_masks_in_boxes() -> None:
    outputs = "{type: classes}, {type: scores}, {type: boundingboxes}, {type: masks}"
    text = V2.format(
        modality="image_instance_segmentation_raw", outputs=outputs, classes="coco_labels_paper_background.txt"
    )
    assert steps(planned(text)) == ["boxes yxyx share original", "class_ids coco91", "paste_masks"]


_NO_ORDER = "Caffe has no habit for boxes, and what the files give is nowhere written"
_NO_BOXES = "one output is named, that of the scores; which one has the boxes, and in which unit, is not"
OPEN = {
    "AI_Matrix_Faster_RCNN": _NO_ORDER,
    "AI_Matrix_SSD_ResNet_18": _NO_ORDER,
    "AI_Matrix_SSD_VGG16": _NO_ORDER,
    "MobileNet_SSD_Lite_v2.0": _NO_BOXES,
    "MobileNet_SSD_v1.0": _NO_BOXES,
    "SSD_VGG16": "the keys of scores and classes are empty, and the manifest is hidden since it needs post-processing",
}
"""Published manifests that leave open what only a guess could fill in, each in both corpora, and why."""


@pytest.mark.shared
@pytest.mark.slow(reason="reads a thousand manifests")
@pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason="the development data folder is not here")
def test_all_published_ones_have_a_plan_but_those_that_leave_something_open() -> None:
    made, loaded, refused = Counter[str](), Counter[str](), {}
    for folder in ("corpus", "corpus-c3sr"):
        for path in sorted((SHARED / folder).rglob("*.yml")):
            model = load_manifest(path)
            loaded[folder] += 1
            if not isinstance(model, ModelManifest) or model.task not in FORMATS:
                continue
            try:
                plan = planned(model)
                assert model.functions or plan.answer.steps, path
                made[f"{model.task}{' by functions' if model.functions else ''}"] += 1
            except PlanError as error:
                refused[path] = str(error)
            print(f"{path.stem} | {model.task} | {refused.get(path, 'yes')}")
    assert loaded == {"corpus": 443, "corpus-c3sr": 571}  # every one of them
    assert {path.stem for path in refused} == OPEN.keys() and len(refused) == 12
    assert made == {
        "object_detection": 62,
        "object_detection by functions": 37,
        "instance_segmentation": 8,
        "instance_segmentation by functions": 8,
        "semantic_segmentation": 23,
        "semantic_segmentation by functions": 10,
        "image_enhancement": 4,
        "image_enhancement by functions": 3,
    }
