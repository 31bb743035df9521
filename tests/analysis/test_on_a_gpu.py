"""The analyses of a real profile: ResNet-50 on an H200, kept in tests/trace/fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.analysis.analyse import Analysed, analyse
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.record.record import Record
from mlmodelscope.trace.store import load_trace

FIXTURES = Path(__file__).parent.parent / "trace" / "fixtures"
MULTIPLY_ADDS = 4.089e9
"""Of ResNet-50 for one picture."""


def subject(batch: int) -> Subject:
    folder = FIXTURES / f"resnet50-h200-batch{batch}"
    return Subject(Record.model_validate_json((folder / "record.json").read_bytes()), load_trace(folder))


@pytest.fixture(scope="module")
def analysed() -> Analysed:
    return analyse([subject(32), subject(1)])


def rows(analysed: Analysed, name: str) -> list[dict[str, Any]]:
    table = next(each.table for each in analysed.analyses if each.id == name)
    return [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]


def test_all_fifteen_are_there(analysed: Analysed) -> None:
    assert [each.id for each in analysed.analyses] == [f"A{number}" for number in range(1, 16)]
    assert not analysed.missing


def test_every_kernel_has_its_layer_and_its_counters(analysed: Analysed) -> None:
    kernels = rows(analysed, "A8")
    assert len(kernels) == 239
    assert all(each["layer"] and each["occupancy"] and each["flops"] is not None for each in kernels)


def test_operations_are_those_of_the_network_and_a_little_more(analysed: Analysed) -> None:
    for row, batch in zip(rows(analysed, "A15"), (32, 1), strict=True):
        assert 1.05 < row["flops"] / (2 * MULTIPLY_ADDS * batch) < 1.3
        assert row["of_ideal"] < 1 and row["bound"] == "memory"


def test_kernels_of_a_layer_take_no_longer_than_the_layer(analysed: Analysed) -> None:
    layers = rows(analysed, "A13")
    assert sum(each["inside_ns"] <= 1.01 * each["layer_ns"] for each in layers) / len(layers) > 0.98
    convolutions = [each for each in rows(analysed, "A11") if "convolution" in each["type"]]
    assert len(convolutions) == 53


def test_names_and_layers_add_up_to_the_same(analysed: Analysed) -> None:
    total = sum(each["flops"] for each in rows(analysed, "A8"))
    assert sum(each["flops"] for each in rows(analysed, "A10")) == pytest.approx(total)
    assert sum(each["flops"] or 0 for each in rows(analysed, "A11")) == pytest.approx(total)
