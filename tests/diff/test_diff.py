"""Two models are compared layer by layer: rounding is rounding, and a fault is named."""

import hashlib
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from diff_cases import judged, model_manifest
from diff_mutations import Mutation, all_mutations, attribute, kind, left_out, weight
from diff_networks import NETWORKS
from diff_pairs import halved
from diff_unseen import unseen_mutations
from typer.testing import CliRunner

from mlmodelscope.cli.verbs import make_app
from mlmodelscope.diff.diff import diff
from mlmodelscope.diff.difference_page import difference_html, difference_junit
from mlmodelscope.diff.result import Difference
from mlmodelscope.diff.side import RandomInput, SideRequest
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.settings import Settings

pytestmark = [pytest.mark.usefixtures("_needs_onnxruntime")]
MANIFEST = """\
name: {name}
version: 1.0.0
task: classification
framework: {{name: onnxruntime}}
inputs:
  - type: image
    processing:
      decode: {{color_layout: RGB}}
      resize: {{dimensions: [64, 64]}}
      mean: {mean}
      rescale: 127.5
      layout: NCHW
outputs: [{{type: {type}{steps}}}]
source: {{graph_path: {graph}}}
"""


@pytest.fixture(scope="module")
def _needs_onnxruntime() -> None:
    pytest.importorskip("onnxruntime")


def write(folder: Path, name: str, model: onnx.ModelProto) -> Path:
    place = folder / f"{name}.onnx"
    place.write_bytes(model.SerializeToString())
    return place


def compared(folder: Path, first: onnx.ModelProto, second: onnx.ModelProto, **more: object) -> Difference:
    sides = [SideRequest(model_manifest(write(folder, name, model))) for name, model in (("a", first), ("b", second))]
    settings = replace(Settings.from_environment(), home=folder / "home")
    return diff(sides[0], sides[1], settings=settings, **more)  # type: ignore[arg-type]


def test_a_model_agrees_with_itself(tmp_path: Path) -> None:
    model = NETWORKS["cnn"]()
    found = compared(tmp_path, model, model)
    assert (found.outcome, found.exit_code, found.first) == ("same", 0, None)
    assert [pair.verdict for pair in found.pairs] == ["agrees"] * 42


def test_half_precision_is_rounding(tmp_path: Path) -> None:
    model = NETWORKS["detector"]()
    found = compared(tmp_path, model, halved(model))
    assert found.outcome == "same", found.sentence
    assert max(pair.apart.relative for pair in found.pairs if pair.apart) > 1e-4


FEW = {
    "cnn: block0.conv1: kernels turned",
    "cnn: stem.pool: AveragePool",
    "detector: up: corners aligned",
    "encoder: layer0.norm1: left out",
    "decoder: layer0.attention.q.low: every other number",
}


@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(each, id=each.name, marks=() if each.name in FEW else pytest.mark.nightly)
        for each in all_mutations()
    ],
)
def test_a_planted_fault_is_named(mutation: Mutation, tmp_path: Path) -> None:
    model = NETWORKS[mutation.network]()
    found = compared(tmp_path, model, mutation.mutated(model))
    told = judged(mutation, found)
    assert told["layer_right"] and told["kind_right"], told
    assert found.exit_code == 1


UNSEEN = {"encoder: layer1.attention.mixed: keys for values", "encoder: scores: softmax twice"}


@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(each, id=each.name, marks=() if each.name in UNSEEN else pytest.mark.nightly)
        for each in unseen_mutations()
    ],
)
def test_a_fault_that_nobody_thought_of_is_named_too(mutation: Mutation, tmp_path: Path) -> None:
    model = NETWORKS[mutation.network]()
    told = judged(mutation, compared(tmp_path, model, mutation.mutated(model)))
    assert told["layer_right"] and told["kind_right"], told


def test_few_faults_are_among_all() -> None:
    for few, mutations in ((FEW, all_mutations()), (UNSEEN, unseen_mutations())):
        names = [each.name for each in mutations]
        assert set(names) >= few and len(names) == len(set(names)) >= 30


def test_other_names_and_layers_that_are_fused_do_not_hide_a_fault(tmp_path: Path) -> None:
    """Every tensor of B has another name, and a normalization is folded into the convolution before it."""
    model = NETWORKS["cnn"]()
    other = onnx.ModelProto()
    other.CopyFrom(model)
    _fold(other, "block0.conv1", "block0.norm1")
    weight("block3.conv1.weight", lambda values: values[:, :, ::-1])(other)
    for number, each in enumerate(other.graph.node):
        each.name = f"node{number}"
        for names in (each.input, each.output):
            for place, name in enumerate(names):
                kept = {"image", "scores", *(weights.name for weights in other.graph.initializer)}
                names[place] = name if name in kept else f"t{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    found = compared(tmp_path, model, other)
    assert found.named == "block3.conv1", found.sentence
    assert found.faults[0].kind == "transposed weights"


def _fold(model: onnx.ModelProto, name: str, norm: str) -> None:
    values = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    factor = values[f"{norm}.scale"] / np.sqrt(values[f"{norm}.variance"] + 1e-5)
    weight(f"{name}.weight", lambda w: w * factor[:, None, None, None])(model)
    shift = values[f"{norm}.shift"] - values[f"{norm}.mean"] * factor
    model.graph.initializer.append(onnx.numpy_helper.from_array(shift, f"{name}.bias"))
    left_out(norm)(model)
    next(each for each in model.graph.node if each.name == name).input.append(f"{name}.bias")


def test_a_number_that_is_not_finite_is_a_finding(tmp_path: Path) -> None:
    model = NETWORKS["cnn"]()
    broken = Mutation("cnn", (), (), "NaN", weight("block1.conv2.bias", lambda values: values * np.nan)).mutated(model)
    found = compared(tmp_path, model, broken)
    assert found.named == "block1.conv2" and "NaN or infinite" in found.sentence
    assert found.exit_code == 1


def test_a_model_that_does_not_open_is_a_finding(tmp_path: Path) -> None:
    model = NETWORKS["cnn"]()
    broken = onnx.ModelProto()
    broken.CopyFrom(model)
    broken.graph.node[3].op_type = "NoSuchOperator"
    found = compared(tmp_path, model, broken)
    assert found.outcome == "no verdict" and found.exit_code == 3
    assert found.sentence.startswith("B cannot be opened: onnxruntime")
    assert "Traceback" not in found.sentence


def test_models_that_take_other_inputs_are_a_finding(tmp_path: Path) -> None:
    found = compared(tmp_path, NETWORKS["cnn"](), NETWORKS["decoder"]())
    assert found.outcome == "no verdict"
    assert "B cannot be asked for its layers: input `tokens` takes the shape [1, 10]" in found.sentence
    assert "Traceback" not in found.sentence


def test_a_tolerance_can_be_given_for_all_layers_or_for_one(tmp_path: Path) -> None:
    model = NETWORKS["cnn"]()
    changed = Mutation("cnn", (), (), "", attribute("block3.norm1", epsilon=1e-3)).mutated(model)
    assert compared(tmp_path, model, changed).named == "block3.norm1"
    assert compared(tmp_path, model, changed, tolerance=Tolerance(0.1)).outcome == "same"
    found = compared(tmp_path, model, changed, tolerance=Tolerance(None, {"block3.norm1": 0.1}))
    assert found.named != "block3.norm1"


def test_shapes_and_the_seed_are_the_users(tmp_path: Path) -> None:
    model = NETWORKS["cnn"]()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    found = compared(tmp_path, model, model, random=RandomInput(7, 3))
    assert found.pairs[0].first is not None and found.pairs[0].first.shape[0] == 3


@pytest.fixture
def on_pictures(tmp_path: Path) -> Path:
    """A folder with a dataset of pictures, and a network that takes them."""
    from small_world import DATASET, write_pictures

    pytest.importorskip("PIL")
    write_pictures(tmp_path / "pictures")
    (tmp_path / "pictures.yml").write_text(DATASET)
    write(tmp_path, "cnn", NETWORKS["cnn"]())
    return tmp_path


def manifest(folder: Path, name: str, mean: float = 127.5, type: str = "probability", steps: str = "") -> Path:
    place = folder / f"{name}.yml"
    place.write_text(MANIFEST.format(name=name, mean=mean, type=type, steps=steps, graph="cnn.onnx"))
    return place


def parts(folder: Path, first: Path, second: Path) -> dict[str, tuple[str, str | None]]:
    settings = replace(Settings.from_environment(), home=folder / "home")
    found = diff(SideRequest(str(first)), SideRequest(str(second)), str(folder / "pictures.yml"), settings=settings)
    return {part.part: (part.verdict, part.step) for part in found.parts}


def test_a_step_before_the_model_is_named(on_pictures: Path) -> None:
    found = parts(on_pictures, manifest(on_pictures, "a"), manifest(on_pictures, "b", mean=100))
    assert found == {"pipeline": ("differs", "mean"), "model": ("agrees", None), "answer": ("agrees", None)}


def test_a_step_behind_the_model_is_named(on_pictures: Path) -> None:
    first, second = (
        manifest(on_pictures, "a"),
        manifest(on_pictures, "b", type="logits", steps=", processing: {softmax: }"),
    )
    found = parts(on_pictures, first, second)
    assert found == {"pipeline": ("agrees", None), "model": ("agrees", None), "answer": ("differs", "softmax")}


def test_the_command_line_names_the_layer_and_writes_pages(on_pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(on_pictures / "home"))
    model = NETWORKS["cnn"]()
    broken = Mutation("cnn", (), (), "", kind("stem.relu", "LeakyRelu", alpha=0.1)).mutated(model)
    first = manifest(on_pictures, "a")
    second = manifest(on_pictures, "b")
    second.write_text(second.read_text().replace("cnn.onnx", "broken.onnx"))
    write(on_pictures, "broken", broken)
    page, junit = on_pictures / "out" / "page.html", on_pictures / "out" / "junit.xml"
    arguments = ["diff", str(first), str(second), str(on_pictures / "pictures.yml"), "--json"]
    told = CliRunner().invoke(make_app(["diff", "models"]), [*arguments, "--report", str(page), "--junit", str(junit)])
    assert told.exit_code == 1, told.output
    found = json.loads(told.stdout)
    assert found["first_difference"]["a"]["name"] == "stem.relu"
    assert found["faults"][0]["kind"] == "activation" and "LeakyRelu with 0.1" in found["faults"][0]["words"]
    assert "stem.relu" in page.read_text() and "← the first" in page.read_text()
    suite = ElementTree.fromstring(junit.read_text())
    assert int(suite.get("failures") or 0) > 0
    assert [case.get("name") for case in suite if len(case)][0] == "stem.relu"


def test_a_comparison_that_came_to_nothing_has_pages_too() -> None:
    found = Difference("no verdict", "B cannot be opened: <it>", ())
    assert "&lt;it&gt;" in difference_html(found) and "<error" in difference_junit(found)


def test_a_tolerance_that_is_none_is_refused() -> None:
    told = CliRunner().invoke(make_app(["diff", "models"]), ["diff", "a", "b", "--tolerance", "nonsense"])
    assert told.exit_code == 2
