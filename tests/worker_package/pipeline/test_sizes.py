"""`sizes`: numbers about a picture in place of its pixels."""

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.image import Image

PICTURE = (40, 80, 3)


def numbers(*steps: tuple[str, object]) -> list[float]:
    resolved = [{"name": name, "parameters": STEPS[name].resolve(given)} for name, given in steps]
    found = Pipeline(resolved)(Image(np.zeros(PICTURE, np.uint8)))
    assert found.array.dtype == np.float32 and found.frame.original == PICTURE[:2]
    return [float(each) for each in found.array]


def test_sizes_are_those_of_the_picture_here_and_of_the_original() -> None:
    wanted = ["height", "width", "original_height", "original_width", "one"]
    assert numbers(("sizes", wanted)) == [40, 80, 40, 80, 1]
    assert numbers(("resize", {"dimensions": [20, 20]}), ("sizes", wanted)) == [20, 20, 40, 80, 1]


def test_scales_lead_from_the_original_to_here() -> None:
    assert numbers(("resize", {"dimensions": [20, 20]}), ("sizes", ["scale", "scale_y", "scale_x"])) == [
        0.25,
        0.5,
        0.25,
    ]


def test_a_bare_word_is_a_list_of_one() -> None:
    assert numbers(("sizes", "original_width")) == [80]


@pytest.mark.parametrize("given", ["depth", [], ["height"] * 17, [3], None])
def test_other_words_are_refused(given: object) -> None:
    with pytest.raises(ParameterError):
        STEPS["sizes"].resolve(given)
