"""Where no pitfall explains a gap, a reference implementation shows the layer that does."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mlmodelscope import Settings, Store, evaluate
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.claim import Claim
from mlmodelscope.record.log import write_log
from mlmodelscope.replicate.describe import describe_inside
from mlmodelscope.replicate.export import to_json, to_junit, to_markdown
from mlmodelscope.replicate.outcome import finding_of
from mlmodelscope.replicate.replication import Replication, replicate
from mlmodelscope.replicate.replication_page import render
from replicate.scenes import describe_seer, make_colours

pytest.importorskip("onnxruntime")
CLAIM = Claim("top1", "100.0", "colours")


def write_graph(place: Path, blue: float, bias: float = 0.0) -> Path:
    """Scores are the mean red, green and blue of a picture; `blue` is the weight that a mistake changes."""
    values = {
        "first.weight": np.eye(3, dtype=np.float32)[:, :, None, None],
        "second.weight": np.diag([1, 1, blue]).astype(np.float32)[:, :, None, None],
        "second.bias": np.full(3, bias, np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "first.weight"], ["first"], name="first"),
        helper.make_node("Relu", ["first"], ["relu"], name="relu"),
        helper.make_node("Conv", ["relu", "second.weight", "second.bias"], ["second"], name="second"),
        helper.make_node("GlobalAveragePool", ["second"], ["pooled"], name="pool"),
        helper.make_node("Flatten", ["pooled"], ["scores"], name="flat"),
    ]
    shape = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])
    out = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 3])
    weights = [numpy_helper.from_array(value, name) for name, value in values.items()]
    graph = helper.make_graph(nodes, "seer", [shape], [out], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    place.write_bytes(model.SerializeToString())
    return place


def seer(folder: Path, name: str, blue: float = 1.0, bias: float = 0.0, color: str = "RGB") -> ModelManifest:
    written = describe_seer(folder, color)
    graph = write_graph(folder / f"{name}.onnx", blue, bias)
    manifest = load_manifest({**written, "name": name, "source": {"graph_path": str(graph)}})
    assert isinstance(manifest, ModelManifest)
    return manifest


def asked(folder: Path, settings: Settings, ours: ModelManifest, **more: object) -> Replication:
    return replicate(ours, make_colours(folder), claim=CLAIM, settings=settings, **more)  # type: ignore[arg-type]


def logged(folder: Path, settings: Settings, theirs: ModelManifest) -> Path:
    """The reference log of somebody who ran this model."""
    record = evaluate(theirs, make_colours(folder), settings=settings)
    store = Store(settings)
    try:
        return write_log(record, store, folder / "theirs.log.yml")[0]
    finally:
        store.close()


@pytest.fixture
def faulty(tmp_path: Path, settings: Settings) -> Replication:
    """A weight that is ten times too small, beside an implementation without that mistake."""
    return asked(tmp_path, settings, seer(tmp_path, "mine", 0.1), reference=seer(tmp_path, "theirs"))


def test_the_verdict_names_a_layer_in_every_form(faulty: Replication) -> None:
    inside = faulty.inside
    assert inside is not None and faulty.found is not None and not faulty.found.explained
    assert inside.layer == "second"
    assert inside.reaches and inside.measured == 1.0
    said = " ".join(describe_inside(inside, faulty.verdict))
    assert "second (Conv) is the first layer that differs" in said and "explains the gap" in said
    body = json.loads(json.dumps(to_json(faulty)))
    assert body["inside"]["layer"] == "second" and body["inside"]["reference_reproduces"] is True
    finding = finding_of(faulty)
    assert finding.inside is not None and finding.inside.layer == "second"
    assert any("second (Conv)" in line for line in finding.said)
    assert "second (Conv)" in to_junit(faulty) and "second (Conv)" in to_markdown(faulty)
    page = render(faulty)
    assert 'id="inside"' in page and "data:image/png;base64," in page and "Difference along the depth" in page


def test_nothing_is_named_where_only_rounding_differs(tmp_path: Path, settings: Settings) -> None:
    ours = seer(tmp_path, "mine", 0.1)
    done = asked(tmp_path, settings, ours, reference=seer(tmp_path, "theirs", 0.1 * (1 + 1e-6)))
    assert done.inside is not None and done.inside.layer is None
    (said,) = describe_inside(done.inside, done.verdict)
    assert "The model is not at fault" in said
    assert to_json(done)["inside"]["layer"] is None and finding_of(done).inside is not None


def test_a_reference_that_does_not_reach_the_claim_explains_nothing(tmp_path: Path, settings: Settings) -> None:
    done = asked(tmp_path, settings, seer(tmp_path, "mine", 0.1), reference=seer(tmp_path, "theirs", 0.2))
    assert done.inside is not None and done.inside.layer == "second" and done.inside.reaches is False
    assert "not all of the gap" in " ".join(describe_inside(done.inside, done.verdict))


def test_a_pitfall_that_explains_the_gap_ends_the_search(tmp_path: Path, settings: Settings) -> None:
    done = asked(tmp_path, settings, seer(tmp_path, "mine", color="BGR"), reference=seer(tmp_path, "theirs"))
    assert done.found is not None and done.found.explained and done.inside is None


def test_a_reference_that_does_not_run_is_a_sentence(tmp_path: Path, settings: Settings) -> None:
    theirs = seer(tmp_path, "theirs")
    broken = onnx.load(tmp_path / "theirs.onnx")
    broken.graph.node[1].op_type = "NoSuchOperator"
    (tmp_path / "theirs.onnx").write_bytes(broken.SerializeToString())
    done = asked(tmp_path, settings, seer(tmp_path, "mine", 0.1), reference=theirs)
    assert done.inside is not None and done.inside.layer is None
    said = " ".join(describe_inside(done.inside, done.verdict))
    assert "nothing was found out: A cannot be opened" in said and "Traceback" not in said
    assert finding_of(done).inside is not None


def test_a_reference_that_is_not_there_is_found_before_anything_runs(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(MLModelScopeError, match="nowhere"):
        asked(tmp_path, settings, seer(tmp_path, "mine"), reference=str(tmp_path / "nowhere.yml"))
    assert not (settings.home / "records").exists() or not list((settings.home / "records").iterdir())
    training = "mnist-mlp-training"
    with pytest.raises(UsageError, match="training"):
        asked(tmp_path, settings, seer(tmp_path, "mine"), reference=training)


def test_a_log_tells_that_answers_differ_and_names_what_is_missing(tmp_path: Path, settings: Settings) -> None:
    log = logged(tmp_path, settings, seer(tmp_path, "theirs"))
    done = replicate(seer(tmp_path, "mine", 0.1), make_colours(tmp_path), log=log, settings=settings)
    assert done.inside is not None and done.inside.answers is not None
    assert done.inside.answers.judgment == "fault" and done.inside.layer is None
    said = " ".join(describe_inside(done.inside, done.verdict))
    assert "Our answers are not the claimant's" in said and "--reference MODEL" in said
    assert to_json(done)["inside"]["claimants_answers"] == "fault"


def test_a_log_with_a_reference_names_the_layer(tmp_path: Path, settings: Settings) -> None:
    theirs = seer(tmp_path, "theirs")
    done = replicate(
        seer(tmp_path, "mine", 0.1),
        make_colours(tmp_path),
        log=logged(tmp_path, settings, theirs),
        reference=theirs,
        settings=settings,
    )
    assert done.inside is not None and done.inside.layer == "second" and done.inside.answers is not None
