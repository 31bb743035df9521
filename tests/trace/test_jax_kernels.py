"""ResNet-50 in JAX 0.11 on a real GPU (H200), as `profile --level hardware` kept it, and what is analysed of it."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.analysis.analyse import Analysed, analyse
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.record.record import Record
from mlmodelscope.trace.kernels import kernels_by_run
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.store import load_trace

FIXTURES = Path(__file__).parent / "fixtures"
MULTIPLICATIONS = 4_089_184_256


@pytest.fixture(params=[1, 32])
def batch(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def folder(batch: int) -> Path:
    return FIXTURES / f"resnet50-jax-h200-batch{batch}"


@pytest.fixture
def trace(folder: Path) -> Trace:
    return load_trace(folder)


@pytest.fixture
def analysed(folder: Path, trace: Trace) -> Analysed:
    return analyse([Subject(Record.model_validate_json((folder / "record.json").read_bytes()), trace)])


def test_kernels_end_in_the_layer_that_they_are_of(trace: Trace) -> None:
    """One may begin before it: the device starts it while the last blocks of another still run."""
    above = {span.id: span for span in trace.spans}
    for kernel in (kernel for run in kernels_by_run(trace) for kernel in run):
        layer = above[str(kernel.parent)]
        assert layer.level == "framework"
        assert layer.start_ns < kernel.end_ns <= layer.end_ns


def test_every_kernel_has_its_counters(trace: Trace, batch: int) -> None:
    first, second = kernels_by_run(trace)
    assert len(first) == len(second) > 100
    for kernel in (*first, *second):
        assert {"flops", "dram_read_bytes", "dram_write_bytes", "occupancy"} <= set(kernel.attributes)
    counted = sum(kernel.attributes["flops"] for kernel in first)
    assert 1 < counted / (2 * MULTIPLICATIONS * batch) < 1.3


def test_kernels_are_analysed(analysed: Analysed, batch: int) -> None:
    """A12 and A14 need shapes of layers, and XLA's profiler tells none."""
    found = {each.id: each.table for each in analysed.analyses}
    assert {"A8", "A9", "A10", "A11", "A13", "A15"} <= set(found)
    whole: dict[str, Any] = dict(
        zip((column.name for column in found["A15"].columns), found["A15"].rows[0], strict=True)
    )
    assert whole["bound"] == "memory" and 0 < whole["of_ideal"] < 1
