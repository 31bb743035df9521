"""One network in the files of many frameworks: UltraFace RFB-320, in the development data folder, and what it sees."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.predictor import Predictor

_SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).resolve().parents[4] / "shared")
FOLDER = _SHARED / "models" / "ultraface"
needed = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the development data folder")


def question(layout: str) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    with image.open(str(FOLDER / "1.jpg")) as opened:
        pixels = np.asarray(opened.convert("RGB").resize((320, 240), image.BILINEAR), np.float32)
    pixels = (pixels - 127) / 128
    return np.ascontiguousarray(pixels[None] if layout == "NHWC" else pixels.transpose(2, 0, 1)[None])


def faces(predictor: Predictor, layout: str = "NCHW") -> np.ndarray:
    """How much of a face each of 4420 anchors is."""
    tensor = question(layout)
    predictor.check([tensor])
    return next(each for each in predictor.run([tensor]) if each.shape[-1] == 2).reshape(4420, 2)[:, 1]


def agrees(scores: np.ndarray, tolerance: float) -> bool:
    """Whether these are the 86 anchors with a face, and their scores, that ONNX Runtime 1.31 sees."""
    known = json.loads((Path(__file__).parent / "files" / "ultraface.json").read_text())
    found = np.nonzero(scores > 0.7)[0]
    return found.tolist() == known["anchors"] and float(abs(scores[found] - known["scores"]).max()) < tolerance
