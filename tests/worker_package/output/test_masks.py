"""Masks on their way to the original picture, and as run lengths."""

import numpy as np
import pytest

from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import Refused
from mlmodelscope_worker.output.rle import compress, encode
from mlmodelscope_worker.pipeline.frame import Frame


def step(name: str, values: dict[str, object], frame: Frame, **parameters: object) -> dict[str, np.ndarray]:
    declared = ANSWER_STEPS[name]
    found: dict[str, np.ndarray] = declared.function(values, frame, **declared.resolve(parameters))
    return found


def drawn(pasted: tuple[int, int, np.ndarray], height: int, width: int) -> np.ndarray:
    top, left, part = pasted
    full = np.zeros((height, width), bool)
    full[top : top + part.shape[0], left : left + part.shape[1]] = part
    return full


@pytest.mark.parametrize("seed", range(20))
def test_run_lengths_are_those_of_pycocotools(seed: int) -> None:
    mask = pytest.importorskip("pycocotools.mask")
    chance = np.random.default_rng(seed)
    height, width = chance.integers(1, 40, 2)
    top, left = chance.integers(0, height), chance.integers(0, width)
    part = chance.random((chance.integers(0, height - top + 1), chance.integers(0, width - left + 1))) < (seed % 5) / 4
    full = drawn((top, left, part), height, width)
    assert encode(top, left, part, height, width) == mask.encode(np.asfortranarray(full.astype(np.uint8)))["counts"]


def test_run_lengths_of_a_large_picture() -> None:
    mask = pytest.importorskip("pycocotools.mask")
    full = np.zeros((5000, 4000), bool)
    full[4000:, 3990:] = True
    assert encode(0, 0, full, *full.shape) == mask.encode(np.asfortranarray(full.astype(np.uint8)))["counts"]
    assert compress([20_000_000]) == mask.encode(np.zeros((5000, 4000), np.uint8, order="F"))["counts"]


def test_the_two_compressions_agree() -> None:
    from mlmodelscope.dataset.coco_masks import compress as of_host
    from mlmodelscope.dataset.coco_masks import decompress

    counts = np.random.default_rng(0).integers(0, 5000, 200).tolist()
    assert compress(counts).decode() == of_host(counts) and decompress(of_host(counts)) == counts


def sampled(mask: np.ndarray, box: list[float], height: int, width: int) -> np.ndarray:
    """The rule of Detectron2, pixel by pixel: bilinear at the pixels' centers, nothing beyond the edge."""
    padded = np.pad(mask, 1)
    found = np.zeros((height, width))
    for y in range(height):
        for x in range(width):
            row = (y + 0.5 - box[1]) / (box[3] - box[1]) * mask.shape[0] - 0.5
            column = (x + 0.5 - box[0]) / (box[2] - box[0]) * mask.shape[1] - 0.5
            if not (-1 <= row < mask.shape[0] and -1 <= column < mask.shape[1]):
                continue
            low, left = int(np.floor(row)), int(np.floor(column))
            down, right = row - low, column - left
            part = padded[low + 1 : low + 3, left + 1 : left + 3]
            found[y, x] = (np.array([1 - down, down]) @ part @ np.array([1 - right, right])).item()
    return found


@pytest.mark.parametrize("seed", range(8))
def test_paste_masks_into_boxes(seed: int) -> None:
    chance = np.random.default_rng(seed)
    mask = chance.random((7, 9))
    x, y = chance.uniform(-5, 20, 2)
    box = [x, y, x + chance.uniform(3, 25), y + chance.uniform(3, 25)]
    frame = Frame((24, 32))
    values = {"boxes": np.array([box]), "scores": np.ones(1), "masks": mask[None]}
    pasted = step("paste_masks", values, frame, threshold=0.4)["pasted"][0]
    inside = np.zeros((24, 32), bool)
    rows, columns = np.arange(24) + 0.5, np.arange(32) + 0.5
    inside |= ((rows >= box[1]) & (rows <= box[3]))[:, None] & ((columns >= box[0]) & (columns <= box[2]))
    assert (drawn(pasted, 24, 32) == ((sampled(mask, box, 24, 32) >= 0.4) & inside)).all()


def test_paste_masks_through_a_letterbox_and_a_turn() -> None:
    original = Frame((20, 40))
    frame = original.scaled(10, 20).padded(5, 0, 20, 20)
    mask = np.zeros((20, 20))
    mask[5:10, 10:15] = 1.0  # the upper half of the picture, its third quarter
    values = {"boxes": np.array([[0.0, 0, 20, 20]]), "scores": np.ones(1), "masks": mask[None]}
    found = drawn(step("paste_masks", values, frame, over="input", method="nearest")["pasted"][0], 20, 40)
    expected = np.zeros((20, 40), bool)
    expected[0:10, 20:30] = True
    assert (found == expected).all()
    turned = Frame((40, 20)).transposed()
    wide = np.zeros((20, 40))
    wide[2:4, 30:35] = 1.0
    values = {"boxes": np.array([[0.0, 0, 40, 20]]), "scores": np.ones(1), "masks": wide[None]}
    assert (drawn(step("paste_masks", values, turned, over="input")["pasted"][0], 40, 20) == (wide.T > 0)).all()


def test_paste_masks_of_the_class_of_each_box() -> None:
    masks = np.zeros((2, 3, 4, 4))
    masks[0, 2], masks[1, 0] = 1.0, 1.0
    values = {"boxes": np.array([[0.0, 0, 4, 4], [4, 4, 8, 8]]), "scores": np.ones(2), "masks": masks}
    found = step("paste_masks", dict(values, classes=np.array([2, 0])), Frame((8, 8)))["pasted"]
    assert found[0][2].all() and found[1][2].all() and found[1][:2] == (4, 4)
    other = step("paste_masks", dict(values, classes=np.array([1, 0])), Frame((8, 8)))["pasted"]
    assert not other[0][2].any()
    with pytest.raises(Refused, match="class 3"):
        step("paste_masks", dict(values, classes=np.array([3, 0])), Frame((8, 8)))


def test_mask_prototypes_stay_whole_when_boxes_are_chosen() -> None:
    """There may be as many prototypes as boxes."""
    values = {
        "boxes": np.array([[0.0, 0, 4, 4], [0, 0, 8, 8]]),
        "scores": np.array([0.1, 0.9]),
        "coefficients": np.array([[1.0, 0], [0, 1]]),
        "prototypes": np.stack([np.full((8, 8), -9.0), np.full((8, 8), 9.0)]),
    }
    kept = step("threshold", values, Frame((8, 8)), score=0.5)
    masks = step("mask_prototypes", kept, Frame((8, 8)))["masks"]
    assert masks.shape == (1, 8, 8) and (masks > 0.99).all()


def test_split_rows_and_what_does_not_fit() -> None:
    tensor = np.arange(2 * 9, dtype=float).reshape(2, 9)
    found = step("split_rows", {"tensor": tensor}, Frame((8, 8)), classes=2, objectness=True, rest="coefficients")
    assert found["boxes"].tolist() == tensor[:, :4].tolist() and found["coefficients"].tolist() == [[7, 8], [16, 17]]
    assert found["scores"].tolist() == (tensor[:, 5:7] * tensor[:, 4:5]).tolist()
    with pytest.raises(Refused, match="a box has 9 numbers"):
        step("split_rows", {"tensor": tensor}, Frame((8, 8)), classes=2)


def test_keypoints_of_shares_with_y_first() -> None:
    points = np.array([[[0.5, 0.25, 0.9], [0.25, 0.75, 0.5]]])
    found = step("keypoints", {"keypoints": points}, Frame((40, 80)), order="yx", unit="share", score="points")
    assert found["keypoints"][0].tolist() == [[20, 20, 0.9], [60, 10, 0.5]]
    assert found["boxes"].tolist() == [[20, 10, 60, 20]] and found["scores"].tolist() == [0.7]
    with pytest.raises(Refused, match="scores"):
        step("keypoints", {"keypoints": points}, Frame((40, 80)))
