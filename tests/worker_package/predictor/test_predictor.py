"""What all predictors share: checks, and finding a tensor by what the manifest says."""

import json
import subprocess
import sys

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor
from mlmodelscope_worker.predictor.predictor import Tensor, pick, spell_shape
from mlmodelscope_worker.session import open_predictor


class Fixed(Predictor):
    def __init__(self, *shape: int | None) -> None:
        self.inputs = [Tensor("x", "float32", shape)]


def refusal(predictor: Predictor, *shape: int) -> str:
    with pytest.raises(ModelError) as refused:
        predictor.check([np.zeros(shape, np.float32)])
    return str(refused.value)


def test_the_layout_is_guessed_in_both_directions() -> None:
    assert refusal(Fixed(None, 224, 224, 3), 2, 3, 224, 224).endswith("`layout: NHWC`")
    assert refusal(Fixed(None, 3, 224, 224), 2, 224, 224, 3).endswith("`layout: NCHW`")
    assert refusal(Fixed(None, 3, 224, 224), 2, 3, 299, 299).endswith("the tensor has [2, 3, 299, 299]")


def test_what_was_good_once_lets_nothing_else_through() -> None:
    predictor = Fixed(None, 3)
    predictor.check([np.zeros((2, 3), np.float32)])
    predictor.check([np.zeros((2, 3), np.float32)])
    assert refusal(predictor, 2, 4).startswith("input `x` takes the shape [?, 3]")
    with pytest.raises(ModelError, match="takes float32, the tensor is float64"):
        predictor.check([np.zeros((2, 3), np.float64)])


def test_a_shape_is_spelt_with_question_marks() -> None:
    assert spell_shape((None, 3, 8)) == "[?, 3, 8]"


TENSORS = [Tensor("scores", "float32", [None, 10]), Tensor("495", "float32", [None, 10])]


@pytest.mark.parametrize(("reference", "place"), [("scores", 0), ("495", 1), (495, 1), (0, 0), (1, 1)])
def test_a_tensor_is_found_by_name_or_number(reference: str | int, place: int) -> None:
    assert pick(TENSORS, reference, "output") == place


def test_the_only_tensor_needs_no_name() -> None:
    assert pick(TENSORS[:1], None, "output") == 0


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (None, "the model has 2 outputs: name one of scores, 495 with `layer_name`"),
        ("score", "the model has no output `score`; it has scores, 495"),
        (2, "the model has 2 outputs, there is no number 2; it has scores, 495"),
        (-1, "there is no number -1"),
    ],
)
def test_a_tensor_that_is_not_there_is_refused_with_the_others_names(reference: str | int, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        pick(TENSORS, reference, "output")


def test_a_framework_that_is_not_installed_names_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(files: dict) -> None:
        raise ImportError("No module named 'onnxruntime'")

    monkeypatch.setattr(PREDICTORS["onnxruntime"], "function", missing)
    with pytest.raises(ModelError, match="this stack cannot use onnxruntime .*pip install onnxruntime$"):
        open_predictor(PredictorTask("onnxruntime", {}, {}))


def test_declarations_are_read_without_any_framework_or_numpy() -> None:
    """The host reads them in an interpreter that may have none."""
    program = (
        "import sys, json, mlmodelscope_worker.main, mlmodelscope_worker.session\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    loaded = set(json.loads(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout))
    assert not loaded & {"numpy", "PIL", "cv2", "simplejpeg", "tensorflow", "torch", "onnxruntime"}
