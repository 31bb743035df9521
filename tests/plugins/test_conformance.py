"""A stranger's predictor passes the same suite as ours, as docs/extend.md explains it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files


@pytest.fixture(autouse=True)
def installed(toy: Path, on_the_path: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_path(toy)
    monkeypatch.setenv("PYTHONPATH", str(toy))  # for the processes that the suite starts


class TestToyLinear(Conformance):
    name = "toylinear"
    module = "mlmodelscope_toy.predictor"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return self.write(folder, [3, 8, 8], np.random.default_rng(seed).random((192, 10)))

    def save_wide(self, folder: Path) -> Files:
        return self.write(folder, [3, 512, 512], np.ones((4, 10)))

    def write(self, folder: Path, shape: list[int], weights: np.ndarray) -> Files:
        (folder / "toy.json").write_text(json.dumps({"shape": shape, "weights": weights.tolist()}))
        return {"graph": str(folder / "toy.json")}
