"""One model in several stacks: a table that tells rounding from faults, and names the layer."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from diff_cases import model_manifest
from diff_networks import NETWORKS
from typer.testing import CliRunner

from mlmodelscope.cli.verbs import make_app
from mlmodelscope.diff.stack_page import stacks_html, stacks_junit
from mlmodelscope.diff.stacks import StackDifferences, diff_stacks
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.errors import MLModelScopeError, StackError, UsageError
from mlmodelscope.provision.stack.interpreter import find_interpreter
from mlmodelscope.settings import Settings
from small_world import DATASET, write_pictures

pytest.importorskip("onnxruntime")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environment(), home=tmp_path / "home", offline=True)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    place = tmp_path / "cnn.onnx"
    place.write_bytes(NETWORKS["cnn"]().SerializeToString())
    return place


def compared(graph: Path, settings: Settings, *stacks: str, **more: object) -> StackDifferences:
    return diff_stacks(model_manifest(graph), stacks, settings=settings, **more)  # type: ignore[arg-type]


def needs_opencv() -> None:
    """The stack `opencv-5`, which is built where the tests run, and the Python that it asks for."""
    pytest.importorskip("cv2")
    try:
        find_interpreter("3.11")
    except StackError as error:
        pytest.skip(error.message)


def test_another_framework_rounds_otherwise(graph: Path, settings: Settings) -> None:
    needs_opencv()
    found = compared(graph, settings, "current", "opencv-5")
    first, second = found.rows
    assert (first.judgment, second.judgment, found.outcome, found.exit_code) == ("reference", "rounding", "same", 0)
    assert second.predictor == "opencv" and first.predictor == "onnxruntime" and second.layers > 20
    assert second.same_bits is False and second.relative is not None and 0 < second.relative < 1e-5
    assert second.same_answers is None and second.first_layer is None


def test_a_tolerance_that_rounding_exceeds_names_a_layer(graph: Path, settings: Settings) -> None:
    needs_opencv()
    found = compared(graph, settings, "current", "opencv-5", tolerance=Tolerance(1e-9))
    row = found.rows[1]
    assert (row.judgment, found.exit_code) == ("fault", 1)
    assert row.first_layer is not None and row.difference is not None and row.difference.maps is not None
    page, suite = stacks_html(found), ElementTree.fromstring(stacks_junit(found))
    assert row.first_layer in page and "data:image/png;base64," in page
    assert suite.get("failures") == "1" and [case.get("name") for case in suite] == ["opencv-5"]
    body = json.loads(json.dumps(found.to_json()))
    assert body["stacks"][1]["first_layer"] == row.first_layer and body["stacks"][1]["difference"]["layers"]


def test_a_stack_that_cannot_be_had_is_a_row_of_its_own(graph: Path, settings: Settings) -> None:
    needs_opencv()
    found = compared(graph, settings, "current", "onnxruntime-1.17", "opencv-5")
    assert [row.judgment for row in found.rows] == ["reference", "no verdict", "rounding"]
    assert "network" in found.rows[1].words and found.exit_code == 3
    assert ElementTree.fromstring(stacks_junit(found)).get("errors") == "1"


def test_one_name_twice_is_one_stack(graph: Path, settings: Settings) -> None:
    with pytest.raises(UsageError, match="only current is named, and one stack is nothing to compare with"):
        compared(graph, settings, "current", "current")
    with pytest.raises(UsageError, match="no stack is named"):
        compared(graph, settings)


def test_a_name_that_is_unknown_is_found_before_anything_runs(graph: Path, settings: Settings) -> None:
    with pytest.raises(MLModelScopeError, match="there is no software `nonsense`"):
        compared(graph, settings, "current", "nonsense")


def test_all_stands_for_what_is_built(graph: Path, settings: Settings) -> None:
    """In an empty home that is the running Python, and manifests that ask for no more than it has."""
    try:
        found = compared(graph, settings, "all")
    except UsageError as error:
        assert "only current is named" in error.message
    else:
        assert found.rows[0].stack == "current" and found.exit_code == 0


def test_a_model_that_only_one_stack_opens(graph: Path, settings: Settings) -> None:
    """OpenCV does not know every operator: its row says so, and the others stand."""
    needs_opencv()
    import onnx

    model = onnx.load(graph)
    relu = next(node for node in model.graph.node if node.name == "stem.relu")
    relu.op_type = "MeanVarianceNormalization"
    graph.write_bytes(model.SerializeToString())
    found = compared(graph, settings, "current", "opencv-5")
    assert found.rows[1].judgment == "no verdict" and "opencv" in found.rows[1].words.lower()
    assert "Traceback" not in found.rows[1].words


def test_samples_give_answers_that_are_counted(graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_opencv()
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(tmp_path / "home"))
    write_pictures(tmp_path / "pictures")
    (tmp_path / "pictures.yml").write_text(DATASET)
    (tmp_path / "cnn.yml").write_text(
        "name: cnn\nversion: 1.0.0\ntask: classification\nframework: {name: onnxruntime}\n"
        "inputs: [{type: image, processing: {decode: {color_layout: RGB}, resize: {dimensions: [64, 64]},"
        " mean: 127.5, rescale: 127.5, layout: NCHW}}]\n"
        "outputs: [{type: probability}]\nsource: {graph_path: cnn.onnx}\n"
    )
    words = ["diff", str(tmp_path / "cnn.yml"), str(tmp_path / "pictures.yml"), "--stacks", "current,opencv-5"]
    page = tmp_path / "page.html"
    told = CliRunner().invoke(make_app(["diff", "models"]), [*words, "--json", "--report", str(page)])
    assert told.exit_code == 0, told.output
    row = json.loads(told.stdout)["stacks"][1]
    assert (row["same_answers"], row["samples"], row["judgment"]) == (1, 1, "rounding")
    assert "opencv-5" in page.read_text()
    shown = CliRunner().invoke(make_app(["diff", "models"]), words)
    assert "rounding" in shown.output and "1 of 1" in shown.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--stacks", "a,b", "--stack-a", "c"], "--stacks goes with neither"),
        (["b.yml", "c", "--stacks", "a,b"], "two are named"),
        ([], "B is missing"),
        (["--stacks", ","], "no stack is named"),
    ],
)
def test_what_cannot_be_asked_together_is_refused(words: list[str], said: str, graph: Path, tmp_path: Path) -> None:
    (tmp_path / "m.yml").write_text(
        "name: cnn\nversion: 1.0.0\ntask: classification\nframework: {name: onnxruntime}\n"
        "inputs: [{type: image}]\noutputs: [{type: probability}]\nsource: {graph_path: cnn.onnx}\n"
    )
    told = CliRunner().invoke(make_app(["diff", "models"]), ["diff", str(tmp_path / "m.yml"), *words])
    assert told.exit_code == 2, told.output
    assert isinstance(told.exception, SystemExit | MLModelScopeError) and said in f"{told.output}{told.exception}"
