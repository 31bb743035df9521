"""Layers of two networks are paired by values, names, shapes, kinds and order."""

from mlmodelscope.layer.alignment import Match, Seen, align, are_close, distance


def sums(seed: float) -> tuple[float, ...]:
    """Of a tensor that is like no other one."""
    return (0.1 * seed, 1.0 + 0.3 * seed, 0.8 + 0.2 * seed, -3.0 - seed, 4.0 + seed, 0.0, 0.5 + 0.1 * seed, 0.0)


def names(matches: list[Match], first: list[Seen], second: list[Seen]) -> list[tuple[str | None, str | None]]:
    return [
        (first[one].names[0] if one is not None else None, second[other].names[0] if other is not None else None)
        for one, other in matches
    ]


def test_other_names_and_another_layout_are_the_same_layers_by_their_values() -> None:
    first = [Seen((f"conv{at}",), "Conv", (1, 8, 6, 6), sums(at)) for at in range(4)]
    second = [Seen((str(900 - at),), "CONV_2D", (1, 6, 6, 8), sums(at)) for at in range(4)]
    assert align(first, second) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_what_one_framework_fuses_is_paired_with_the_last_of_the_group() -> None:
    first = [
        Seen(("conv",), "Conv", (1, 8, 6, 6), sums(1)),
        Seen(("norm",), "BatchNormalization", (1, 8, 6, 6), sums(2)),
        Seen(("relu",), "Relu", (1, 8, 6, 6), sums(3)),
        Seen(("fc",), "Gemm", (1, 10), sums(4)),
    ]
    second = [Seen(("node_1",), "Convolution", (1, 6, 6, 8), sums(3)), Seen(("node_2",), "Dense", (1, 10), sums(4))]
    assert names(align(first, second), first, second) == [
        ("conv", None),
        ("norm", None),
        ("relu", "node_1"),
        ("fc", "node_2"),
    ]


def test_a_repeated_block_is_not_paired_with_its_neighbor() -> None:
    """Seven blocks of one shape against six: names say which is missing."""
    first = [Seen((f"blocks.{at}.expand",), "Conv", (1, 32, 7, 7)) for at in range(7)]
    second = [Seen((f"onnx_node!blocks.{at}.expand",), "Convolution", (1, 32, 7, 7)) for at in (0, 1, 2, 4, 5, 6)]
    found = align(first, second)
    assert found == [(0, 0), (1, 1), (2, 2), (3, None), (4, 3), (5, 4), (6, 5)]


def test_branches_that_run_in_another_order_are_paired_by_their_values() -> None:
    first = [Seen((f"a{at}",), "Conv", (1, 8 + at, 6, 6), sums(at)) for at in range(4)]
    second = [Seen((f"b{at}",), "Conv", (1, 8 + at, 6, 6), sums(at)) for at in (0, 2, 1, 3)]
    assert sorted(align(first, second)) == [(0, 0), (1, 2), (2, 1), (3, 3)]


def test_a_layer_that_is_wrong_is_paired_all_the_same() -> None:
    first = [Seen((f"l{at}",), "Conv", (1, 8, 6, 6), sums(at)) for at in range(3)]
    second = [
        Seen(("x0",), "Conv", (1, 8, 6, 6), sums(0)),
        Seen(("x1",), "Conv", (1, 8, 6, 6), sums(7.5)),
        Seen(("x2",), "Conv", (1, 8, 6, 6), sums(9.5)),
    ]
    assert align(first, second) == [(0, 0), (1, 1), (2, 2)]


def test_a_stride_that_is_wrong_leaves_the_pair_and_changes_the_shape() -> None:
    first = [Seen(("a",), "Conv", (1, 8, 8, 8), sums(1)), Seen(("b",), "Relu", (1, 8, 8, 8), sums(2))]
    second = [Seen(("a",), "Conv", (1, 8, 4, 4), sums(3)), Seen(("b",), "Relu", (1, 8, 4, 4), sums(4))]
    assert align(first, second) == [(0, 0), (1, 1)]


def test_what_has_nothing_in_common_stands_alone() -> None:
    first = [Seen(("conv",), "Conv", (1, 8, 6, 6), sums(1))]
    second = [Seen(("other",), "Softmax", (1, 1000), sums(2))]
    assert align(first, second) == [(0, None), (None, 0)]
    assert align([], second) == [(None, 0)] and align(first, []) == [(0, None)] and align([], []) == []


def test_numbers_that_are_not_finite_are_not_close() -> None:
    good, bad = sums(1), (*sums(1)[:7], 3.0)
    assert distance(good, bad) == 1 and distance(good, good) == 0
    assert not are_close(Seen(("a",), "", (2,), good), Seen(("a",), "", (2,), bad))


def test_a_tensor_of_zeros_is_close_to_its_like_only() -> None:
    zeros = (0.0,) * 5 + (1.0, 0.0, 0.0)
    assert distance(zeros, zeros) == 0 and distance(zeros, sums(1)) > 0.5


def test_every_layer_comes_once_also_in_deep_networks() -> None:
    """Without names or values in common, thousands of layers are paired within the band."""
    first = [Seen((f"{at}",), "Conv" if at % 3 else "Relu", (1, 8, at % 5 + 1)) for at in range(1500)]
    second = [Seen((f"n{at}x",), "Conv" if at % 3 else "Relu", (1, 8, at % 5 + 1)) for at in range(1400)]
    found = align(first, second)
    assert sorted(one for one, _ in found if one is not None) == list(range(1500))
    assert sorted(other for _, other in found if other is not None) == list(range(1400))
    assert sum(None not in match for match in found) > 1300


def test_a_layer_that_differs_in_a_branch_that_runs_elsewhere_is_paired_by_its_name() -> None:
    """Neither its values nor its place tell: the fault is in it."""
    first = [Seen((name,), kind, (1, 8, 6, size), sums(size)) for name, kind, size in FORK]
    second = [first[2], Seen(("scores",), "Sigmoid", (1, 8, 6, 4), sums(40)), first[0], first[1]]
    assert names(align(first, second), first, second) == [(name, name) for name, _, _ in FORK]


def test_namesakes_of_another_kind_and_size_are_no_pair() -> None:
    first = [Seen((name,), kind, (1, 8, 6, size), sums(size)) for name, kind, size in FORK]
    second = [first[2], Seen(("scores",), "Conv", (1, 3), sums(40)), first[0], first[1]]
    assert ("scores", None) in names(align(first, second), first, second)


FORK = (("stem", "Conv", 1), ("boxes", "Conv", 2), ("last", "Conv", 3), ("scores", "Softmax", 4))


def test_names_are_the_same_whatever_is_between_their_words() -> None:
    """A wrong stride changes the size, so that a later layer has the size of this one: the name tells them apart."""
    first = [
        Seen(("stem.conv",), "Conv", (1, 8, 8, 8), sums(1)),
        Seen(("stem.pool",), "MaxPool", (1, 8, 4, 4), sums(2)),
    ]
    second = [
        Seen(("stem_conv_",), "aten::conv2d", (1, 8, 16, 16), sums(7)),
        Seen(("stem_pool_",), "aten::max_pool2d", (1, 8, 8, 8), sums(8)),
    ]
    assert align(first, second) == [(0, 0), (1, 1)]


def test_a_layer_with_a_bias_is_paired_with_the_addition_of_the_bias() -> None:
    """Both are as much like it where the values differ; without the bias no mistake explains the numbers."""
    first = [Seen(("stem.conv",), "Conv", (1, 8, 6, 6), sums(1)), Seen(("relu",), "Relu", (1, 8, 6, 6), sums(2))]
    second = [
        Seen(("stem.conv/Conv2D",), "Conv2D", (1, 6, 6, 8), sums(7)),
        Seen(("stem.conv/BiasAdd",), "BiasAdd", (1, 6, 6, 8), sums(8)),
        Seen(("relu/Relu",), "Relu", (1, 6, 6, 8), sums(9)),
    ]
    assert align(first, second) == [(None, 0), (0, 1), (1, 2)]
    assert align(second, first) == [(0, None), (1, 0), (2, 1)]
    bare = [Seen(("stem.conv",), "Conv", (1, 8, 6, 6), sums(7)), first[1]]
    assert align(bare, second)[0] == (0, 0)  # the same numbers: it has no bias
