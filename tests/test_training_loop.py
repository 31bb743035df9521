"""Trainings whose loop is ours, from the manifest to the record: killed and resumed, they end the same."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budget import tries
from mlmodelscope import Options, Record, Settings, Store, load_manifest
from mlmodelscope.errors import ManifestError, TrustError, UsageError, WorkerError
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.record.store import Store as RecordStore
from mlmodelscope.training import train
from mlmodelscope.training.run import checkpoints
from mlmodelscope.watcher import Watcher
from training_world import CODE, small_training

Make = Callable[..., Record]


@pytest.fixture
def dataset(tmp_path: Path) -> DatasetManifest:
    (tmp_path / "numbers").write_text("1")
    found = load_manifest(
        {"name": "numbers", "version": "1.0.0", "format": "files", "sources": [{"url": str(tmp_path / "numbers")}]}
    )
    assert isinstance(found, DatasetManifest)
    return found


@pytest.fixture
def trained(settings: Settings, dataset: DatasetManifest) -> Make:
    def make(manifest: dict[str, Any] | None = None, options: Options | None = None, **more: Any) -> Record:
        model: Any = load_manifest(manifest or small_training())
        return train(model, dataset, options, settings=settings, trust=True, **more)

    return make


def weights(record: Record) -> str:
    assert record.training is not None
    return next(each.sha256 for each in record.training.artifacts if each.name == "weights.npz")


def test_a_training_leaves_weights_a_curve_and_where_its_time_went(settings: Settings, trained: Make) -> None:
    record = trained()
    training = record.training
    assert training is not None and training.loop is not None and record.notes == ()
    assert [point.step for point in training.curve] == [6, 12, 18] and training.curve[-1].samples == 270
    assert training.metrics["accuracy"] > 0.85 and [each.name for each in training.artifacts] == ["weights.npz"]
    loop = training.loop
    assert (loop.step, loop.steps, loop.per_epoch, loop.samples, loop.resumed) == (18, 18, 6, 270, 0)
    assert 0 < loop.step_s + loop.wait_s + loop.evaluation_s <= loop.wall_s and loop.samples_per_s is not None
    assert loop.energy_j or loop.no_energy
    assert Store(settings).get(record.id) == record
    with np.load(Store(settings).folder(record.id) / "artifacts" / "weights.npz") as kept:
        assert sorted(kept.files) == ["b", "w"]
    assert trained().id == record.id and weights(trained(again=True)) == weights(record)


def test_a_command_may_say_how_long_and_how_good(trained: Make) -> None:
    short = trained(options=Options(training={"steps": 4, "batch_size": 8}))
    assert short.training is not None and short.training.loop is not None and short.training.loop.samples == 32
    good = trained(options=Options(training={"target": {"accuracy": 0.5}}))
    assert good.training is not None and good.training.loop is not None and good.training.loop.target is not None
    target = good.training.loop.target
    assert target.reached and target.step == good.training.loop.step and target.wall_s is not None
    with pytest.raises(UsageError, match="`shuffle` of a training cannot be set"):
        trained(options=Options(training={"shuffle": False}))
    with pytest.raises(UsageError, match="batch_size"):
        trained(options=Options(training={"batch_size": 0}))
    with pytest.raises(UsageError, match="target.accuracy"):
        trained(options=Options(training={"target": {"accuracy": float("nan")}}))


def dying(place: Path, *steps: int, every: int = 1) -> dict[str, Any]:
    """Its worker is killed once at each of these steps."""
    code = CODE.replace("def train_step(", "def one_step(") + (
        "\n\ndef train_step(model, state, inputs, targets, hyperparameters):\n"
        "    import os\n"
        "    state['steps'] = state.get('steps', 0) + 1\n"
        "    mark = hyperparameters['place'] + '/died-%d' % state['steps']\n"
        "    if state['steps'] in hyperparameters['at'] and not os.path.exists(mark):\n"
        "        open(mark, 'w').close()\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return one_step(model, state, inputs, targets, hyperparameters)\n"
    )
    manifest = small_training(code, checkpoint_every=every)
    manifest["hyperparameters"].update(place=str(place), at=list(steps))
    return manifest


@pytest.mark.slow(reason="two trainings, three workers of one of them")
def test_a_worker_that_is_killed_is_replaced_and_the_end_is_the_same(tmp_path: Path, trained: Make) -> None:
    places = [tmp_path / "one", tmp_path / "other"]
    for place in places:
        place.mkdir()
    (places[0] / "died-5").touch()
    (places[0] / "died-11").touch()
    whole, killed = (trained(dying(place, 5, 11)) for place in places)
    assert weights(whole) == weights(killed) and killed.training is not None and killed.training.loop is not None
    assert killed.training.loop.resumed == 2 and killed.training.loop.no_energy is not None
    assert [point.metrics for point in killed.training.curve] == [point.metrics for point in whole.training.curve]  # type: ignore[union-attr]
    assert len(killed.notes) == 2 and "SIGKILL, and the training was resumed at step 4" in killed.notes[0]


def test_one_that_dies_before_any_checkpoint_leaves_nothing(tmp_path: Path, settings: Settings, trained: Make) -> None:
    with pytest.raises(WorkerError, match="SIGKILL"):
        trained(dying(tmp_path, 1))
    assert Store(settings).list() == []


def test_one_that_raises_late_keeps_its_checkpoint_and_says_so(
    tmp_path: Path, settings: Settings, trained: Make
) -> None:
    manifest = dying(tmp_path, 9)
    manifest["training"]["code"] = manifest["training"]["code"].replace(
        "os.kill(os.getpid(), 9)", "raise OSError('full')"
    )
    with pytest.raises(WorkerError, match="OSError: full") as raised:
        trained(manifest)
    assert (
        raised.value.hint == "its checkpoint of step 8 is kept: `mlmodelscope train` with the same words resumes there"
    )
    (listed,) = Store(settings).list()
    assert listed["status"] == "interrupted"
    record = trained(manifest)
    assert record.id == listed["id"] and record.attempts == 2
    assert record.training is not None and record.training.loop is not None and record.training.loop.resumed == 1


class Interrupt(Watcher):
    def trained(self, progress: float, metrics: dict[str, float]) -> None:
        if progress > 0.5:
            raise KeyboardInterrupt


def test_an_interrupted_training_resumes_with_the_same_command(settings: Settings, trained: Make) -> None:
    whole = trained()
    Store(settings).delete(whole)
    with pytest.raises(KeyboardInterrupt):
        trained(watcher=Interrupt())
    record = trained()
    assert record.attempts == 2 and weights(record) == weights(whole) and len(Store(settings).list()) == 1
    assert not (Store(settings).folder(record.id) / "artifacts" / "checkpoints").exists()


def write(folder: Path, code: str) -> None:
    (folder / "numbers").write_text("1")
    (folder / "mine.py").write_text(code)
    (folder / "mine.yml").write_text(
        "name: mine\nversion: 1.0.0\ntask: classification\njob_type: training\n"
        "hyperparameters: {learning_rate: 0.05}\n"
        "training: {code: mine.py, batch_size: 16, epochs: 3, checkpoint_every: 1}\n"
    )
    (folder / "numbers.yml").write_text("name: numbers\nversion: 1.0.0\nformat: files\nsources: [{url: numbers}]\n")


def killed_host(folder: Path, settings: Settings, step: int) -> int:
    """The command is killed as soon as this step has a checkpoint; how far it had come."""
    environment = {**os.environ, "MLMODELSCOPE_HOME": str(settings.home)}
    words = ("train", str(folder / "mine.yml"), str(folder / "numbers.yml"), "--trust", "--json")
    process = subprocess.Popen([sys.executable, "-m", "mlmodelscope", *words], env=environment, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 300
    try:
        while process.poll() is None and time.monotonic() < deadline:
            found = [each for place in settings.home.glob("records/*/artifacts") for each in checkpoints(place)]
            if found and found[-1] >= step:
                process.send_signal(signal.SIGKILL)
                return found[-1]
            time.sleep(0.002)
        return 18
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow(reason="each kill starts the command once more")
def test_a_command_that_is_killed_resumes_and_ends_the_same(tmp_path: Path, settings: Settings) -> None:
    slow = CODE.replace(
        "    outputs = forward(model, inputs)\n    wrong",
        "    import time\n    time.sleep(0.02)\n    outputs = forward(model, inputs)\n    wrong",
    )
    assert slow != CODE
    write(tmp_path, slow)
    model, data = str(tmp_path / "mine.yml"), str(tmp_path / "numbers.yml")
    whole = train(model, data, settings=settings, trust=True)
    RecordStore(settings).delete(whole)
    moments = np.random.RandomState(3).choice(16, tries(2, 10), replace=False) + 1
    reached = [killed_host(tmp_path, settings, int(step)) for step in sorted(moments)]
    assert min(reached) < 18
    record = train(model, data, settings=settings, trust=True)
    assert weights(record) == weights(whole) and record.training is not None and record.training.loop is not None
    assert record.training.loop.resumed >= 1 and record.attempts >= 2
    assert [point.step for point in record.training.curve] == [6, 12, 18]


# The manifest.


def refused(**changes: Any) -> str:
    with pytest.raises(ManifestError) as raised:
        load_manifest({**small_training(), **changes})
    return str(raised.value)


def settings_with(**changes: Any) -> dict[str, Any]:
    written: dict[str, Any] = {**small_training()["training"], **changes}
    return written


def test_a_manifest_that_contradicts_itself_is_refused() -> None:
    assert "either `epochs` or `steps`" in refused(training=settings_with(steps=3))
    assert "either `epochs` or `steps`" in refused(training=settings_with(epochs=None))
    assert "goes with `job_type: training`" in refused(job_type="inference")
    assert "`training` and the function `run`" in refused(run="def run(ctx, data):\n    return 1\n")
    assert "unknown step `mirrored`" in refused(training=settings_with(augmentation=["mirrored"]))
    assert "step `shift`" in refused(training=settings_with(augmentation=[{"shift": 0}]))
    assert "unknown step `resise`" in refused(training=settings_with(processing=[{"resise": 4}]))
    assert "neither a Python file" in refused(training=settings_with(code="mine.txt"))
    assert "leaves the manifest's folder" in refused(training=settings_with(code="../mine.py"))
    assert "batch_size" in refused(training=settings_with(batch_size=0))
    assert "shufle" in refused(training=settings_with(shufle=True))
    assert "finite" in refused(training=settings_with(target={"accuracy": float("nan")}))


def test_code_beside_the_manifest_is_trusted_by_its_text(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, CODE)
    model = str(tmp_path / "mine.yml")
    with pytest.raises(TrustError, match=r"training \(mine.yml:1\)|training"):
        train(model, str(tmp_path / "numbers.yml"), settings=settings)
    (tmp_path / "mine.py").unlink()
    with pytest.raises(ManifestError, match=r"cannot read mine.py: No such file"):
        train(model, str(tmp_path / "numbers.yml"), settings=settings, trust=True)
    (tmp_path / "mine.py").symlink_to("/etc/hostname")
    with pytest.raises(ManifestError, match=r"leads out of the manifest's folder"):
        train(model, str(tmp_path / "numbers.yml"), settings=settings, trust=True)


def test_an_error_names_the_line_of_the_file(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, CODE.replace("    return points(1, 90)", "    raise ValueError('lost')"))
    with pytest.raises(WorkerError, match=r"ValueError: lost \(mine.py:12, in training_data\)"):
        train(str(tmp_path / "mine.yml"), str(tmp_path / "numbers.yml"), settings=settings, trust=True)


def test_a_text_names_no_file_of_this_machine(dataset: DatasetManifest, settings: Settings) -> None:
    model: Any = load_manifest(small_training("mine.py"))
    with pytest.raises(ManifestError, match="write the code into it"):
        train(model, dataset, settings=settings, trust=True)
