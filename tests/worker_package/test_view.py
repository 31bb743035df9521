"""What a model sees, as pictures: one scale and one order of colours for all, so that what is wrong shows."""

import numpy as np
import pytest

from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.image import Image
from mlmodelscope_worker.pipeline.sound import EncodedSound, Sound
from mlmodelscope_worker.pipeline.value import Tensor
from mlmodelscope_worker.view import draw, look
from worker_package.pictures import encode
from worker_package.sounds import pcm16
from worker_package.tasks import steps

RED = np.zeros((4, 6, 3), np.float32)
RED[:, :, 0] = 1


def test_the_first_tensor_sets_the_scale() -> None:
    wide = np.linspace(-1, 1, 4 * 6 * 3, dtype=np.float32).reshape(4, 6, 3)
    (first, other), buffers = draw([Image(wide), Image(wide / 2 + 2)])
    assert (first["low"], first["high"]) == (-1, 1) and first["shape"] == [4, 6, 3]
    assert buffers[first["part"]].min() == 0 and buffers[first["part"]].max() == 255
    assert (buffers[other["part"]] == 255).all()  # all of it lies above what the first one calls white


def test_swapped_channels_show_as_false_colours() -> None:
    (right, wrong), buffers = draw([Image(RED), Image(RED[:, :, ::-1], color="BGR")])
    assert buffers[right["part"]][0, 0].tolist() == [255, 0, 0]
    assert buffers[wrong["part"]][0, 0].tolist() == [0, 0, 255]


def test_a_model_that_wants_blue_first_is_drawn_with_its_own_colours() -> None:
    (right,), buffers = draw([Image(RED[:, :, ::-1], color="BGR")])
    assert buffers[right["part"]][0, 0].tolist() == [255, 0, 0]


def test_channels_first_become_a_picture() -> None:
    (seen,), buffers = draw([Image(RED.transpose(2, 0, 1), layout="CHW")])
    assert seen["shape"] == [4, 6, 3] and seen["tensor"] == "float32 3 x 4 x 6"
    assert buffers[seen["part"]].flags.c_contiguous


def test_a_difference_is_stretched_until_the_largest_is_white() -> None:
    other = RED.copy()
    other[0, 0, 1] += 0.25
    (_, seen), buffers = draw([Image(RED), Image(other)])
    apart = seen["difference"]
    assert (apart["largest"], apart["stretch"]) == (0.25, 4) and apart["share"] == 1 / RED.size
    assert buffers[apart["part"]][0, 0].tolist() == [0, 255, 0] and buffers[apart["part"]].sum() == 255


def test_equal_tensors_have_no_difference_to_draw() -> None:
    (_, seen), buffers = draw([Image(RED), Image(RED)])
    assert seen["difference"] == {"largest": 0, "mean": 0, "share": 0, "stretch": None} and len(buffers) == 2


def test_tensors_of_different_shapes_are_both_drawn_but_not_compared() -> None:
    (first, other), buffers = draw([Image(RED), Image(RED[:2])])
    assert first["shape"] == [4, 6, 3] and other["shape"] == [2, 6, 3] and len(buffers) == 2
    assert "difference" not in other


def test_what_is_no_picture_says_so_and_is_compared_all_the_same() -> None:
    row, deep = np.arange(5.0), np.zeros((2, 2, 7))
    (first, other), buffers = draw([Image(row), Image(row + 1)])
    assert first["reason"] == "float64 5 is no picture" and other["difference"]["largest"] == 1 and not buffers
    assert draw([Image(deep)])[0][0]["reason"] == "float64 2 x 2 x 7 is no picture: it has 7 channels"


def test_values_that_are_no_numbers_spoil_nothing() -> None:
    broken = RED.copy()
    broken[0, 0, 0], broken[1, 1, 1] = np.nan, np.inf
    (first, other), buffers = draw([Image(broken), Image(RED)])
    assert (first["low"], first["high"]) == (0, 1) and other["difference"]["largest"] == 0
    assert buffers[first["part"]][0, 0, 0] == 0 and buffers[first["part"]][1, 1, 1] == 255


def test_a_constant_picture_is_grey() -> None:
    (seen,), buffers = draw([Image(np.full((2, 2, 1), 7, np.uint8), color="GRAY")])
    assert (seen["low"], seen["high"]) == (6.5, 7.5) and (buffers[seen["part"]] == 128).all()


def test_a_sample_goes_through_each_pipeline() -> None:
    data = encode((255 * RED).astype(np.uint8), "PNG")
    pipelines = [steps(STEPS, [("decode", {"color_layout": color}), ("rescale", 255)]) for color in ("RGB", "BGR")]
    (right, wrong), buffers = look(lambda: data, pipelines)
    assert buffers[right["part"]][0, 0].tolist() == [255, 0, 0]
    assert buffers[wrong["part"]][0, 0].tolist() == [0, 0, 255] and wrong["difference"]["largest"] == 1


def test_what_cannot_be_prepared_has_a_reason_and_the_others_a_picture() -> None:
    data = encode((255 * RED).astype(np.uint8), "PNG")
    good, bad = steps(STEPS, [("decode", None)]), steps(STEPS, [("decode", None), ("pad", [2, 2])])
    failed, seen = look(lambda: data, [bad, good])[0]
    assert failed == {"reason": "cannot pad 6 x 4 (width x height) to 2 x 2"}
    assert seen["shape"] == [4, 6, 3] and (seen["low"], seen["high"]) == (0, 255) and "difference" not in seen
    assert look(lambda: b"", [good])[0] == [{"reason": "the file is empty"}]
    assert look(lambda: data, [[]])[0] == [{"reason": "an encoded sample is not decoded"}]


BANDS = [
    ("frames", {"length": 400, "hop": 160}),
    ("spectrum", {}),
    ("mel", {"count": 20, "scale": "htk", "norm": "none"}),
]


@pytest.mark.parametrize("order", ["TF", "FT", "TFC", "CFT", "CTF"])
def test_features_of_a_sound_are_a_spectrogram(order: str) -> None:
    tone = np.sin(2 * np.pi * 6000 * np.arange(8000) / 16000)  # high: near the top
    logs = ("log", {"base": "natural", "floor": 1e-10})
    chain = steps(STEPS, [("decode_audio", {}), *BANDS, logs, ("feature_layout", order)])
    (seen,), buffers = look(lambda: EncodedSound(pcm16(tone / 2)), [chain])
    assert seen["shape"] == [20, 48, 1] and not seen["reason"]
    assert buffers[0][:, 24, 0].argmax() < 4


def test_samples_of_a_sound_are_a_waveform() -> None:
    loud_at_last = np.concatenate([np.zeros(4000), np.ones(4000) / 2, -np.ones(4000) / 2])
    (seen, half), buffers = look(
        lambda: EncodedSound(pcm16(loud_at_last)),
        [steps(STEPS, [("decode_audio", {})]), steps(STEPS, [("decode_audio", {}), ("rescale", 2)])],
    )
    assert seen["shape"] == [120, 800, 1] and seen["tensor"] == "float32 12000"
    lit = [np.flatnonzero(buffers[0][:, column, 0]).mean() for column in (100, 400, 700)]
    assert lit[1] < 10 and 50 < lit[0] < 70 and lit[2] > 110
    assert half["difference"]["largest"] == pytest.approx(0.25, abs=1e-3)
    stereo = Sound(np.stack([loud_at_last, -loud_at_last]), 16000)
    assert draw([stereo])[0][0]["shape"] == [240, 800, 1]


def test_numbers_that_are_no_picture_say_so() -> None:
    (seen,), _ = draw([Tensor(np.zeros(5))])
    assert seen["reason"] == "float64 5 is no picture"
