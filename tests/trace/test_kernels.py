"""ResNet-50 on a real GPU (H200, PyTorch 2.11, TorchScript), as `profile --level hardware` kept it."""

from pathlib import Path

import pytest

from mlmodelscope.record.record import Record
from mlmodelscope.trace.chrome import write_chrome
from mlmodelscope.trace.kernels import kernel_lines, kernels_by_run
from mlmodelscope.trace.layers import agreement, layer_rows
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.store import load_trace
from mlmodelscope.trace.timeline_page import write_page

FIXTURES = Path(__file__).parent / "fixtures"
BATCHES = (1, 32)
MULTIPLICATIONS = 4_089_184_256  # of ResNet-50 for one picture, with an addition each


@pytest.fixture(params=BATCHES)
def batch(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def trace(batch: int) -> Trace:
    return load_trace(FIXTURES / f"resnet50-h200-batch{batch}")


def test_kernels_lie_in_the_layer_that_started_them(trace: Trace) -> None:
    above = {span.id: span for span in trace.spans}
    kernels = [kernel for run in kernels_by_run(trace) for kernel in run]
    assert len(kernels) > 400
    for kernel in kernels:
        layer = above[str(kernel.parent)]
        assert layer.level == "framework" and kernel.lane == "stream 7"
        assert layer.start_ns <= kernel.start_ns <= kernel.end_ns <= layer.end_ns


def test_every_run_has_the_same_kernels_with_counters(trace: Trace) -> None:
    first, second = (sorted(run, key=lambda span: span.attributes["correlation"]) for run in kernels_by_run(trace))
    assert [span.name for span in first] == [span.name for span in second]
    for one, other in zip(first, second, strict=True):
        assert one.attributes["flops"] == other.attributes["flops"]
        assert 0 < one.attributes["occupancy"] <= 1 and one.attributes["dram_read_bytes"] >= 0


def test_counted_operations_are_those_of_the_network_and_the_padding_of_tiles(trace: Trace, batch: int) -> None:
    flops = sum(span.attributes["flops"] for span in kernels_by_run(trace)[0])
    assert 2 * MULTIPLICATIONS * batch < flops < 1.3 * 2 * MULTIPLICATIONS * batch


def test_a_run_has_each_layer_once_and_the_copies(trace: Trace) -> None:
    rows = layer_rows(trace)
    kinds = [row.kind for row in rows]
    assert len(rows) == 177 and kinds.count("aten::_convolution") == 53 and kinds.count("copy") == 2
    assert len(trace.at("framework")) == 2 * 177
    sums = agreement(trace)
    assert sums is not None and sums.of_profiled is not None and 0.9 < sums.of_profiled <= 1


def test_the_device_is_busy_no_longer_than_the_layers(trace: Trace) -> None:
    for run in kernels_by_run(trace):
        assert sum(span.duration_ns for span in run) < max(span.duration_ns for span in trace.named("run", "model"))


def test_the_record_says_the_latency_without_a_profiler(batch: int) -> None:
    record = Record.model_validate_json((FIXTURES / f"resnet50-h200-batch{batch}" / "record.json").read_text())
    assert record.latency is not None and record.latency.batch_size == batch
    assert record.profile is not None and record.profile.level == "hardware"


def test_a_line_tells_of_them(trace: Trace, batch: int) -> None:
    (_, told), (_, counted) = kernel_lines(trace)
    assert told.startswith({1: "218 a run, ", 32: "239 a run, "}[batch])
    assert "GFLOP" in counted and "in " not in counted.partition("written")[2]


def test_traces_with_devices_are_written_like_others(trace: Trace) -> None:
    assert "stream 7" in write_chrome(trace) and "stream 7" in write_page(trace)
