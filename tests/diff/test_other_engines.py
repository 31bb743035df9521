"""Layers that were read from another engine than the one that answers convict and acquit nobody."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from diff_cases import model_manifest
from diff_mutations import Mutation, attribute
from diff_networks import NETWORKS

from mlmodelscope.diff.diff import diff
from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.result import Difference
from mlmodelscope.diff.side import Side, SideRequest
from mlmodelscope.settings import Settings

pytest.importorskip("onnxruntime")
COUNTS = Mutation("cnn", (), (), "", attribute("tail.pool", count_include_pad=1))
"""What OpenCV's classic engine computes wrongly, and its new one rightly."""
Read = Callable[[Reading, Reading, Path], Reading]
"""What becomes of B's reading: it gets A's, B's and the folder with their tensors."""


def written(folder: Path, name: str, is_changed: bool) -> Path:
    model = NETWORKS["cnn"]()
    place = folder / f"{name}.onnx"
    place.write_bytes((COUNTS.mutated(model) if is_changed else model).SerializeToString())
    return place


def compared(folder: Path, monkeypatch: pytest.MonkeyPatch, read: Read, *, second: bool = False) -> Difference:
    """The network, and in B the same or with padding that counts; B's reading is changed on its way."""
    sides = [SideRequest(model_manifest(written(folder, *each))) for each in (("a", False), ("b", second))]
    whole, readings = Side.read, []

    def of_two_engines(side: Side, *asked: object) -> Reading:
        readings.append(whole(side, *asked))  # type: ignore[arg-type]
        return read(*readings, side._place.folder) if side.label == "B" else readings[0]

    monkeypatch.setattr(Side, "read", of_two_engines)
    return diff(sides[0], sides[1], settings=replace(Settings.from_environment(), home=folder / "home"))


def answering(factor: float) -> Read:
    """The engine that answers computes something else than the one whose layers are read."""

    def change(first: Reading, reading: Reading, folder: Path) -> Reading:
        (answer,) = reading.outputs
        values = np.fromfile(folder / answer.file, answer.element_type)
        (folder / "answer.raw").write_bytes((values * np.float32(factor)).tobytes())
        return replace(reading, outputs=(replace(answer, file="answer.raw"),))

    return change


def test_no_layer_is_named_where_the_answer_is_of_another_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model with a layer at the end that only one side shows, such as an Identity, is no exception."""
    found = compared(tmp_path, monkeypatch, answering(1.02))
    assert found.outcome == "different" and found.faults[0].kind == "other engine" and not found.faults[0].node
    assert "B's layers were read from another engine or graph than the one that answers" in found.sentence
    assert "no layer can be named" in found.sentence and "extra layer" not in found.sentence
    assert all(pair.verdict in ("agrees", "alone") for pair in found.pairs if not pair.is_output)


def test_answers_that_agree_are_the_same_whatever_another_engine_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layers that are read differ; what answers does not."""

    def answers_as_the_first(first: Reading, reading: Reading, folder: Path) -> Reading:
        return replace(reading, outputs=first.outputs)

    found = compared(tmp_path, monkeypatch, answers_as_the_first, second=True)
    assert found.outcome == "same" and found.first is None, found.sentence
    assert "they end in scores" in found.sentence
    assert any("tail.pool is the first layer that differs" in note for note in found.notes)
    assert [pair.verdict for pair in found.pairs if pair.name == "tail.pool"] == ["passed over"]


def test_rounding_between_layers_and_answer_is_no_other_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared(tmp_path, monkeypatch, answering(1 + 2e-6))
    assert (found.outcome, found.notes) == ("same", ())


def test_an_identity_behind_the_last_layer_is_no_extra_layer() -> None:
    from mlmodelscope.diff.diff import _beyond
    from mlmodelscope.diff.pairing import LayerPair

    def pairs(kind: str) -> list[LayerPair]:
        ends = [Held(name, (1, 10), "float32", "", (), kind=each) for name, each in (("out", "Gemm"), ("scores", kind))]
        answers = [replace(ends[0], kind=""), replace(ends[1], kind="")]
        return [
            LayerPair(ends[0], ends[0], verdict="agrees"),
            LayerPair(None, ends[1]),
            LayerPair(answers[0], answers[1], verdict="differs", is_output=True),
        ]

    assert _beyond(pairs("Identity")) == ()
    assert [fault.kind for fault in _beyond(pairs("Softmax"))] == ["extra layer"]


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["auto", "new", "classic"])
def test_opencv_5_is_judged_by_the_engine_that_answers(tmp_path: Path, engine: str) -> None:
    """Padding that counts is computed by the new engine alone. Needs the stack opencv-5."""
    found = [opencv(tmp_path, first, second, engine) for first, second in ((False, True), (True, True))]
    if engine == "classic":
        assert found[0].outcome == "same" and found[1].named == "tail.pool"
    else:
        assert found[0].named == "tail.pool" and found[0].faults[0].kind == "pooling rule"
        assert found[1].outcome == "same"


def opencv(folder: Path, first: bool, second: bool, engine: str) -> Difference:
    places = [written(folder, *each) for each in (("a", first), ("b", second))]
    asked = SideRequest(model_manifest(places[1], "opencv"), "opencv-5", {"engine": engine})
    return diff(SideRequest(model_manifest(places[0])), asked, settings=Settings.from_environment())
