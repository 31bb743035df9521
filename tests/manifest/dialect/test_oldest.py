"""Forms that only stand in the histories of the public repositories: what they say is read, the rest is told."""

import pytest

from manifest.dialect.reading import converted, model, notes, written_steps
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.load import parse_document, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, SoftwareManifest

HEAD = "name: net\nversion: 1.0\nframework: {name: TensorFlow, version: 1.12}\n"
V1 = HEAD + (
    "inputs: [{type: image, parameters: {element_type: float32, layout: HWC, dimensions: [3, 8, 8]}}]\n"
    "output: {type: classification, parameters: {features_url: synset.txt}}\n"
)
FILE = "model: {graph_path: net.pb}\n"


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ("{checkpoint: 'http://host/net.tar.gz', is_archive: true}", "http://host/net.tar.gz#/"),
        ("{checkpoint: 'http://host/net.tar.gz#net/', is_archive: true}", "http://host/net.tar.gz#net/"),
        ("{checkpoint: 'http://host/net.pb'}", "http://host/net.pb"),
        ("{checkpoint: 'http://host/net', is_archive: true}", "http://host/net"),
        ("{base_url: 'http://host/nets/', checkpoint: net.pb}", "net.pb"),
    ],
)
def test_a_checkpoint_is_the_models_file(block: str, path: str) -> None:
    found = model(V1 + f"model: {block}\n")
    assert found.source is not None and str(found.source.graph_path).endswith(path)
    converted(V1 + f"model: {block}\n")


def test_a_checkpoints_checksum_is_that_of_the_file() -> None:
    found = model(V1 + f"model: {{checkpoint: a.pb, checkpoint_checksum: {'a' * 32}}}\n")
    assert found.source is not None and found.source.graph_checksum == "md5:" + "a" * 32


V0 = """\
name: net
version: 1.0
framework: mxnet
type: cnn
input: {type: image, dimensions: [3, 224, 224]}
graph_url: http://host/net.json
weights_url: http://host/net.params
"""


def test_v0_without_an_output_is_a_classifier_where_it_names_classes() -> None:
    text = V0 + "features_url: http://host/synset.txt\n"
    found = model(text)
    assert (found.task, found.outputs[0].features_url) == ("classification", "http://host/synset.txt")
    assert "no output is written; the task is classification: `features_url` names classes" in notes(text, "implied")
    converted(text)


def test_v0_that_names_no_classes_is_no_classifier() -> None:
    assert model(V0).task == "general"
    assert any("nothing says what the model answers" in each for each in notes(V0, "unclear"))
    converted(V0)


OLDEST = """\
name: net
version: 1.0
framework: mxnet
model: http://host/net-symbol.json
weights: http://host/net-0000.params
dataset: ImageNet
"""


@pytest.mark.parametrize("text", [OLDEST, OLDEST.replace("framework: mxnet", "framework: {name: mxnet}")])
def test_the_very_oldest_form_names_files_and_a_dataset(text: str) -> None:
    found = model(text)
    assert found.source is not None
    assert (found.source.graph_path, found.source.weights_path) == (
        "http://host/net-symbol.json",
        "http://host/net-0000.params",
    )
    assert found.training_dataset is not None and found.training_dataset.name == "ImageNet"
    assert any("whose size is not known" in each for each in notes(text, "unclear"))
    assert [name for name, _ in written_steps(parse_document(text))] == ["decode", "layout", "cast"]
    converted(text)


def test_what_is_of_today_is_not_completed_as_if_it_were_of_2017() -> None:
    text = "name: net\nversion: 1.0.0\ntask: general\nframework: onnxruntime\nsource: {graph_path: net.onnx}\n"
    with pytest.raises(ManifestError, match="`inputs` is missing"):
        parse_manifest(text)


def test_a_word_is_the_frameworks_name() -> None:
    text = V1.replace("{name: TensorFlow, version: 1.12}", "MXNet") + FILE
    found = model(text)
    assert found.framework is not None and (found.framework.name, found.framework.version) == ("MXNet", "*")
    converted(text)


@pytest.mark.parametrize("key", ["mean", "mean_image"])
def test_a_mean_image_is_kept_and_not_subtracted(key: str) -> None:
    text = V1.replace("dimensions", f"{key}: 'https://host/mean.binaryproto', dimensions") + FILE
    found = model(text)
    assert found.inputs[0].attributes == {"mean_image": "https://host/mean.binaryproto"}
    assert "mean" not in [name for name, _ in written_steps(parse_document(text))]
    assert any(
        "the mean image https://host/mean.binaryproto is not subtracted" in each for each in notes(text, "unclear")
    )
    converted(text)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Some Net (SN)", "Some-Net-SN"),
        ("Net[v2]", "Net-v2"),
        ("A, B & C", "A-B-C"),
        ("(x)", "x"),
        ("plain_1.0+a", "plain_1.0+a"),
    ],
)
def test_a_name_becomes_one_word_and_the_title_is_kept(name: str, word: str) -> None:
    text = (V1 + FILE).replace("name: net", f"name: {name!r}")
    found = model(text)
    assert found.name == word and found.attributes.get("title") == (name if name != word else None)
    converted(text)


def test_a_name_without_any_letter_is_refused() -> None:
    with pytest.raises(ManifestError, match="name"):
        parse_manifest((V1 + FILE).replace("name: net", "name: '((('"))


@pytest.mark.parametrize(
    ("twice", "value"),
    [
        ("description: a\ndescription: a\n", "a"),
        ("description:\ndescription: a\n", "a"),
        ("description: a\ndescription: ''\n", "a"),
        ("description:\ndescription:\ndescription: a\n", "a"),
    ],
)
def test_a_key_may_stand_twice_where_it_says_one_thing(twice: str, value: str) -> None:
    assert model(V1 + FILE + twice).description == value
    assert notes(V1 + FILE + twice, "repeated")[0].startswith("the key `description` stands twice (first in line ")
    converted(V1 + FILE + twice)


def test_two_blocks_that_contradict_each_other_nowhere_are_one() -> None:
    text = V1.replace("parameters: {element_type: float32, ", "parameters: {element_type: float32}, parameters: {", 1)
    assert text != V1
    assert model(text + FILE).digest == model(V1 + FILE).digest


@pytest.mark.parametrize(
    "twice",
    [
        "description: a\ndescription: b\n",
        "attributes: {a: 1.10}\nattributes: {a: 1.1}\n",
        "attributes: {a: [1]}\nattributes: {a: [1, 2]}\n",
        "attributes: {a: true}\nattributes: {a: 1}\n",
        "attributes: {a: {b: 1}}\nattributes: {a: {b: 2}}\n",
        "references: [a]\nreferences: [b]\n",
        "attributes: x\nattributes: {a: 1}\n",
    ],
)
def test_a_key_with_two_values_is_refused(twice: str) -> None:
    with pytest.raises(ManifestError, match=r"stands here a second time \(first in line \d+\)"):
        parse_document(V1 + FILE + twice)


def test_a_file_of_nothing_but_repeated_keys_is_refused() -> None:
    with pytest.raises(ManifestError, match="more than 100 keys stand a second time"):
        parse_document(V1 + FILE + "description: a\n" * 20000)


def test_an_unknown_output_is_general() -> None:
    text = V1.replace("type: classification, parameters", "type: captions, parameters") + FILE
    found = model(text)
    assert found.task == "general" and found.attributes["output_type"] == "captions"
    assert notes(text, "unclear") == ["`output.type: captions` is not known; the task is `general`"]
    converted(text)


def test_a_raw_image_has_the_values_of_a_picture() -> None:
    text = V1.replace("float32", "raw_image") + FILE
    assert model(text).inputs[0].element_type == "uint8"
    assert any("`element_type: raw_image` is read as `uint8`" in each for each in notes(text, "unclear"))
    converted(text)


@pytest.mark.parametrize(
    ("name", "parameters", "task"),
    [
        ("resnet50", "{features_url: synset.txt}", "classification"),
        ("resnet50", "{probabilities_layer: softmax}", "classification"),
        ("resnet50", "{probabilities_layer: fc1000}", "general"),
        ("voc-fcn32s", "{features_url: voc.txt, probabilities_layer: score}", "semantic_segmentation"),
        ("BVLC-Reference-RCNN-ILSVRC13", "{features_url: det_synset_words.txt}", "general"),
        ("SSD_VGG", "{boxes_layer: b, probabilities_layer: p}", "object_detection"),
        ("VGG16_SOS", "{features_url: salient_object_subitizing.txt}", "general"),
        ("Style Transfer", "{features_url: synset.txt}", "general"),
        ("age_classifier", "{}", "classification"),
        ("SOSnet-something", "{features_url: synset.txt}", "classification"),
    ],
)
def test_a_feature_is_a_classifiers_only_with_a_reason(name: str, parameters: str, task: str) -> None:
    text = (V1 + FILE).replace("name: net", f"name: {name}")
    text = text.replace(
        "{type: classification, parameters: {features_url: synset.txt}}", f"{{type: feature, parameters: {parameters}}}"
    )
    assert model(text).task == task
    assert any("says little; the task is taken for" in each for each in notes(text, "unclear")) == (
        task != "classification"
    )
    converted(text)


def test_dlspecs_software_needs_no_container() -> None:
    for text in (
        "id: 1\nname: TensorFlow\nversion: 1.14\nenv:\n  - TF_X: 1\n",
        "name: PyTorch\nversion: 1.8\n",
        "id: a\nname: ONNX Runtime\nversion: '>=1.8'\ndescription: d\n",
    ):
        found = parse_manifest(text)
        assert isinstance(found, SoftwareManifest) and found.framework is not None
        assert found.framework.name in ("TensorFlow", "PyTorch", "ONNX Runtime")


def test_other_software_without_a_framework_stays_what_it_is() -> None:
    found = parse_manifest("kind: software\nname: quick\nversion: 1.0.0\nenv: {OMP_NUM_THREADS: 1}\n")
    assert isinstance(found, SoftwareManifest) and found.framework is None


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("s3://a/test_set.zip", "s3://a/test_set.zip#/"),
        ("s3://a/b.zip#c/", "s3://a/b.zip#c/"),
        ("s3://a/b", "s3://a/b"),
    ],
)
def test_an_archive_among_dlspecs_sources_is_a_folder_of_samples(url: str, read: str) -> None:
    text = f"id: 1\nname: test\nversion: 1.0\nsources: [{{source: '{url}', name: images}}]\n"
    found = parse_manifest(text)
    assert isinstance(found, DatasetManifest) and found.sources[0].url == read
    converted(text)


def test_a_reference_log_says_that_it_is_one() -> None:
    log = "id: 9\nname: run\nversion: 1.0.0\nmodel_id: 1\ndataset_id: 2\naccuracy: 0.76\noutputs: [1, 2]\n"
    with pytest.raises(ManifestError, match="this looks like a reference log") as told:
        parse_manifest(log)
    assert told.value.problems[0].hint == "add `kind: log`"
    with pytest.raises(ManifestError) as broken:
        parse_manifest(V1 + "nonsense_model: 1\n")
    assert "reference log" not in str(broken.value)
