"""What JAX's profiler wrote of ResNet-50 on an H200 (JAX 0.11, batch 4): the first operators and the last ones."""

from pathlib import Path

import pytest

from mlmodelscope_worker.predictor import NotSupported
from mlmodelscope_worker.predictor.jax_trace import CALL, Event, profile_of, read_json
from mlmodelscope_worker.predictor.predictor import COPY_IN, COPY_OUT

FILE = Path(__file__).parent / "files" / "jax.trace.json.gz"


@pytest.fixture
def profile():
    return profile_of(read_json(str(FILE)), 5, with_inside=True)


def test_an_operator_is_a_layer_between_the_copies(profile) -> None:
    names = [layer.name for layer in profile]
    assert (
        names[0] == COPY_IN
        and names[-1] == COPY_OUT
        and names[1:4]
        == [
            "wrapped_transpose",
            "cudnn-conv.53",
            "loop_reduce_window_fusion",
        ]
    )
    assert profile[2].kind == "cudnn-conv" and profile[0].kind == "copy" and profile.call_ns == 5


def test_kernels_of_one_operator_are_inside_it(profile) -> None:
    kernels = profile[2].inside
    assert len(kernels) == 3 and {each.kind for each in kernels} == {"kernel"}
    assert kernels[2].name.startswith("sm80_xmma_fprop_implicit_gemm")
    assert kernels[2].lane == "stream 14"
    assert kernels[2].more == {"correlation": 114, "grid": [2, 392, 1], "block": [128, 1, 1], "registers": 124}


def test_copies_say_how_much(profile) -> None:
    (copy,) = profile[0].inside
    assert copy.kind == "copy" and copy.more["bytes"] == 4 * 3 * 224 * 224 * 4 and copy.lane == "stream 15"


def test_layers_follow_one_another_without_a_gap_and_end_with_their_last_kernel(profile) -> None:
    end = profile.start_ns
    for layer in profile:
        assert layer.start_ns == end
        end += layer.duration_ns
        ends = [each.start_ns + each.duration_ns for each in layer.inside]
        assert max(ends) == end or layer.name == COPY_OUT


def test_on_a_cpu_operators_are_layers_and_what_they_call_is_not_seen() -> None:
    events = [
        Event(CALL, 100, 200, "/host:CPU", "python", {}),
        Event("dot", 50, 60, "/host:CPU", "pool", {"hlo_op": "dot.1"}),  # of a call before
        Event("dot", 110, 150, "/host:CPU", "pool", {"hlo_op": "dot.1"}),
    ]
    (layer,) = profile_of(events, 9, with_inside=False)
    assert (layer.name, layer.kind, layer.start_ns, layer.duration_ns) == ("dot.1", "dot", 110, 40)
    with pytest.raises(NotSupported, match="on a CPU"):
        profile_of(events, 9, with_inside=True)


def test_a_profile_that_does_not_show_the_call_is_refused() -> None:
    with pytest.raises(NotSupported, match="does not show the call"):
        profile_of([Event("dot", 0, 1, "/host:CPU", "pool", {"hlo_op": "dot"})], 1, with_inside=False)
    with pytest.raises(NotSupported, match="no operators"):
        profile_of([Event(CALL, 0, 1, "/host:CPU", "pool", {})], 1, with_inside=False)
