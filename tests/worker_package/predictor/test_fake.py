"""The predictor without a framework, which most other tests rely on."""

import json
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.predictor.fake import Fake
from worker_package.predictor.conformance import Conformance, Files, batch


class TestFake(Conformance):
    name = "fake"
    output_name = "logits"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return self._write(folder, {"shape": [None, 3, 8, 8], "element_type": "float32", "classes": 10, "seed": seed})

    def save_wide(self, folder: Path) -> Files:
        return self._write(folder, {"shape": [None, 3, 512, 512]})

    def _write(self, folder: Path, model: dict) -> Files:
        (folder / "model.json").write_text(json.dumps(model))
        return {"graph": str(folder / "model.json")}


class TestFakeWithCopies(TestFake):
    """As if on a device."""

    def _write(self, folder: Path, model: dict) -> Files:
        return super()._write(folder, dict(model, copies=True))


def test_fake_answers_are_the_same_in_every_release() -> None:
    """Known values: records made with the fake predictor stay comparable for good."""
    sample = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    scores = Fake({"shape": [None, 1, 2, 2], "classes": 3}).run([sample])[0]
    assert scores.tolist() == [[0.5539206266403198, 0.6412438154220581, 0.7285670042037964]]


def test_fake_accidents_happen_when_they_should() -> None:
    bright = np.ones((1, 3, 8, 8), np.float32)
    assert np.isfinite(Fake({"fail_above": 0.9, "nan_above": 0.9}).run([batch(1)])[0]).all()
    assert np.isnan(Fake({"nan_above": 0.9}).run([bright])[0]).any()
    with pytest.raises(RuntimeError, match="the fake model fails above 0.9"):
        Fake({"fail_above": 0.9}).run([bright])


def test_fake_boxes_lie_down_the_diagonal() -> None:
    fake = Fake({"shape": [None, 3, 8, 8], "classes": 2, "boxes": 4})
    boxes, scores, classes = fake.run([batch(2)])
    assert [each.name for each in fake.outputs] == ["boxes", "scores", "classes"]
    assert boxes[1].tolist()[1] == [0.125, 0.125, 0.625, 0.625] and classes[1].tolist() == [0, 1, 0, 1]
    assert scores.shape == (2, 4) and ((scores >= 0) & (scores < 1)).all()
