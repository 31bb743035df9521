"""A model that runs while somebody looks on."""

from pathlib import Path

import pytest

from mlmodelscope_worker.messages import Watch
from mlmodelscope_worker.predictor import NotSupported
from mlmodelscope_worker.scenario.watched import watch
from mlmodelscope_worker.session import Session
from worker_package.pictures import jpeg
from worker_package.tasks import fake_model, task


def asked(counted: bool = False) -> Watch:
    return Watch([{"buffer": 0}], 4, counted)


def test_runs_are_told_in_order_with_their_moments(tmp_path: Path) -> None:
    answer = watch(Session(task(fake_model(tmp_path))), asked(), [jpeg()])
    assert len(answer.runs) == 4 and answer.without_ns == []
    moments = [moment for start, end, _ in answer.runs for moment in (start, end)]
    assert moments == sorted(moments)


def test_counted_runs_have_plain_ones_beside_them(tmp_path: Path) -> None:
    answer = watch(Session(task(fake_model(tmp_path))), asked(counted=True), [jpeg()])
    assert len(answer.runs) == len(answer.without_ns) == 4
    assert all("task_clock_ns" in counted for _, _, counted in answer.runs)


def test_a_servers_processor_is_not_watched(tmp_path: Path) -> None:
    session = Session(task(fake_model(tmp_path)))
    session.predictor.server = {"name": "far away"}
    with pytest.raises(NotSupported, match="a server runs the model"):
        watch(session, asked(), [jpeg()])
