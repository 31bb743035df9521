"""Host and worker killed at random moments: the work is finished all the same, with the same answers."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Record, Settings, Store
from processes import children_of

# At chosen moments, tests/test_evaluate.py kills in every run.
pytestmark = pytest.mark.nightly

MODEL = """
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing: {decode: , resize: {dimensions: [64, 64]}, mean: 127.5, rescale: 127.5, layout: NCHW}
outputs: [{type: logits, processing: [softmax]}]
source: {graph_path: toy.json}
"""
DATASET = "{name: pictures, version: 1.0.0, task: classification, format: folder, sources: [{url: pictures}]}"


@pytest.fixture
def place(tmp_path: Path, make_pictures: Callable[..., Path]) -> Path:
    make_pictures(600, side=200)
    (tmp_path / "toy.json").write_text(json.dumps({"shape": [None, 3, 64, 64]}))
    (tmp_path / "toy.yml").write_text(MODEL)
    (tmp_path / "pictures.yml").write_text(DATASET)
    return tmp_path


def start(place: Path, home: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "MLMODELSCOPE_HOME": str(place / home), "MLMODELSCOPE_CACHE": str(place / "cache")}
    command = [sys.executable, "-m", "mlmodelscope", "evaluate", "toy.yml", "pictures.yml", "--json"]
    with (place / "log").open("w") as log:
        return subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=log)


def finished(place: Path, home: str) -> tuple[Record, bytes]:
    store = Store(Settings(place / home, place / "cache"))
    record = store.get("latest")
    return record, (store.folder(record.id) / "samples.parquet").read_bytes()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_host_may_be_killed_at_any_moment(place: Path, seed: int) -> None:
    assert start(place, "undisturbed").wait() == 0
    chance = random.Random(seed)
    for _ in range(5):
        process = start(place, "disturbed")
        try:
            process.wait(timeout=chance.uniform(0.4, 2.2))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert start(place, "disturbed").wait() == 0, (place / "log").read_text()
    (record, samples), (_, expected) = finished(place, "disturbed"), finished(place, "undisturbed")
    assert (record.samples, record.failed) == (600, 0)
    assert samples == expected


@pytest.mark.parametrize("seed", [3, 4])
def test_the_worker_may_be_killed_at_any_moment(place: Path, seed: int) -> None:
    assert start(place, "undisturbed").wait() == 0
    chance = random.Random(seed)
    process = start(place, "disturbed")
    for _ in range(3):
        try:
            process.wait(timeout=chance.uniform(0.4, 1.2))
            break
        except subprocess.TimeoutExpired:
            for worker in children_of(process.pid):
                os.kill(worker, signal.SIGKILL)
    assert process.wait() == 0, (place / "log").read_text()
    (record, samples), (_, expected) = finished(place, "disturbed"), finished(place, "undisturbed")
    assert (record.samples, record.failed) == (600, 0)
    assert samples == expected
