"""The training that is shipped, on all of MNIST: anybody gets the same curve.

It needs four files of one package of the npm registry, and nothing else.
"""

import shutil
from pathlib import Path

import pytest

from mlmodelscope import Options, Record, Settings, Store
from mlmodelscope.record.log import write_log
from mlmodelscope.training import EarlyStop, train

EPOCH = Options(hyperparameters={"epochs": 1})


@pytest.fixture
def settings(trained_mnist: Path, fetched: Path, tmp_path: Path) -> Settings:
    shutil.copytree(trained_mnist, tmp_path / "home")
    return Settings(home=tmp_path / "home", cache=fetched)


@pytest.fixture
def record(settings: Settings) -> Record:
    return train("mnist-mlp-training", options=EPOCH, settings=settings, trust=True)


def test_a_perceptron_learns_mnist_in_one_epoch(record: Record) -> None:
    assert record.training is not None and record.training.metrics["top1"] > 0.93
    assert [point.progress for point in record.training.curve] == [0.25, 0.5, 0.75, 1.0]
    assert [file.name for file in record.training.artifacts] == ["mnist-mlp.npz"]


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_curve(record: Record, settings: Settings) -> None:
    again = train("mnist-mlp-training", options=EPOCH, settings=settings, trust=True, again=True)
    assert again.id != record.id and again.training is not None and record.training is not None
    assert [point.metrics for point in again.training.curve] == [point.metrics for point in record.training.curve]


@pytest.mark.nightly
def test_one_with_a_useless_rate_is_stopped_at_a_quarter(record: Record, settings: Settings, tmp_path: Path) -> None:
    write_log(record, Store(settings), tmp_path / "good.log.yml")
    slow = Options(hyperparameters={"epochs": 1, "learning_rate": 1e-7})
    stopped = train(
        "mnist-mlp-training",
        options=slow,
        reference=tmp_path / "good.log.yml",
        early_stop=EarlyStop(),
        settings=settings,
        trust=True,
    )
    assert stopped.training is not None and len(stopped.training.curve) == 1
    assert stopped.training.stopped is not None and "at 25 % of the training top1 is" in stopped.training.stopped
