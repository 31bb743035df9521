"""Intersection over union and its relatives: by hand, beside a plain confusion matrix, and how sure they are."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mlmodelscope.measure.interval import intervals, paired
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.measure.segmentation import MEASURES, RULE, _packed
from mlmodelscope_worker.png import write_png


def answer(plane: Any, kind: type = np.uint8) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    pixels = np.asarray(plane, kind)
    fields = {"size": list(pixels.shape), "none": int(np.iinfo(kind).max), "covered": [0, 0, *pixels.shape]}
    return {"map": np.frombuffer(write_png(pixels), np.uint8)}, fields


def mask(folder: Path, plane: Any, kind: type = np.uint8, name: str = "mask.png", **labels: Any) -> dict[str, Any]:
    (folder / name).write_bytes(write_png(np.asarray(plane, kind)))
    return {"mask": {"file": str(folder / name)}, "name": name, "labels": labels}


def numbers(*scores: bytes) -> dict[str, float]:
    return RULE.numbers(scores, MEASURES, None)


def test_four_pixels_by_hand(tmp_path: Path) -> None:
    score = RULE.score(*answer([[0, 1], [1, 1]]), mask(tmp_path, [[0, 0], [1, 1]]), {})
    assert numbers(score) == pytest.approx(
        {
            "miou": (1 / 2 + 2 / 3) / 2,
            "pixel-accuracy": 3 / 4,
            "mean-accuracy": (1 / 2 + 1) / 2,
            "fw-iou": (1 / 2 + 2 / 3) / 2,
            "dice": (2 / 3 + 4 / 5) / 2,
        }
    )
    details = RULE.details([score])
    assert details["per_class"][1] == {
        **{"class": 1, "pixels": 2, "answered": 3},
        **{"iou": pytest.approx(2 / 3), "accuracy": 1.0, "dice": pytest.approx(0.8)},
    }
    assert details["pixel_confusion"] == [{"label": 0, "answer": 1, "count": 1}]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_many_pictures_are_one_confusion_matrix(tmp_path: Path, kind: type) -> None:
    chance, matrix, scores = np.random.default_rng(0), np.zeros((6, 6)), []
    for number in range(8):
        truth, told = (chance.integers(0, 6, (9, 7)) for _ in range(2))
        truth[chance.random((9, 7)) < 0.1] = 255
        scores.append(RULE.score(*answer(told, kind), mask(tmp_path, truth, kind, f"{number}.png"), {"void": 255}))
        known = truth != 255
        np.add.at(matrix, (truth[known], told[known]), 1)
    diagonal, true, answered = np.diag(matrix), matrix.sum(1), matrix.sum(0)
    found = numbers(*scores)
    assert found["miou"] == pytest.approx(np.mean(diagonal / (true + answered - diagonal)))
    assert found["pixel-accuracy"] == pytest.approx(diagonal.sum() / matrix.sum())
    assert found["mean-accuracy"] == pytest.approx(np.mean(diagonal / true))


def test_a_class_that_no_mask_has_is_left_out_or_counts_as_nothing(tmp_path: Path) -> None:
    truth, told = [[0, 0], [1, 1]], answer([[0, 0], [1, 2]])
    skipped = RULE.score(*told, mask(tmp_path, truth, classes=4), {"absent": "skip"})
    zero = RULE.score(*told, mask(tmp_path, truth, classes=4), {"absent": "zero"})
    assert numbers(skipped)["miou"] == pytest.approx((1 + 1 / 2) / 2)
    assert numbers(zero)["miou"] == pytest.approx((1 + 1 / 2) / 4)
    with pytest.raises(ScoreError, match="`absent: zero` needs the number of classes"):
        RULE.score(*told, mask(tmp_path, truth), {"absent": "zero"})


def test_void_pixels_count_neither_way(tmp_path: Path) -> None:
    told = answer([[0, 1], [1, 1]])
    by_value = RULE.score(*told, mask(tmp_path, [[0, 9], [1, 1]], void=[9]), {})
    by_class = RULE.score(*told, mask(tmp_path, [[0, 9], [1, 1]]), {"void": 9})
    usual = RULE.score(*told, mask(tmp_path, [[0, 255], [1, 1]]), {"void": 255})
    assert numbers(by_value) == numbers(by_class) == numbers(usual)
    assert numbers(usual)["miou"] == 1


def test_values_are_mapped_to_classes(tmp_path: Path) -> None:
    labels = {"map": [[7, 1], [11, 2]], "other": 0, "void": [0]}
    told = answer([[0, 0, 1], [2, 2, 1]])
    assert numbers(RULE.score(*told, mask(tmp_path, [[0, 5, 7], [11, 11, 7]], **labels), {}))["miou"] == 1
    del labels["other"]
    with pytest.raises(ScoreError, match=r"the value 5, which is not in `labels.map`"):
        RULE.score(*told, mask(tmp_path, [[0, 5, 7], [11, 11, 7]], **labels), {})


def test_what_the_model_did_not_see_is_wrong_or_left_out(tmp_path: Path) -> None:
    arrays, fields = answer([[255, 1], [255, 1]])
    fields["covered"] = [0, 1, 2, 2]
    truth = mask(tmp_path, [[0, 1], [0, 1]])
    assert numbers(RULE.score(arrays, fields, truth, {}))["pixel-accuracy"] == 0.5
    assert numbers(RULE.score(arrays, fields, truth, {"uncovered": "skip"}))["pixel-accuracy"] == 1


def test_a_palette_is_read_by_its_indices(tmp_path: Path) -> None:
    colored = Image.frombytes("P", (2, 2), bytes([0, 1, 2, 2]))
    colored.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    colored.save(tmp_path / "palette.png")
    target = {"mask": {"file": str(tmp_path / "palette.png")}, "labels": {}}
    assert numbers(RULE.score(*answer([[0, 1], [2, 2]]), target, {}))["miou"] == 1


def test_panoptic_segments_are_classes(tmp_path: Path) -> None:
    identities = np.array([[0, 70000], [300, 300]])
    colors = np.stack([identities & 255, identities >> 8 & 255, identities >> 16], axis=2).astype(np.uint8)
    (tmp_path / "panoptic.png").write_bytes(write_png(colors))
    target = {
        "mask": {"file": str(tmp_path / "panoptic.png")},
        "segments": [[70000, 4], [300, 2]],
        "labels": {},
    }
    assert numbers(RULE.score(*answer([[9, 4], [2, 2]]), target, {}))["pixel-accuracy"] == 1
    target["segments"] = [[300, 2]]
    with pytest.raises(ScoreError, match="the segment 70000, which is not listed"):
        RULE.score(*answer([[9, 4], [2, 2]]), target, {})


def test_damaged_truth_is_told(tmp_path: Path) -> None:
    told, good = answer([[0, 1], [1, 1]]), mask(tmp_path, [[0, 1], [1, 1]])
    with pytest.raises(ScoreError, match="its mask is 3 x 1 pixels, the picture is 2 x 2"):
        RULE.score(*told, mask(tmp_path, [[0, 1, 1]], name="other.png"), {})
    with pytest.raises(ScoreError, match="the value 7, which is class 7 and does not exist: there are 3"):
        RULE.score(*told, mask(tmp_path, [[0, 1], [7, 1]], name="other.png", classes=3), {})
    with pytest.raises(ScoreError, match="the value 0, which is class -1 and does not exist"):
        RULE.score(*told, mask(tmp_path, [[0, 1], [2, 1]], name="other.png", offset=1), {})
    large = mask(tmp_path, np.random.default_rng(0).integers(0, 9, (40, 40)), name="large.png")
    Path(large["mask"]["file"]).write_bytes(Path(large["mask"]["file"]).read_bytes()[:300])
    with pytest.raises(ScoreError, match="cannot be read"):
        RULE.score(*answer(np.zeros((40, 40))), large, {})
    Path(good["mask"]["file"]).unlink()
    with pytest.raises(ScoreError, match="missing"):
        RULE.score(*told, good, {})
    with pytest.raises(ScoreError, match="no mask"):
        RULE.score(*told, {"boxes": []}, {})
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG")
    (tmp_path / "color.png").write_bytes(buffer.getvalue())
    with pytest.raises(ScoreError, match="a color picture"):
        RULE.score(*told, {"mask": {"file": str(tmp_path / "color.png")}}, {})


@pytest.mark.parametrize("segments", [{}, {"segments": [[1, 0]]}])
def test_a_mask_of_another_size_is_not_unpacked(tmp_path: Path, segments: dict[str, Any]) -> None:
    """A few bytes may stand for more than a hundred million pixels."""
    head = struct.pack(">IIBBBBB", 12_000, 12_000, 8, 2 if segments else 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", b"never looked at"), (b"IEND", b""))
    content = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    target = {"mask": {"file": str(tmp_path / "bomb.png")}, "name": "bomb.png", **segments}
    with pytest.raises(ScoreError, match="its mask is 12000 x 12000 pixels, the picture is 2 x 2"):
        RULE.score(*answer([[0, 1], [1, 0]]), target, {})


def test_pictures_of_nothing_but_void_have_no_number(tmp_path: Path) -> None:
    score = RULE.score(*answer([[0, 1]]), mask(tmp_path, [[255, 255]]), {"void": 255})
    assert numbers(score) == {} and RULE.details([score]) == {"per_class": [], "pixel_confusion": []}


def drawn(chance: np.random.Generator, samples: int) -> list[bytes]:
    """Pictures of four classes of different frequency; how well a picture is answered differs from one to the next."""
    found = []
    for _ in range(samples):
        shares = chance.dirichlet([4, 2, 1, 1])
        pixels = chance.multinomial(2000, shares)
        quality = chance.beta(6, 2)
        right = chance.binomial(pixels, quality)
        true, told, counts = [], [], []
        for kind in range(4):
            others = chance.multinomial(pixels[kind] - right[kind], [1 / 3] * 3)
            answers = [kind, *(each for each in range(4) if each != kind)]
            for number, count in zip(answers, [right[kind], *others], strict=True):
                true, told, counts = [*true, kind], [*told, number], [*counts, count]
        kept = np.array(counts) > 0
        found.append(_packed(*(np.array(each)[kept] for each in (true, told, counts)), count=4, absent="skip"))
    return found


def test_95_of_100_intervals_hold_the_number_of_all_pictures() -> None:
    true = RULE.numbers(drawn(np.random.default_rng(99), 6000), MEASURES, None)
    held = dict.fromkeys(MEASURES, 0)
    for study in range(200):
        scores = drawn(np.random.default_rng(study), 30)
        for name, (_, low, high, _) in intervals(RULE, scores, RULE.numbers(scores, MEASURES, None)).items():
            held[name] += low <= true[name] <= high
    assert all(0.91 <= count / 200 <= 0.985 for count in held.values()), held


def test_the_same_answers_differ_by_nothing() -> None:
    scores = drawn(np.random.default_rng(0), 10)
    assert paired(RULE, scores, scores, "miou") == (0.0, 0.0)
