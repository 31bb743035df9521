"""Whatever goes wrong on one side is a finding in words, never a traceback."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from diff_cases import model_manifest
from diff_mutations import attribute, weight
from diff_networks import NETWORKS
from onnx import TensorProto, helper
from typer.testing import CliRunner

from mlmodelscope.cli.verbs import make_app
from mlmodelscope.diff import diff as diff_module
from mlmodelscope.diff.diff import diff
from mlmodelscope.diff.difference_page import difference_html, difference_junit
from mlmodelscope.diff.result import Difference
from mlmodelscope.diff.side import Side, SideRequest
from mlmodelscope.errors import WorkerError
from mlmodelscope.settings import Settings

pytest.importorskip("onnxruntime")
Change = Callable[[onnx.ModelProto], None]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environment(), home=tmp_path / "home")


def write(folder: Path, name: str, *changes: Change, network: str = "cnn") -> Path:
    model = NETWORKS[network]()
    for change in changes:
        change(model)
    place = folder / f"{name}.onnx"
    place.write_bytes(model.SerializeToString())
    return place


def compared(first: Path, second: Path, settings: Settings) -> Difference:
    found = diff(SideRequest(model_manifest(first)), SideRequest(model_manifest(second)), settings=settings)
    told = found.sentence + json.dumps(found.to_json()) + difference_html(found) + difference_junit(found)
    assert "Traceback" not in told and 'File "' not in told
    return found


def nan(name: str) -> Change:
    return weight(name, lambda values: values * np.nan)


def test_nan_is_told_of_the_side_that_has_it(tmp_path: Path, settings: Settings) -> None:
    good, bad = write(tmp_path, "good"), write(tmp_path, "bad", nan("block1.conv2.bias"))
    found = compared(bad, good, settings)
    assert found.named == "block1.conv2" and "in A that are NaN or infinite" in found.sentence
    both = compared(bad, bad, settings)
    assert both.outcome == "same" and both.exit_code == 0


def test_infinity_is_not_nan(tmp_path: Path, settings: Settings) -> None:
    huge = write(tmp_path, "huge", weight("block1.conv2.bias", lambda values: values * np.inf))
    found = compared(huge, write(tmp_path, "bad", nan("block1.conv2.bias")), settings)
    assert found.named == "block1.conv2" and found.exit_code == 1


def test_shapes_that_differ_are_a_sentence(tmp_path: Path, settings: Settings) -> None:
    wide = write(tmp_path, "wide", attribute("tail.conv", pads=[2, 2, 2, 2]))
    found = compared(write(tmp_path, "good"), wide, settings)
    assert found.named == "tail.conv" and "in A and [1, 48, " in found.sentence
    assert found.faults[0].kind == "padding"


def test_a_model_that_does_not_open_is_told_of_either_side(tmp_path: Path, settings: Settings) -> None:
    good, damaged, empty = write(tmp_path, "good"), tmp_path / "damaged.onnx", tmp_path / "empty.onnx"
    damaged.write_bytes(good.read_bytes()[:3000])
    empty.write_bytes(b"")
    manifest = model_manifest(good)
    for broken in (damaged, empty):
        source = manifest.source
        assert source is not None
        other = manifest.model_copy(update={"source": source.model_copy(update={"graph_path": str(broken)})})
        for sides, label in (((manifest, other), "B"), ((other, manifest), "A")):
            found = diff(SideRequest(sides[0]), SideRequest(sides[1]), settings=settings)
            assert found.outcome == "no verdict" and found.sentence.startswith(f"{label} cannot be opened")
            assert "Traceback" not in found.sentence and found.exit_code == 3
            assert "<error" in difference_junit(found)


def test_a_model_that_opens_and_does_not_run_is_told(tmp_path: Path, settings: Settings) -> None:
    """Words that it looks up are not in its table, which shows when it runs."""
    found = compared(
        write(tmp_path, "good", network="encoder"),
        write(tmp_path, "small", weight("words", lambda values: values[:1]), network="encoder"),
        settings,
    )
    assert found.outcome == "no verdict"
    assert "B cannot be asked for its layers: the model does not run" in found.sentence


def test_models_with_other_inputs_and_outputs(tmp_path: Path, settings: Settings) -> None:
    found = compared(write(tmp_path, "one"), write(tmp_path, "two", network="detector"), settings)
    assert found.outcome in ("different", "undecided")
    more = tmp_path / "more.onnx"
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 64, 64]) for name in "xy")
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 3, 64, 64])
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["out"], name="sum")], "g", [x, y], [out])
    more.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    )
    found = compared(write(tmp_path, "one"), more, settings)
    assert found.outcome == "no verdict" and "the other model takes 1 inputs, this one 2" in found.sentence


def test_a_disk_that_is_full_is_a_sentence(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write(tmp_path, "good")
    monkeypatch.setattr(diff_module, "SHARE_OF_DISK", 1 << 62)
    found = compared(good, good, settings)
    assert found.outcome == "no verdict" and "take more room than" in found.sentence


def test_layers_that_do_not_fit_leave_the_outputs(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write(tmp_path, "good")
    whole = Side.__init__

    def small(self: Side, label: str, asked: object, dataset: object, samples: int, place: object) -> None:
        whole(self, label, asked, dataset, samples, replace(place, most_bytes=200_000))  # type: ignore[arg-type, type-var]

    monkeypatch.setattr(Side, "__init__", small)
    found = compared(good, good, settings)
    assert found.outcome == "same" and any("take more room" in note for note in found.sides[0].notes)
    assert any(pair.is_output and pair.apart for pair in found.pairs)


def test_a_worker_that_is_killed_is_a_sentence(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write(tmp_path, "good")
    read = Side.read

    def killed(self: Side, worker: object, inputs: object) -> object:
        if self.label == "B":
            worker._process._process.kill()  # type: ignore[attr-defined]
        return read(self, worker, inputs)  # type: ignore[arg-type]

    monkeypatch.setattr(Side, "read", killed)
    found = compared(good, good, settings)
    assert found.outcome == "no verdict" and found.sentence.startswith("B cannot be asked for its layers")


def test_a_surprise_in_a_worker_shows_no_traceback(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write(tmp_path, "good")

    def surprised(self: Side, worker: object, inputs: object) -> object:
        raise WorkerError('it broke\nTraceback (most recent call last):\n  File "x.py", line 1')

    monkeypatch.setattr(Side, "read", surprised)
    found = compared(good, good, settings)
    assert found.sentence == "A cannot be asked for its layers: it broke"


def test_files_that_are_missing_are_no_verdict_on_the_command_line(tmp_path: Path) -> None:
    for name in ("here", "gone"):
        (tmp_path / f"{name}.yml").write_text(
            f"name: {name}\nversion: 1.0.0\ntask: classification\nframework: {{name: onnxruntime}}\n"
            f"inputs: [{{type: image}}]\noutputs: [{{type: logits}}]\nsource: {{graph_path: {name}.onnx}}\n"
        )
    write(tmp_path, "here")
    words = ["diff", str(tmp_path / "here.yml"), str(tmp_path / "gone.yml")]
    told = CliRunner().invoke(make_app(["diff", "models"]), words)
    assert told.exit_code == 3 and "Traceback" not in told.output
    assert "gone.onnx" in f"{told.output}{told.stderr}"
