"""What a convolution gives follows from what it was called with."""

import pytest

from mlmodelscope_worker.predictor.pytorch_shapes import outputs_of


@pytest.mark.parametrize(
    ("operator", "shapes", "arguments", "expected"),
    [
        (
            "aten::conv2d",
            [[2, 3, 8, 8], [4, 3, 3, 3], [4]],
            [None, None, None, [2, 2], [0, 0], [1, 1], 1],
            [[2, 4, 3, 3]],
        ),
        (
            "aten::_convolution",
            [[1, 3, 224, 224], [64, 3, 7, 7], []],
            ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"],
            [[1, 64, 112, 112]],
        ),
        ("aten::conv1d", [[1, 2, 9], [5, 2, 3]], [None, None, None, [1], [1], [2], 1], [[1, 5, 7]]),
        ("aten::conv2d", [[1, 2, 9, 9], [5, 2, 3, 3]], [None, None, None, 1, 1, 1, 1], [[1, 5, 9, 9]]),
        ("aten::convolution", [[1, 3, 8, 8], [3, 4, 3, 3]], [None] * 3 + [[2, 2], [0, 0], [1, 1], True], ()),
        ("aten::conv2d", [[2, 3, 8, 8], [4, 3, 3, 3]], None, ()),
        ("aten::conv2d", [[2, 3, 8, 8], [4, 3, 3, 3]], ["", "", "", "same", "", ""], ()),
        ("aten::relu", [[2, 3]], [None] * 6, ()),
    ],
)
def test_outputs(operator, shapes, arguments, expected):
    assert outputs_of(operator, shapes, arguments) == expected
