"""V2 and its older form carry Python: the code is kept letter by letter, and called for one sample at a time."""

import pytest

from manifest.dialect.reading import converted, model, notes
from mlmodelscope.manifest.load import parse_document

V2 = """\
# of the zoo
name: torchvision_alexnet # its name
version: 1.0.0
framework: {name: PyTorch, version: 1.10}
modality: image_classification
inputs:
  - type: image
    description: the input image
    parameters: {element_type: float32, input_layer: 0}
outputs:
  - type: classification
    description: the scores
    parameters: {element_type: float32s, output_layer: 'prob', odd: 1}
preprocess: |
  # this is Python's # comment
  import numpy as np

  def preprocess(ctx, data):
  \treturn np.zeros(3)  # tabs: too
postprocess: |
  def postprocess(ctx, data):
    return ["a: b"]
model:
  base_url: https://example.org/alexnet/
  graph_path: alexnet.pt
  graph_checksum: 328f68f37ae0c180191e96c9b73a813e
  features_path: synset.txt
  features_checksum: 6c05083991207dea5c37f2d271014fad
attributes:
  Top1: 56.55
"""
OLD = V2.replace("modality: image_classification\n", "").replace(
    "outputs:\n  - type: classification", "output:\n    type: general"
)
OLD = OLD + "before_preprocess: |\n  import torch\n"


def test_the_modality_is_the_task() -> None:
    assert model(V2).task == "classification"
    assert "modality: image_classification" in parse_document(V2).data.reasons["task"]


@pytest.mark.parametrize(
    ("modality", "task"),
    [
        ("image_object_detection", "object_detection"),
        ("image_semantic_segmentation", "semantic_segmentation"),
        ("image_instance_segmentation", "instance_segmentation"),
        ("image_enhancement", "image_enhancement"),
        ("audio_to_text", "speech_recognition"),
    ],
)
def test_every_modality(modality: str, task: str) -> None:
    assert model(V2.replace("image_classification", modality)).task == task


def test_an_unknown_modality_is_kept_and_told() -> None:
    text = V2.replace("image_classification", "smell_to_touch").replace("type: classification", "type: smell")
    assert (model(text).task, model(text).attributes["modality"]) == ("general", "smell_to_touch")
    assert any("smell_to_touch" in note for note in notes(text, "unclear"))


def test_functions_get_one_sample_at_a_time() -> None:
    manifest = model(V2)
    assert manifest.preprocess is not None and manifest.postprocess is not None
    assert (manifest.preprocess.gets, manifest.preprocess.function) == ("sample", "preprocess")
    assert manifest.postprocess.function == "postprocess"
    assert any("one sample at a time" in note for note in notes(V2, "implied"))


def test_code_keeps_every_letter_and_its_line() -> None:
    before, after = model(V2).preprocess, model(converted(V2)).preprocess
    assert before is not None and after is not None
    assert before.code == after.code and "\treturn np.zeros(3)  # tabs: too\n" in before.code
    assert V2.splitlines()[before.line - 1] == "  # this is Python's # comment"


def test_code_that_is_no_python_is_refused_where_it_stands() -> None:
    with pytest.raises(Exception, match="not valid Python in line 19"):
        model(V2.replace("return np.zeros(3)", "return (((")).name  # noqa: B018


def test_files_and_labels_are_joined_to_their_base() -> None:
    manifest = model(V2)
    assert manifest.source is not None and manifest.source.graph_path == "https://example.org/alexnet/alexnet.pt"
    assert manifest.outputs[0].features_url == "https://example.org/alexnet/synset.txt"
    assert manifest.outputs[0].features_checksum == "md5:6c05083991207dea5c37f2d271014fad"


def test_layers_are_described_and_nothing_of_them_is_lost() -> None:
    manifest = model(V2.replace("type: classification", "type: a heat map"))
    assert manifest.inputs[0].layer_name == 0 and manifest.outputs[0].layer_name == "prob"
    assert manifest.outputs[0].element_type == "float32" and manifest.outputs[0].type == "general"
    assert manifest.outputs[0].attributes == {"odd": 1, "type": "a heat map"}


def test_the_older_form_sets_up_once() -> None:
    manifest = model(OLD)
    assert manifest.setup == "import torch\n" and list(manifest.functions)[0] == "setup"
    assert (manifest.task, manifest.outputs[0].type) == ("general", "general")
    converted(OLD)


def test_comments_of_the_code_are_not_ours() -> None:
    text = converted(V2)
    assert text.startswith("# of the zoo\nname: torchvision_alexnet  # its name\n")
    assert text.count("Python's # comment") == 1 and text.count("tabs: too") == 1
    assert "no place of their own" not in text
