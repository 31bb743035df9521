"""Why a sample failed, in one line."""

import pytest

from mlmodelscope_worker.failure import describe_failure
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.predictor import ModelError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ImageError("the file is empty"), "the file is empty"),
        (ModelError("input `x` takes float32"), "input `x` takes float32"),
        (RuntimeError("first\nsecond"), "RuntimeError: first"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_a_failure_is_one_line(error: Exception, line: str) -> None:
    assert describe_failure(error) == line


def test_a_reason_is_the_same_in_every_run() -> None:
    reason = describe_failure(ImageError(f"Pillow cannot decode it: cannot identify image file {object()!r}"))
    assert reason == "Pillow cannot decode it: cannot identify image file"
