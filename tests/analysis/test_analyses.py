"""The fifteen analyses, on traces whose numbers are known."""

from dataclasses import replace

import pytest
from made_traces import PEAK, nested, subject

from mlmodelscope.analysis.analyse import TITLES, analyse, choose
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.model import Size, optimal
from mlmodelscope.analysis.table import Analysis
from mlmodelscope.errors import UsageError
from mlmodelscope.trace.merge import Taken, number
from mlmodelscope.trace.span import Trace

CONV_FLOPS = 2 * 36 * 4 * 27


def one(name: str, which: Subject) -> Analysis:
    found = analyse([which], [name])
    assert [each.id for each in found.analyses] == [name], found.missing
    return found.analyses[0]


def test_layers_have_the_median_of_their_runs_in_the_order_of_execution() -> None:
    table = one("A2", subject()).table
    assert table.column("name") == ["conv", "relu", "odd"] and table.column("time_ns") == [6050, 1050, 3050]
    assert table.column("shape") == [(1, 4, 6, 6), (1, 4, 6, 6), (1, 4)]
    assert sum(map(float, table.column("share"))) == pytest.approx(1)  # type: ignore[arg-type]


def test_a_layer_shows_how_far_it_is_from_the_machines_limit() -> None:
    table = one("A2", subject()).table
    moved = 4 * (192 + 108 + 144)
    assert table.column("flops")[:2] == [CONV_FLOPS, 144] and table.column("moved_bytes")[0] == moved
    assert table.column("intensity")[0] == pytest.approx(CONV_FLOPS / moved)
    ideal = max(CONV_FLOPS / 100, moved / 10)  # nanoseconds at 100 Gflop/s and 10 GB/s
    assert table.column("ideal_ns")[0] == pytest.approx(ideal)
    assert table.column("of_ideal")[0] == pytest.approx(ideal / 6050)
    assert table.column("bound")[:2] == ["memory", "memory"]
    assert [table.column(name)[2] for name in ("flops", "ideal_ns", "bound")] == [None, None, None]


def test_bytes_that_come_faster_than_memory_gives_them_come_from_a_cache() -> None:
    slow_memory = replace(PEAK, bytes_per_s=1e8)
    found = one("A2", subject(peak=slow_memory))
    assert found.table.column("bound")[:2] == ["cache", "cache"]
    assert found.table.column("ideal_ns")[0] == pytest.approx(CONV_FLOPS / 100)  # of arithmetic alone
    assert "2 layers of 3 moved bytes faster than memory can: they came from a cache" in found.notes[-1]


def test_nothing_reaches_more_than_the_best() -> None:
    busy = replace(PEAK, flops_per_s=2e8, bytes_per_s=1e8)
    layers, roof, whole = (one(name, subject(peak=busy)) for name in ("A2", "A14", "A15"))
    assert layers.table.column("bound")[0] == "above the roof"
    of_ideal = [float(share) for each in (layers, roof) for share in each.table.column("of_ideal") if share is not None]
    assert of_ideal and max(of_ideal) <= 1
    assert any("1 layer of 2 computed faster than the machine's measured best" in note for note in roof.notes)
    assert whole.table.column("bound") == ["above the roof"] and not whole.plots
    plot = roof.plots["roofline"]
    assert "hollow above the roof: faster than the best that was measured" in plot
    assert plot.count(" hollow") > 2 and plot.count("its bytes came from a cache") > 1


def test_what_is_not_explained_is_said() -> None:
    note = one("A2", subject()).notes[0].replace("\N{NO-BREAK SPACE}", " ")
    assert note == "operations and bytes are known of layers that take 70.0 % of the time; not of Mystery"


def test_a_trace_of_before_gives_all_but_the_distance_to_the_limit() -> None:
    found = analyse([subject("library", peak=None)])
    assert {each.id for each in found.analyses} == set(TITLES) - {"A1"}
    names = {column.name for column in found.analyses[0].table.columns}
    assert "flops" in names and not names & {"ideal_ns", "of_ideal", "bound"}


def test_types_are_counted_timed_and_weighed() -> None:
    assert sorted(one("A5", subject()).table.column("type")) == ["Conv", "Mystery", "Relu"]  # type: ignore[type-var]
    assert one("A6", subject()).table.column("type") == ["Conv", "Mystery", "Relu"]
    assert one("A7", subject()).table.rows == (("Conv", 1, 576, 1.0),)
    assert one("A4", subject()).table.column("memory_bytes") == [576]


def test_plots_come_in_several_orders() -> None:
    plots = one("A3", subject()).plots
    assert list(plots) == ["in order", "largest first", "logarithmic"]
    assert all(plot.startswith("<svg") for plot in plots.values())


def test_kernels_have_their_layer_and_their_counters() -> None:
    table = one("A8", subject("library")).table
    assert table.column("name") == ["gemm", "gemm", "relu"] and table.column("layer") == ["conv", "conv", "relu"]
    assert table.column("time_ns") == [3000, 1000, 2000] and table.column("moved_bytes") == [3000, 1000, 1152]
    assert table.column("flops_per_s")[0] == pytest.approx(60_000 / 3e-6)
    assert table.column("bound") == ["compute", "compute", "memory"]


def test_kernels_of_one_name_add_up_and_occupancy_is_weighted_by_time() -> None:
    table = one("A10", subject("library")).table
    assert table.column("name") == ["gemm", "relu"] and table.column("calls") == [2, 1]
    assert table.column("flops") == [75_000, 144] and table.column("time_ns") == [4000, 2000]
    assert table.column("occupancy")[0] == pytest.approx((0.5 * 3000 + 0.25 * 1000) / 4000)


def test_kernels_add_up_to_layers() -> None:
    table = one("A11", subject("library")).table
    assert table.column("layer") == ["conv", "relu"] and table.column("time_ns") == [4000, 2000]
    traffic = one("A12", subject("library"))
    assert traffic.table.column("read_bytes") == [2500, 576] and traffic.table.column("write_bytes") == [1500, 576]
    assert "from their shapes" not in traffic.title and set(traffic.plots) >= {"operations", "reads", "writes"}


def test_without_counters_shapes_tell_what_a_layer_moves() -> None:
    traffic = one("A12", subject())
    assert traffic.title.endswith("from their shapes") and traffic.table.column("flops") == [CONV_FLOPS, 144]


def test_time_beside_the_device_is_what_kernels_leave() -> None:
    found = one("A13", subject("library"))
    assert found.table.column("inside_ns") == [4000, 2000, 0.0]
    assert found.table.column("outside_ns") == [2050, 0.0, 3050]
    assert any("the parts took longer than the layer" in note for note in found.notes)


def test_rooflines_are_of_kernels_and_of_layers_with_the_whole_model() -> None:
    kernels, layers = one("A9", subject("library")), one("A14", subject())
    assert kernels.table.column("name") == ["gemm", "gemm", "relu"] and "roofline" in kernels.plots
    assert layers.table.column("name") == ["0. conv", "1. relu", "all of the model"]
    assert layers.title.endswith("by their shapes") and not one("A14", subject("library")).title.endswith("shapes")


def test_the_model_is_the_sum_of_its_kernels_or_of_its_layers() -> None:
    counted, by_shapes = one("A15", subject("library")).table, one("A15", subject()).table
    assert counted.column("flops") == [75_144] and counted.column("of") == ["kernels"]
    assert by_shapes.column("flops") == [CONV_FLOPS + 144] and by_shapes.column("of") == ["layers"]
    assert by_shapes.column("time_ns") == [7100]  # only what is known


def test_on_a_processor_operators_stand_in_the_place_of_kernels() -> None:
    found = one("A8", nested())
    assert found.title == "Operators" and "operators that layers call are in their place" in found.notes[0]
    assert dict(zip(found.table.column("name"), found.table.column("time_ns"), strict=True)) == {
        "addmm": 600,
        "copy": 100,
    }
    assert one("A13", nested()).table.column("inside_ns") == [700]


def test_samples_of_a_symbol_add_up() -> None:
    spans = [Taken("application", "application", 0, 1000, None)]
    spans += [Taken("batch", "application", 0, 1000, 0), Taken("run", "model", 0, 1000, 1)]
    spans.append(Taken("conv", "framework", 0, 1000, 2, {"kind": "Conv", "index": 0}))
    for at in (0, 300):
        about = {"kind": "symbol", "library": "libmath.so", "samples": 3}
        spans.append(Taken("sgemm", "library", at, at + 300, 3, about))
    which = Subject(None, Trace("1" * 32, 0, number(spans, "1" * 32), (), {}))
    table = one("A10", which).table
    assert table.column("name") == ["sgemm"] and table.column("time_ns") == [600] and table.column("calls") == [6]
    assert one("A8", which).table.column("library") == ["libmath.so"]


def test_what_is_missing_says_which_command_would_give_it() -> None:
    found = analyse([subject()])
    missing = {each.id: each for each in found.missing}
    assert set(missing) == {"A1", "A8", "A9", "A10", "A11", "A13"}
    assert missing["A8"].command == "mlmodelscope profile MODEL DATASET --level library"
    assert "--scenario sweep" in str(missing["A1"].command)
    uncounted = {each.id: each for each in analyse([subject("library", counters=False)]).missing}
    assert "--level hardware" in str(uncounted["A9"].command)


def test_an_empty_trace_gives_nothing_and_fails_nowhere() -> None:
    empty = Subject(None, Trace("1" * 32, 0, (), (), {}))
    assert analyse([empty]).analyses == () and len(analyse([empty]).missing) == 15
    assert len(analyse([Subject(None, None)]).missing) == 15


def test_analyses_are_chosen_by_name() -> None:
    assert choose(None) == tuple(TITLES) and choose("a5, A2") == ("A2", "A5")
    with pytest.raises(UsageError, match="there is no analysis `A16`"):
        choose("A2,A16")


def sizes(*speeds: float) -> list[Size]:
    return [Size(2**power, 2**power / speed, None, None, speed) for power, speed in enumerate(speeds)]


def test_the_optimal_batch_is_where_doubling_gains_five_percent_at_most() -> None:
    best = optimal(sizes(100, 180, 200, 205, 204))
    assert best is not None and best.batch_size == 4


def test_a_latency_target_chooses_the_fastest_within_it() -> None:
    best = optimal(sizes(100, 180, 200, 205), target_s=0.021)
    assert best is not None and best.batch_size == 4  # 20 ms; 8 take 39 ms
    assert optimal(sizes(100, 180), target_s=0.001) is None


def test_peaks_are_those_of_the_trace() -> None:
    assert subject().peak == PEAK
