"""Trainings: a curve, what was made, and when one is given up."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Options, Record, Settings, Store, load_manifest
from mlmodelscope.errors import TrustError, UsageError, WorkerError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, ReferenceLog
from mlmodelscope.training import EarlyStop, Judge, interpolate, train
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.client import Progress

RUN = """import json, random
def run(ctx, data):
    chosen, dice = ctx["hyperparameters"], random.Random(ctx["seed"])
    values = []
    for step in range(1, 9):
        values.append(round(chosen["best"] * step / 8 + dice.random() / 1000, 6))
        ctx["report"](step / 8, top1=values[-1], loss=1 - values[-1])
    with open(ctx["folder"] + "/weights.json", "w") as file:
        json.dump(values, file)
    return {"top1": values[-1], "files": sum(map(len, data.values()))}
"""

Make = Callable[..., Record]


@pytest.fixture
def dataset(tmp_path: Path) -> DatasetManifest:
    (tmp_path / "numbers").mkdir()
    for name in ("a", "b"):
        (tmp_path / "numbers" / name).write_text(name)
    found = load_manifest(
        {"name": "numbers", "version": "1.0.0", "format": "files", "sources": [{"url": str(tmp_path / "numbers")}]}
    )
    assert isinstance(found, DatasetManifest)
    return found


def model(run: str = RUN, **changes: Any) -> ModelManifest:
    found = load_manifest(
        {
            "name": "toy-training",
            "version": "1.0.0",
            "task": "classification",
            "job_type": "training",
            "run": run,
            "hyperparameters": {"best": 0.8},
            **changes,
        }
    )
    assert isinstance(found, ModelManifest)
    return found


def body(text: str) -> str:
    return "def run(ctx, data):\n" + "".join(f"    {line}\n" for line in text.splitlines())


@pytest.fixture
def trained(settings: Settings, dataset: DatasetManifest) -> Make:
    def make(manifest: ModelManifest | None = None, options: Options | None = None, **more: Any) -> Record:
        return train(manifest or model(), dataset, options, settings=settings, trust=True, **more)

    return make


def log(*curve: tuple[float, dict[str, float]]) -> ReferenceLog:
    found = load_manifest(
        {
            "kind": "log",
            "name": "author",
            "version": "1.0.0",
            "job_type": "training",
            "manifests": {"model": {"name": "toy-training", "version": "1.0.0"}},
            "curve": [{"progress": progress, "metrics": metrics} for progress, metrics in curve],
        }
    )
    assert isinstance(found, ReferenceLog)
    return found


# What is kept.


def test_a_training_leaves_its_curve_and_what_it_made(settings: Settings, trained: Make) -> None:
    record = trained()
    training = record.training
    assert training is not None and record.status == "finished" and record.notes == ()
    assert [point.progress for point in training.curve] == [step / 8 for step in range(1, 9)]
    assert training.metrics["top1"] == training.curve[-1].metrics["top1"] and training.metrics["files"] == 2
    (made,) = training.artifacts
    kept = Store(settings).folder(record.id) / "artifacts" / made.name
    assert (
        made.name == "weights.json"
        and kept.stat().st_size == made.size_bytes
        and len(json.loads(kept.read_text())) == 8
    )


def test_the_record_can_be_read_again(settings: Settings, trained: Make) -> None:
    record = trained()
    assert Store(settings).get(record.id) == record


def test_the_same_plan_answers_from_the_store_and_again_trains_again(trained: Make) -> None:
    first = trained()
    assert trained().id == first.id
    rerun = trained(again=True)
    assert rerun.id != first.id and rerun.training is not None and first.training is not None
    assert rerun.training.artifacts == first.training.artifacts


def test_the_same_seed_gives_the_same_and_another_one_another(trained: Make) -> None:
    def digest(seed: int) -> str:
        training = trained(options=Options(seed=seed), again=True).training
        assert training is not None
        return training.artifacts[0].sha256

    assert digest(1) == digest(1) != digest(2)


def test_a_hyper_parameter_may_be_set_above_the_manifests(trained: Make) -> None:
    plain, better = trained(), trained(options=Options(hyperparameters={"best": 0.9}))
    assert plain.training is not None and better.training is not None
    assert better.training.metrics["top1"] > plain.training.metrics["top1"] + 0.05
    assert better.plan.hyperparameters == {"best": 0.9} and better.plan_digest != plain.plan_digest


def test_all_three_stages_take_part(trained: Make) -> None:
    stages = {
        "preprocess": "def preprocess(ctx, data):\n    for p in sorted(data['data']):\n        yield open(p).read()",
        "postprocess": "def postprocess(ctx, data):\n    return {'top1': data}",
    }
    record = trained(model(body("return len(''.join(data)) / 2"), **stages))
    assert record.training is not None and record.training.metrics == {"top1": 1.0}


def test_a_run_may_yield_its_progress(trained: Make) -> None:
    record = trained(
        model(body("for i in range(1, 5):\n    yield {'progress': i / 4, 'loss': 1 / i}\nreturn {'top1': 0.5}"))
    )
    assert record.training is not None and record.training.metrics == {"top1": 0.5}
    assert [point.metrics["loss"] for point in record.training.curve] == [1, 1 / 2, 1 / 3, 1 / 4]


def test_a_result_that_is_no_number_is_kept_as_it_is(trained: Make) -> None:
    record = trained(model(body("return {'words': ['a', 'é'], 'flag': True, 'top1': 1}")))
    assert record.training is not None and record.training.metrics == {"top1": 1.0}
    assert record.training.result == {"words": ["a", "é"], "flag": True, "top1": 1}


def test_what_is_made_may_lie_in_folders_of_any_name(trained: Make) -> None:
    code = "import os\nos.makedirs(ctx['folder'] + '/größe/x y')\nopen(ctx['folder'] + '/größe/x y/é.bin', 'w').close()"
    record = trained(model(body(code + "\nos.mkfifo(ctx['folder'] + '/pipe')")))
    assert record.training is not None and [file.name for file in record.training.artifacts] == ["größe/x y/é.bin"]


def test_metrics_that_are_no_numbers_leave_a_record_that_can_be_read(settings: Settings, trained: Make) -> None:
    code = """nan = float('nan')
ctx['report'](0.25, loss=1.0)
ctx['report'](0.5, loss=nan, top1=0.5)
return {'loss': nan, 'top1': 0.5}"""
    record = trained(model(body(code)))
    assert Store(settings).get(record.id) == record and record.training is not None
    assert [point.metrics for point in record.training.curve] == [{"loss": 1.0}, {"top1": 0.5}]
    assert record.training.metrics == {"top1": 0.5}
    assert record.notes == (
        "from 50 % of the training on, loss was not always a finite number",
        "the training returned no number for loss",
    )
    json.loads(record.model_dump_json(), parse_constant=pytest.fail)


# Accidents.


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ValueError('diverged')", r"ValueError: diverged \(line 3 of run, in run\)"),
        ("raise SystemExit(2)", "SystemExit: 2"),
        ("import os\nos.kill(os.getpid(), 9)", "the worker was killed by SIGKILL"),
        ("import os\nos._exit(0)", "the worker ended with exit code 0"),
        ("ctx['report'](50, top1=0.5)", "progress is the share that is done, between 0 and 1, not 50"),
        ("ctx['report'](0.5, top1='good')", "ValueError: could not convert string to float: 'good'"),
        ("yield {'progress': 0.5, 'note': 'good'}", "run yielded a progress that is none"),
    ],
)
def test_a_training_that_fails_leaves_no_record(settings: Settings, trained: Make, code: str, reason: str) -> None:
    with pytest.raises(WorkerError, match=reason):
        trained(model(body(f"open(ctx['folder'] + '/half', 'w').close()\n{code}")))
    assert Store(settings).list() == [] and not list((settings.home / "records").rglob("half"))


class Interrupt(Watcher):
    def trained(self, progress: float, metrics: dict[str, float]) -> None:
        raise KeyboardInterrupt


def test_an_interrupted_training_starts_afresh(settings: Settings, trained: Make) -> None:
    with pytest.raises(KeyboardInterrupt):
        trained(watcher=Interrupt())
    record = trained()
    assert record.attempts == 2 and record.training is not None and len(record.training.curve) == 8
    assert len(Store(settings).list()) == 1


def test_an_inference_is_not_trained_and_a_training_not_evaluated(
    settings: Settings, dataset: DatasetManifest, trained: Make
) -> None:
    with pytest.raises(UsageError, match="describes a training, not an evaluation"):
        evaluate(model(), dataset, settings=settings, trust=True)
    with pytest.raises(UsageError, match="describes an inference, not a training"):
        trained(model(job_type="inference"))
    with pytest.raises(UsageError, match="it has no limit"):
        trained(options=Options(limit=3))


def test_a_training_needs_trust(settings: Settings, dataset: DatasetManifest) -> None:
    with pytest.raises(TrustError):
        train(model(), dataset, settings=settings)
    assert Store(settings).list() == []


# Early stopping.

GOOD = log((0.125, {"top1": 0.1, "loss": 0.9}), (0.25, {"top1": 0.5, "loss": 0.5}), (1.0, {"top1": 0.9, "loss": 0.1}))


def test_a_training_that_falls_behind_is_stopped_at_a_quarter(settings: Settings, trained: Make) -> None:
    record = trained(reference=GOOD, early_stop=EarlyStop())
    training = record.training
    assert training is not None and training.stopped is not None and training.reference == "author@1.0.0"
    assert (
        training.stopped.startswith("at 25 % of the training top1 is 0.2")
        and "where author@1.0.0 had 0.5" in training.stopped
    )
    assert len(training.curve) == 2 and training.metrics == {} and record.notes == (training.stopped,)
    assert Store(settings).get(record.id).status == "finished"


def test_without_early_stop_it_goes_on(trained: Make) -> None:
    record = trained(reference=GOOD, early_stop=None)
    assert record.training is not None and record.training.stopped is None and len(record.training.curve) == 8


def test_a_stopped_record_is_no_answer_for_the_whole_training(trained: Make) -> None:
    stopped = trained(reference=GOOD, early_stop=EarlyStop())
    whole = trained()
    assert whole.id != stopped.id and whole.training is not None and whole.training.stopped is None


def test_one_that_keeps_up_is_not_stopped(trained: Make) -> None:
    assert trained(reference=GOOD, early_stop=EarlyStop(within=0.7)).training.stopped is None  # type: ignore[union-attr]


def test_a_log_without_a_curve_stops_nothing_and_says_so(trained: Make) -> None:
    record = trained(reference=log(), early_stop=EarlyStop())
    assert record.training is not None and record.training.stopped is None
    assert record.notes == ("the training was not compared with author@1.0.0: it has no curve",)


def test_a_metric_that_the_log_does_not_have_is_refused_before_the_training(settings: Settings, trained: Make) -> None:
    with pytest.raises(UsageError, match=r"has no metric `f1`\nknown: top1, loss"):
        trained(reference=GOOD, early_stop=EarlyStop(metric="f1"))
    assert Store(settings).list() == []


def verdict(reference: ReferenceLog, *points: tuple[float, dict[str, float]], **rule: Any) -> list[bool]:
    judge = Judge(reference, EarlyStop(**rule))
    return [judge.verdict(Progress(progress, metrics)) is not None for progress, metrics in points]


@pytest.mark.parametrize(
    ("metrics", "stops"),
    [
        ({"top1": 0.46}, False),
        ({"top1": 0.44}, True),
        ({"loss": 0.54}, False),
        ({"loss": 0.56}, True),
        ({"loss": 9.0, "top1": 0.5}, False),  # a quality counts before a loss
        ({"top1": math.nan}, True),
        ({"loss": math.inf}, True),
        ({"other": 0.0}, False),
        ({}, False),
    ],
)
def test_worse_by_more_than_a_tenth_is_too_bad(metrics: dict[str, float], stops: bool) -> None:
    assert verdict(GOOD, (0.25, metrics)) == [stops]


def test_it_is_judged_once_and_at_the_first_chance() -> None:
    bad = {"top1": 0.0}
    assert verdict(GOOD, (0.2, bad), (0.25, {"top1": 0.5}), (0.5, bad)) == [False, False, False]
    assert verdict(GOOD, (0.3, {"other": 1.0}), (0.5, bad)) == [False, True]
    assert verdict(log((0.5, {"top1": 0.5})), (0.3, bad), (0.6, bad)) == [False, True]
    assert verdict(GOOD, (1.0, bad)) == [False]  # there is nothing left to save
    assert verdict(GOOD, (0.3, {"loss": 9.0, "top1": 0.9}), metric="loss") == [True]


def test_a_reference_that_is_not_a_number_stops_nothing() -> None:
    assert verdict(log((0.25, {"top1": math.nan}), (0.5, {"top1": math.nan})), (0.3, {"top1": 0.0})) == [False]


def test_negative_metrics_are_compared_by_their_size() -> None:
    negative = log((0.25, {"likelihood": -10.0}))
    assert verdict(negative, (0.25, {"likelihood": -10.5})) == [False]
    assert verdict(negative, (0.25, {"likelihood": -11.5})) == [True]


def test_between_two_points_the_curve_is_straight() -> None:
    points = [(0.5, 2.0), (0.0, 1.0)]
    assert [interpolate(points, at) for at in (0.0, 0.25, 0.5, 0.9)] == [1.0, 1.5, 2.0, 2.0]
    assert interpolate(points[:1], 0.4) is None and interpolate([], 0.5) is None
    assert interpolate([(0.3, 1.0), (0.3, 3.0)], 0.3) == 1.0
