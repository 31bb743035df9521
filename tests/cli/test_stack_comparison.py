"""`evaluate --stacks` tells rounding from faults, and how to find the layer."""

import json
from pathlib import Path

import pytest

from mlmodelscope import Settings, evaluate
from mlmodelscope.cli.stack_comparison import show_stacks
from mlmodelscope.record.record import Record
from replicate.scenes import make_colours, make_seer

pytest.importorskip("onnxruntime")


@pytest.fixture
def records(tmp_path: Path, settings: Settings) -> list[Record]:
    """One that is right, the same once more, and one that sees other colors: as another stack's fault would show."""
    dataset = make_colours(tmp_path)
    first, other = (evaluate(make_seer(tmp_path, layout), dataset, settings=settings) for layout in ("RGB", "BGR"))
    return [first, first, other]


def test_a_fault_is_told_with_the_command_that_looks_for_the_layer(
    records: list[Record], settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    show_stacks(records, ["my model.yml", "colours"], ["current", "twin", "third"], settings, False)
    said = capsys.readouterr().out
    assert "same bits" in said and "fault" in said
    assert "mlmodelscope diff 'my model.yml' colours --stacks current,third" in said
    assert "third: up to" in said and "twin: " not in said


def test_programs_get_the_same(records: list[Record], settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    show_stacks(records, ["m", "d"], ["a", "b", "c"], settings, True)
    rows = json.loads(capsys.readouterr().out)["stacks"]
    assert rows[0]["distance"] is None and rows[0]["accuracy"]["value"] == 1.0
    assert [row["distance"]["judgment"] for row in rows[1:]] == ["same bits", "fault"]
    assert rows[2]["distance"]["largest"] > 0.1 and "rounding explains" in rows[2]["distance"]["words"]
