"""From manifest to record: the whole sentence, and what interrupts it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Options, Record, Settings, Store, evaluate, evaluation, predict
from mlmodelscope.errors import ArtifactError, DatasetError, PlanError, WorkerError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.record.journal import Journal
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import WorkerDied
from processes import children_of

Make = Callable[..., ModelManifest]
MakeDataset = Callable[..., DatasetManifest]
MakePictures = Callable[..., Path]


def samples(settings: Settings, record: Record) -> bytes:
    return (Store(settings).folder(record.id) / "samples.parquet").read_bytes()


def test_an_evaluation_leaves_a_complete_record(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), settings=settings)
    assert record.status == "finished" and record.samples == 12 and record.failed == 0
    assert record.metrics.get("top1") is not None and record.details.get("calibration") is not None
    assert record.plan.digest == record.plan_digest
    assert record.latency is not None and len(record.latency.raw_ns) >= 1 and record.latency.p50_s.value > 0
    assert record.stack is not None and "numpy" in record.stack.packages
    assert record.machine.cores >= 1 and record.worker_digest
    assert record.class_names == ("class0", "class1", "class2")
    rows = Store(settings).samples(record).to_pylist()
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert all(len(row["classes"]) == 5 and len(row["digest"]) == 64 for row in rows)


def test_copies_to_a_device_are_in_the_record(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    dataset = make_dataset(make_pictures())
    here = evaluate(make_model(), dataset, settings=settings)
    there = evaluate(make_model({"copies": True}), dataset, settings=settings)
    assert here.latency and here.latency.parts_ns == {}
    kept = Store(settings).get(there.id).latency
    assert kept and list(kept.parts_ns) == ["copy to device", "run", "copy from device"]
    assert {len(raw) for raw in kept.parts_ns.values()} == {20}


def test_the_same_plan_answers_from_the_store_and_again_reruns(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures())
    first = evaluate(model, dataset, settings=settings)
    assert evaluate(model, dataset, settings=settings).id == first.id
    rerun = evaluate(model, dataset, settings=settings, again=True)
    assert rerun.id != first.id
    assert samples(settings, rerun) == samples(settings, first)


@pytest.mark.parametrize("batch_size", [2, 5, 12, 100])
def test_the_batch_size_changes_the_plan_but_no_answer(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, batch_size: int
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures())
    one = evaluate(model, dataset, settings=settings)
    many = evaluate(model, dataset, Options(batch_size=batch_size), settings=settings)
    assert many.plan_digest != one.plan_digest
    assert samples(settings, many) == samples(settings, one)


def test_a_picture_that_is_none_is_a_failed_sample_not_a_lost_run(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    folder = make_pictures()
    (folder / "class0" / "0000.png").write_bytes(b"not a picture")
    (folder / "class1" / "0001.png").write_bytes(b"")
    record = evaluate(make_model(), make_dataset(folder), Options(batch_size=4), settings=settings)
    assert (record.samples, record.failed) == (12, 2)
    assert {failure.sample for failure in record.failures} == {"class0/0000.png", "class1/0001.png"}
    assert any("2 of 12 samples failed" in note for note in record.notes)
    assert Store(settings).samples(record, only_failed=True).num_rows == 2


def test_when_every_sample_fails_the_metrics_refuse(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    folder = make_pictures(3)
    for path in folder.rglob("*.png"):
        path.write_bytes(b"broken")
    record = evaluate(make_model(), make_dataset(folder), settings=settings)
    assert record.failed == 3 and record.metrics.get("top1") is None and record.latency is None
    assert "is not a number" in record.refused["top1"]


def test_a_model_that_raises_for_some_samples_fails_those(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    folder = make_pictures(6)
    make_white(folder / "class1" / "0004.png")
    record = evaluate(make_model({"fail_above": 0.99}), make_dataset(folder), settings=settings)
    assert [failure.sample for failure in record.failures] == ["class1/0004.png"]
    assert "the fake model fails" in record.failures[0].reason


def test_a_sample_that_kills_the_worker_is_found_out_and_the_rest_is_answered(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    folder = make_pictures(12)
    make_white(folder / "class1" / "0004.png")
    record = evaluate(make_model({"die_above": 0.99}), make_dataset(folder), settings=settings)
    assert record.failed == 1
    assert record.failures[0].sample == "class1/0004.png"
    assert "killed by SIGKILL" in record.failures[0].reason


def test_a_model_that_always_dies_is_an_error_and_leaves_no_record(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    with pytest.raises(WorkerError, match="killed by SIGKILL"):
        evaluate(make_model({"die_above": -100}), make_dataset(make_pictures()), settings=settings)
    assert Store(settings).list() == []


def test_after_workers_that_died_while_a_model_was_opened_the_next_run_is_whole(
    settings: Settings,
    make_model: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, opened = (make_model(), make_dataset(make_pictures(12))), []

    def dying(site: Site, plan: Plan) -> Worker:
        opened.append(plan)
        if len(opened) <= 3:
            raise WorkerDied("the worker was killed by SIGKILL")
        return Worker(site, plan)

    monkeypatch.setattr(evaluation, "Worker", dying)
    with pytest.raises(WorkerDied):
        evaluate(*asked, settings=settings)
    assert len(opened) == 3 and Store(settings).list() == []
    assert not [*(settings.home / "records").glob("*")]  # no folder, no journal
    record = evaluate(*asked, settings=settings)
    assert (record.samples, record.failed, record.attempts) == (12, 0, 1)


def make_white(path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (10, 10), (255, 255, 255)).save(path)


class StopAfter(Watcher):
    """Ends the evaluation after some samples, as Ctrl-C would."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.resumed_at: int | None = None

    def answered(self, done: int, total: int, failed: int) -> None:
        if done >= self.count:
            raise KeyboardInterrupt

    def resuming(self, record: Record, done: int, total: int) -> None:
        self.resumed_at = done


def test_an_interrupted_evaluation_goes_on_where_it_stopped(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures(20))
    whole = evaluate(model, dataset, settings=settings)
    elsewhere = Settings(settings.home.parent / "other", settings.cache)
    with pytest.raises(KeyboardInterrupt):
        evaluate(model, dataset, settings=elsewhere, watcher=StopAfter(7))
    watcher = StopAfter(1000)
    resumed = evaluate(model, dataset, settings=elsewhere, watcher=watcher)
    assert watcher.resumed_at == 7 and resumed.attempts == 2
    assert samples(elsewhere, resumed) == samples(settings, whole)
    assert resumed.metrics == whole.metrics


KILLED = """
import os, signal, sys
from pathlib import Path
from mlmodelscope import Settings, evaluate, load_manifest
from mlmodelscope.watcher import Watcher
from mlmodelscope.record import journal

class Killer(Watcher):
    def answered(self, done, total, failed):
        if done == int(sys.argv[4]):
            os.kill(os.getpid(), signal.SIGKILL)

place = Path(sys.argv[1])
settings = Settings(Path(sys.argv[2]), Path(sys.argv[3]))
evaluate(place / "model.yml", place / "data.yml", settings=settings, watcher=Killer())
"""


@pytest.mark.parametrize("moment", [1, 9, 20])
def test_after_kill_9_the_same_command_gives_the_same_bytes(
    settings: Settings,
    make_model: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    tmp_path: Path,
    moment: int,
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures(20))
    whole = evaluate(model, dataset, settings=settings)
    (tmp_path / "model.yml").write_text(
        model.model_dump_json(exclude_none=True, exclude={"inputs", "outputs"})[:-1] + STEPS
    )
    (tmp_path / "data.yml").write_text(dataset.model_dump_json(exclude_none=True))
    home = tmp_path / "killed"
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(home), str(settings.cache), str(moment)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    elsewhere = Settings(home, settings.cache)
    resumed = evaluate(tmp_path / "model.yml", tmp_path / "data.yml", settings=elsewhere)
    assert resumed.plan_digest == whole.plan_digest and resumed.attempts == 2
    assert samples(elsewhere, resumed) == samples(settings, whole)


STEPS = """, "inputs": [{"type": "image", "processing": {"decode": {}, "resize": {"dimensions": [8, 8]}, "mean": 127.5,
"rescale": 127.5, "layout": "NCHW"}}], "outputs": [{"type": "logits", "processing": ["softmax"]}]}"""


def test_two_processes_with_the_same_plan_make_one_record(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, tmp_path: Path
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures(30))
    (tmp_path / "model.yml").write_text(
        model.model_dump_json(exclude_none=True, exclude={"inputs", "outputs"})[:-1] + STEPS
    )
    (tmp_path / "data.yml").write_text(dataset.model_dump_json(exclude_none=True))
    place = [str(tmp_path), str(settings.home), str(settings.cache), "-1"]
    running = [subprocess.Popen([sys.executable, "-c", KILLED, *place]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(Store(settings).list()) == 1


def test_a_crash_between_the_last_batch_and_the_record_loses_nothing(
    settings: Settings,
    make_model: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures())

    def crash(self: Journal) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "sync", crash)
        with pytest.raises(KeyboardInterrupt):
            evaluate(model, dataset, settings=settings)
    record = evaluate(model, dataset, settings=settings)
    assert record.status == "finished" and record.samples == 12 and record.attempts == 2


def test_a_known_record_names_files_where_they_lie_now(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, tmp_path: Path
) -> None:
    pictures, elsewhere = make_pictures(), tmp_path / "moved"
    first = evaluate(make_model(), make_dataset(pictures), settings=settings)
    pictures.rename(elsewhere)
    again = evaluate(make_model(), make_dataset(elsewhere), settings=settings)
    assert again.id == first.id and again.plan_digest == first.plan_digest
    assert again.plan.dataset.sources[0].files.url == str(elsewhere)


def test_no_worker_is_left_behind(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    before = workers_of_this_process()
    with pytest.raises(KeyboardInterrupt):
        evaluate(make_model(), make_dataset(make_pictures()), settings=settings, watcher=StopAfter(3))
    assert not workers_of_this_process() - before


def workers_of_this_process() -> set[int]:
    """Their numbers, so that those of other tests' servers can be told apart."""
    return {pid for pid, command in children_of(os.getpid()).items() if "mlmodelscope_worker" in command}


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        ({"shape": [None, 3, 16, 16]}, r"takes the shape \[\?, 3, 16, 16\], the tensor has \[1, 3, 8, 8\]"),
        ({"shape": [None, 8, 8, 3]}, "end the processing with `layout: NHWC`"),
        ({"element_type": "uint8"}, "takes uint8, the manifest says float32"),
    ],
)
def test_a_model_that_is_not_what_the_manifest_says_is_refused(
    settings: Settings,
    make_model: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    fake: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(WorkerError, match=message):
        evaluate(make_model(fake), make_dataset(make_pictures()), settings=settings)


def test_a_missing_model_file_is_named(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, tmp_path: Path
) -> None:
    model = make_model(source={"graph_path": str(tmp_path / "none.onnx")})
    with pytest.raises(ArtifactError, match=r"there is no file .*none.onnx"):
        evaluate(model, make_dataset(make_pictures()), settings=settings)


def test_a_wrong_checksum_is_refused(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, tmp_path: Path
) -> None:
    (tmp_path / "net.json").write_text("{}")
    model = make_model(source={"graph_path": str(tmp_path / "net.json"), "graph_checksum": "sha256:" + "0" * 64})
    with pytest.raises(ArtifactError, match="wrong sha256 checksum"):
        evaluate(model, make_dataset(make_pictures()), settings=settings)


def test_a_model_for_another_framework_is_refused_before_anything_runs(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    with pytest.raises(PlanError, match="no predictor for the framework Darknet"):
        evaluate(make_model(framework={"name": "Darknet"}), make_dataset(make_pictures()), settings=settings)


def test_scores_that_claim_to_be_probabilities_and_are_not_are_noted(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    model = make_model(outputs=[{"type": "probability"}])
    record = evaluate(model, make_dataset(make_pictures()), settings=settings)
    assert any("do not sum to 1" in note for note in record.notes)


def test_logits_have_no_calibration_and_the_record_says_why(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    record = evaluate(make_model(outputs=[{"type": "logits"}]), make_dataset(make_pictures()), settings=settings)
    assert record.details.get("calibration") is None and "softmax" in record.refused["calibration"]


def test_top_5_is_refused_when_fewer_answers_were_kept(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), Options(top_k=2), settings=settings)
    assert record.metrics.get("top5") is None and record.refused["top5"] == "only the 2 best answers were kept"


def test_class_names_follow_the_label_offset(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, tmp_path: Path
) -> None:
    (tmp_path / "names.txt").write_text("background\n" + "\n".join(f"name{n}" for n in range(9)))
    model = make_model(outputs=[{"type": "logits", "label_offset": 1, "features_url": str(tmp_path / "names.txt")}])
    record = evaluate(model, make_dataset(make_pictures()), settings=settings)
    assert record.class_names[0] == "name0"
    rows = Store(settings).samples(record).to_pylist()
    assert min(min(row["classes"]) for row in rows) >= -1


def test_predict_answers_for_files_and_names_what_failed(
    settings: Settings, make_model: Make, make_pictures: MakePictures, tmp_path: Path
) -> None:
    picture = make_pictures(1) / "class0" / "0000.png"
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    good, bad = predict(make_model(), [picture, tmp_path / "broken.jpg"], settings=settings)
    assert len(good.classes) == 5 and good.error is None
    assert bad.error and not bad.classes


@pytest.mark.parametrize(
    ("count", "offset", "good"), [(10, 0, True), (9, 1, True), (10, 1, True), (9, 0, False), (8, 1, False)]
)
def test_a_label_file_must_fit_the_outputs(
    settings: Settings,
    make_model: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    tmp_path: Path,
    count: int,
    offset: int,
    good: bool,
) -> None:
    (tmp_path / "names.txt").write_text("\n".join(f"name{n}" for n in range(count)))
    output = {"type": "logits", "label_offset": offset, "features_url": str(tmp_path / "names.txt")}
    model, dataset = make_model(outputs=[output]), make_dataset(make_pictures(3))
    if good:
        assert len(evaluate(model, dataset, settings=settings).class_names) == 10 - offset
    else:
        with pytest.raises(PlanError, match=f"has 10 outputs, but its features_url names {count} classes"):
            evaluate(model, dataset, settings=settings)


def test_a_label_beyond_the_outputs_names_the_sample(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    dataset = make_dataset(make_pictures(12, classes=11))
    with pytest.raises(DatasetError, match="has the class 10, but toy has 10 outputs"):
        evaluate(make_model(), dataset, settings=settings)


def test_an_interrupted_evaluation_is_listed_as_such_and_goes_on_after_its_files_moved(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    model, folder = make_model(), make_pictures(20)
    with pytest.raises(KeyboardInterrupt):
        evaluate(model, make_dataset(folder), settings=settings, watcher=StopAfter(7))
    assert Store(settings).list()[0]["status"] == "interrupted"
    moved = folder.rename(folder.with_name("elsewhere"))
    record = evaluate(model, make_dataset(moved), settings=settings)
    assert record.attempts == 2 and record.samples == 20


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"softwear": "x"},
            r"unknown keyword argument `softwear`; known: again, hardware, .*did you mean `software`\?",
        ),
        ({"agian": True}, r"`agian`.*did you mean `again`\?"),
        ({"batch_size": 8}, r"`batch_size`.*one of the options: Options\(batch_size=…\)"),
        ({"zzz": 1}, "`zzz`; known: .*the options are batch_size, .*top_k"),
    ],
)
def test_a_keyword_that_is_not_known_is_refused(make_model: Make, given: dict, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        evaluate(make_model(), "nothing of this name", **given)


def test_a_prediction_refuses_such_a_keyword_too(make_model: Make) -> None:
    with pytest.raises(TypeError, match="`batchsize`.*did you mean `batch_size`"):
        predict(make_model(), ["x.png"], batchsize=1)
