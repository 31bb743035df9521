"""One word for what frameworks call differently."""

import pytest

from mlmodelscope.layer.kind import plain_kind


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        ("Conv", "convolution"),
        ("aten::_convolution", "convolution"),
        ("FusedConv", "convolution"),
        ("DepthwiseConv2dNative", "convolution"),
        ("aten::addmm", "matrix product"),
        ("aten::add_", "sum"),
        ("ReorderOutput", "reshape"),
        ("NonMaxSuppression", "NonMaxSuppression"),
    ],
)
def test_frameworks_words_for_the_same_are_one(kind: str, plain: str) -> None:
    assert plain_kind(kind) == plain
