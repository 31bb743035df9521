"""V0, the flat form of 2017, says the same as V1 with fewer words."""

import pytest

from manifest.dialect.reading import converted, model, notes, written_steps
from mlmodelscope.manifest.load import parse_document

V0 = """\
name: Deep Feature Flow
framework: mxnet
version: 1.0
type: cnn
input:
  type: image
  dimensions: [3, 224, 224]
output:
  type: label
dataset_name: ImageNet
features_url: http://example.org/synset.txt
graph_url: https://example.org/dff.json
graph_checksum: 328f68f37ae0c180191e96c9b73a813e
weights_url: https://example.org/dff.params
references:
  - https://arxiv.org/pdf/1611.07715.pdf
"""


def test_it_is_read_as_what_it_is() -> None:
    document = parse_document(V0)
    assert document.dialect is not None and document.dialect.name == "v0"
    manifest = model(V0)
    assert manifest.framework is not None and (manifest.framework.name, manifest.framework.version) == ("mxnet", "*")
    assert (manifest.task, manifest.name) == ("classification", "Deep-Feature-Flow")
    assert manifest.training_dataset is not None and manifest.training_dataset.name == "ImageNet"
    assert manifest.outputs[0].features_url == "http://example.org/synset.txt"
    assert manifest.attributes == {"kind": "cnn", "title": "Deep Feature Flow"}
    converted(V0)


def test_files_have_their_roles() -> None:
    source = model(V0).source
    assert source is not None and source.graph_path == "https://example.org/dff.json"
    assert source.graph_checksum == "md5:328f68f37ae0c180191e96c9b73a813e"
    assert source.weights_path == "https://example.org/dff.params"


def test_a_trained_url_is_worth_a_look() -> None:
    text = V0.replace("graph_url", "trained_url").replace("graph_checksum", "trained_checksum")
    source = model(text).source
    assert source is not None and source.graph_checksum is not None and source.graph_path.endswith("dff.json")
    assert "it may be a page" in notes(text, "unclear")[0]
    both = V0 + "trained_url: https://example.org/page\n"
    assert model(both).attributes["trained_url"] == "https://example.org/page"


def test_steps_are_those_of_v1() -> None:
    steps = written_steps(parse_document(V0))
    assert [name for name, _ in steps] == ["decode", "resize", "layout", "cast"]
    assert steps[1] == ("resize", {"dimensions": [224, 224], "method": "bilinear"})


@pytest.mark.parametrize("line", ["odd: [1, {a: b}]", "solver: x"])
def test_nothing_is_lost(line: str) -> None:
    assert line.partition(": ")[2].split("/")[-1] in str(model(V0 + line + "\n").model_dump()).replace("'", "")
    assert notes(V0 + line + "\n", "kept")
