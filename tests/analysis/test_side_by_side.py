"""Layers of two profiles: paired, and the difference found."""

import pytest

from mlmodelscope.analysis.comparison_page import layers_analysis
from mlmodelscope.analysis.side_by_side import compare_layers, layer_spans, pair_layers
from mlmodelscope.errors import UsageError
from mlmodelscope.trace.layers import LayerRow
from mlmodelscope.trace.span import Span, Trace


def trace(layers: list[tuple[str, str, int]], slower: int = 1) -> Trace:
    """Two runs: one as given, one three times as long; so the median lies between."""
    spans = [Span("t", "root", None, "application", "application", 0, 10**9)]
    for run in range(3):
        spans.append(Span("t", f"run{run}", "root", "run", "model", 0, 1))
        at = 0
        for index, (name, kind, ns) in enumerate(layers):
            took = ns * (1, 3, 1)[run] * slower
            about = {"index": index, "kind": kind}
            spans.append(Span("t", f"{run}.{index}", f"run{run}", name, "framework", at, at + took, about))
            at += took
    return Trace("t", 0, tuple(spans), resource={"record": "some"})


def row(name: str, kind: str = "Conv", ns: float = 1.0, index: int = 0) -> LayerRow:
    return LayerRow(index, name, kind, ns, 0.0)


def test_layers_of_the_same_names_are_pairs() -> None:
    by, pairs = pair_layers([row("a"), row("b"), row("c")], [row("a"), row("c"), row("d")])
    assert by == "name"
    assert [(p.first and p.first.name, p.second and p.second.name) for p in pairs] == [
        ("a", "a"),
        ("b", None),
        ("c", "c"),
        (None, "d"),
    ]


def test_a_name_that_comes_twice_is_two_layers() -> None:
    _, pairs = pair_layers([row("a", ns=1), row("a", ns=2)], [row("a", ns=3), row("a", ns=4)])
    assert [(p.first_ns, p.second_ns) for p in pairs] == [(1, 3), (2, 4)]


def test_other_names_are_paired_by_order_and_kind() -> None:
    first = [row("conv1", "Conv"), row("relu1", "Relu"), row("fc", "Gemm")]
    second = [
        row("x.0", "aten::conv2d"),
        row("x.1", "aten::batch_norm"),
        row("x.2", "aten::relu_"),
        row("y", "aten::addmm"),
    ]
    by, pairs = pair_layers(first, second)
    assert by == "name, shape, kind and order"
    assert [pair.name for pair in pairs] == ["conv1 / x.0", "x.1", "relu1 / x.2", "fc / y"]


def test_the_layers_that_make_the_difference_come_first() -> None:
    first = trace([("a", "Conv", 100), ("b", "Conv", 100), ("c", "Relu", 10)])
    second = trace([("a", "Conv", 110), ("b", "Conv", 400), ("c", "Relu", 10)])
    found = compare_layers(first, second)
    assert [pair.name for pair in found.most] == ["b", "a", "c"]
    assert (found.first_ns, found.second_ns) == (210, 520)
    assert found.kinds == (("convolution", 200, 510), ("activation", 10, 10))
    assert found.to_json()["layers"][1]["difference_ns"] == 300


def test_the_run_that_is_shown_is_an_ordinary_one() -> None:
    assert [span.measured_ns for span in layer_spans(trace([("a", "Conv", 5), ("b", "Conv", 7)]))] == [5, 7]


def test_both_runs_are_drawn_above_each_other() -> None:
    traces = [trace([("a", "Conv", 10**6)]), trace([("a", "Conv", 3 * 10**6)])]
    analysis = layers_analysis(compare_layers(*traces), traces, ("old", "new"))
    assert "old: 1 ms" in analysis.plots["timelines"] and "new: 3 ms" in analysis.plots["timelines"]
    assert analysis.table.rows[0][-1] == 2 * 10**6 and "a,a,Conv" in analysis.table.to_csv()


def test_a_profile_without_layers_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="profile some has no layers"):
        compare_layers(trace([]), trace([("a", "Conv", 5)]))


def test_a_run_on_a_device_is_shown_with_its_copies() -> None:
    spans = [
        Span("t", "root", None, "application", "application", 0, 100),
        Span("t", "r", "root", "run", "model", 0, 9),
    ]
    spans += [Span("t", part, "r", part, "model", 0, 9) for part in ("copy", "compute")]
    spans += [
        Span("t", "a", "copy", "to device", "framework", 0, 2),
        Span("t", "b", "compute", "conv", "framework", 2, 9),
    ]
    assert [span.name for span in layer_spans(Trace("t", 0, tuple(spans)))] == ["to device", "conv"]
