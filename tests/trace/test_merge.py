"""Leveled runs become one timeline: upper times are kept, lower ones scaled into them, nothing is lost."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timelines import IDENTITY, runs, toy

from mlmodelscope.trace.layers import agreement, kind_rows, layer_rows
from mlmodelscope.trace.merge import LeveledRun, Taken, match, merge, number
from mlmodelscope.trace.span import LEVELS


def test_upper_levels_keep_their_undisturbed_times() -> None:
    spans, _ = merge(runs())
    assert [(span.start_ns, span.end_ns) for span in spans[:4]] == [(0, 2100), (0, 100), (100, 1100), (1100, 2100)]


def test_lower_levels_are_scaled_into_them_and_keep_what_they_measured() -> None:
    spans, _ = merge(runs())
    run = next(span for span in spans if span.name == "run")
    assert (run.start_ns, run.end_ns, run.attributes["measured_ns"]) == (400, 1100, 770)
    conv = next(span for span in spans if span.name == "conv")
    assert (conv.start_ns, conv.end_ns, conv.attributes["measured_ns"]) == (400, 750, 750)
    gemm = next(span for span in spans if span.name == "gemm")
    assert spans[gemm.parent or 0].name == "conv" and gemm.attributes["measured_ns"] == 1300


def test_each_level_has_its_cost() -> None:
    _, overheads = merge(runs())
    assert [(each.level, each.compared, each.without_ns, each.with_ns) for each in overheads] == [
        ("model", "batch", 1000, 1100),
        ("framework", "run", 700, 1489),
        ("library", "run", 770, 3000),
    ]
    assert overheads[0].share == pytest.approx(0.1)


def test_what_knows_no_layers_finds_its_layer_by_its_interval() -> None:
    """Kernels from a source that saw the run alone."""
    flat = [Taken("application", "application", 0, 10, None), Taken("batch", "application", 0, 1000, 0)]
    flat.append(Taken("run", "model", 0, 1000, 1))
    for start, end in ((10, 400), (600, 900), (400, 600)):
        flat.append(Taken("kernel", "library", start, end, 2))
    spans, _ = merge([*runs()[:3], LeveledRun("library", tuple(flat))])
    parents = [spans[span.parent or 0].name for span in spans if span.name == "kernel"]
    assert parents == ["conv", "fc", "run"]  # the last one lies in neither layer


def test_what_runs_elsewhere_stays_below_what_started_it() -> None:
    """A kernel of a device runs when the layer that launched it is over."""
    one, two = (Taken(name, "framework", at, at + 10, 2) for name, at in (("conv", 0), ("fc", 10)))
    late = Taken("kernel", "library", 15, 40, 3, {"lane": "stream 7"})
    above = [Taken("application", "application", 0, 100, None), Taken("batch", "application", 0, 100, 0)]
    above.append(Taken("run", "model", 0, 100, 1))
    spans, _ = merge([LeveledRun("framework", (*above, one, two)), LeveledRun("library", (*above, one, two, late))])
    assert spans[spans[-1].parent or 0].name == "conv" and (spans[-1].start_ns, spans[-1].end_ns) == (15, 40)


def test_a_kernel_that_began_before_its_layer_goes_where_its_layer_went() -> None:
    """The device starts it while the one before still runs; the copy in front took longer in that run."""
    above = (Taken("application", "application", 0, 100, None), Taken("batch", "application", 0, 100, 0))
    run = (*above, Taken("run", "model", 0, 100, 1))
    seen = (*run, Taken("copy", "framework", 0, 20, 2), Taken("relu", "framework", 50, 54, 2))
    later = (*run, Taken("copy", "framework", 0, 60, 2), Taken("relu", "framework", 90, 93, 2))
    kernel = Taken("kernel", "library", 80, 93, 4, {"lane": "stream 7"})
    spans, _ = merge([LeveledRun("framework", seen), LeveledRun("library", (*later, kernel))])
    assert spans[spans[-1].parent or 0].name == "relu" and (spans[-1].start_ns, spans[-1].end_ns) == (41, 54)


def test_ids_follow_from_the_record_and_the_seed() -> None:
    first, second = toy(), toy()
    assert first == second
    assert len(first.id) == 32 and {len(span.id) for span in first.spans} == {16}
    assert len({span.id for span in first.spans}) == len(first.spans)


def test_layers_are_listed_in_order_and_summed_by_type() -> None:
    layers = layer_rows(toy())
    assert [(row.index, row.name, row.time_ns, row.share) for row in layers] == [
        (0, "conv", 750, 0.5),
        (1, "fc", 750, 0.5),
    ]
    assert [(row.kind, row.count) for row in kind_rows(layers)] == [("Conv", 1), ("Gemm", 1)]
    sums = agreement(toy())
    assert sums is not None and (sums.layers_ns, sums.unprofiled_ns, sums.of_profiled) == (1500, 705, 1)


# For any runs at all.


@st.composite
def trees(draw: st.DrawFn, names: str = "abc", most: int = 25) -> tuple[Taken, ...]:
    """A run whose spans lie in their parents, levels never going up."""
    begin = draw(st.integers(0, 10**6))
    spans = [Taken("application", "application", begin, begin + draw(st.integers(0, 10**6)), None)]
    for _ in range(draw(st.integers(0, most))):
        place = draw(st.integers(0, len(spans) - 1))
        parent = spans[place]
        start = draw(st.integers(parent.start_ns, parent.end_ns))
        end = draw(st.integers(start, parent.end_ns))
        level = draw(st.sampled_from(LEVELS[max(1, LEVELS.index(parent.level)) :]))
        spans.append(Taken(draw(st.sampled_from(names)), level, start, end, place))
    return tuple(spans)


many_runs = st.lists(trees(), min_size=1, max_size=4).map(
    lambda found: [LeveledRun("library", spans, "a") for spans in found]
)


@given(many_runs)
def test_every_child_lies_in_its_parent(found: list[LeveledRun]) -> None:
    spans, _ = merge(found)
    for place, span in enumerate(spans):
        if span.parent is not None:
            parent = spans[span.parent]
            assert span.parent < place
            assert parent.start_ns <= span.start_ns <= span.end_ns <= parent.end_ns
            assert LEVELS.index(parent.level) <= LEVELS.index(span.level)


def _bare(span: Taken) -> Taken:
    """Without what was added about the cost of a level."""
    return replace(span, attributes={key: each for key, each in span.attributes.items() if not key.startswith("with")})


@given(many_runs)
def test_no_span_is_lost_and_none_is_made_up(found: list[LeveledRun]) -> None:
    merged = list(merge(found[:1])[0])
    for count in range(1, len(found)):
        anchors = match(merged, found[count].spans)
        before, merged = merged, merge(found[: count + 1])[0]
        assert len(merged) == len(before) + len(found[count].spans) - len(anchors)
        assert [_bare(span) for span in merged[: len(before)]] == [_bare(span) for span in before]
        fresh = [span for place, span in enumerate(found[count].spans) if place not in anchors]
        assert Counter(span.name for span in merged[len(before) :]) == Counter(span.name for span in fresh)
        measured = [span.attributes["measured_ns"] for span in merged[len(before) :]]
        assert measured == [span.duration_ns for span in fresh]


@given(trees(), trees("xyz"))
def test_sums_keep_their_share_of_what_they_lie_in(upper: tuple[Taken, ...], lower: tuple[Taken, ...]) -> None:
    spans, _ = merge([LeveledRun("model", upper), LeveledRun("library", lower)])
    fresh, whole = spans[len(upper) :], lower[0].duration_ns
    if whole:
        expected = sum(span.duration_ns for span in lower[1:]) * upper[0].duration_ns / whole
        assert sum(span.duration_ns for span in fresh) == pytest.approx(expected, abs=len(fresh) + 1)


@given(many_runs)
def test_merging_a_run_with_itself_changes_nothing(found: list[LeveledRun]) -> None:
    spans, _ = merge(found[:1])
    assert [_bare(span) for span in merge([found[0], found[0]])[0]] == spans


@given(many_runs)
def test_spans_are_numbered_in_the_order_of_their_starts_parents_first(found: list[LeveledRun]) -> None:
    numbered = number(merge(found)[0], IDENTITY)
    seen = set()
    for span in numbered:
        assert span.parent is None or span.parent in seen
        seen.add(span.id)
    assert [span.start_ns for span in numbered] == sorted(span.start_ns for span in numbered)


def device_runs() -> list[LeveledRun]:
    """A run with parts on a device; layers that fall into one; once more with kernels, and launches ahead of them."""
    whole = (Taken("application", "application", 0, 100, None), Taken("batch", "application", 0, 100, 0))
    run = (*whole, Taken("run", "model", 0, 100, 1))
    parts = (*run, Taken("copy to device", "model", 0, 20, 2), Taken("compute", "model", 20, 100, 2))
    layers = (*run, Taken("copy", "framework", 0, 18, 2), Taken("conv", "framework", 40, 90, 2))
    slow = [Taken(each.name, each.level, 2 * each.start_ns, 2 * each.end_ns, each.parent) for each in layers]
    below = (
        *slow,
        Taken("launch", "library", 50, 60, 4, {"lane": "CPU"}),
        Taken("inner", "library", 52, 58, 5, {"lane": "CPU"}),
        Taken("kernel", "library", 100, 180, 4, {"lane": "stream 7"}),
    )
    levels = (("application", run[:2]), ("model", run), ("model", parts), ("framework", layers), ("library", below))
    return [LeveledRun(level, tuple(spans)) for level, spans in levels]


def test_layers_that_found_a_smaller_parent_are_anchors_all_the_same() -> None:
    spans, _ = merge(device_runs())
    assert [span.name for span in spans if span.level == "framework"] == ["copy", "conv"]
    conv = next(span for span in spans if span.name == "conv")
    assert conv.parent is not None and spans[conv.parent].name == "compute"
    kernel = next(span for span in spans if span.name == "kernel")
    assert kernel.parent is not None and spans[kernel.parent] == conv
    assert (kernel.start_ns, kernel.end_ns) == (50, 90)


def test_launches_ahead_of_their_layer_are_scaled_with_the_run() -> None:
    spans, _ = merge(device_runs())
    found = {span.name: (span.start_ns, span.end_ns) for span in spans}
    assert found["launch"] == (25, 30) and found["inner"] == (26, 29)
