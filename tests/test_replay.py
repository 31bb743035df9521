"""A record becomes a reference log, the log is carried out again, and what differs is named."""

import csv
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Options, Record, Settings, Store, evaluate, load_manifest
from mlmodelscope.errors import ChecksumError, ManifestError, StoreError, UsageError
from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.record.log import expected_rows, options_of, read_outputs, write_log
from mlmodelscope.replay import replay
from mlmodelscope.training import train

Catalogue = Callable[..., Path]

CODE = """name: toy
version: 1.0.0
task: {task}
outputs: [{{type: logits}}]
hyperparameters: {{factor: 0.5, words: 'no'}}
preprocess: |
  def preprocess(ctx, data):
      return [int(open(p).read()) for p in data["data"]]
run: |
  def run(ctx, data):
      return data
postprocess: |
  def postprocess(ctx, data):
      return [{answer} for n in data]
"""
DATA = "name: numbers\nversion: 1.0.0\nformat: files\nsources: [{url: numbers}]\n"


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    """A user's own folder of manifests: a model that is code, and numbers in files."""
    folder = tmp_path / "manifests"
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(folder))

    def make(answer: str = "n", count: int = 5, task: str = "classification") -> Path:
        (folder / "numbers").mkdir(parents=True, exist_ok=True)
        for index in range(count):
            (folder / "numbers" / f"{index:03d}.txt").write_text(str(index))
        (folder / "toy.yml").write_text(CODE.format(task=task, answer=answer))
        (folder / "numbers.yml").write_text(DATA)
        return folder

    return make


def export(
    settings: Settings, destination: Path, options: Options | None = None, **more: Any
) -> tuple[Record, ReferenceLog]:
    record = evaluate("toy", "numbers", options, settings=settings, trust=True, **more)
    write_log(record, Store(settings), destination)
    log = load_manifest(destination)
    assert isinstance(log, ReferenceLog)
    return record, log


def test_a_log_says_all_that_matters_of_its_record(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue()
    options = Options(
        batch_size=2,
        top_k=3,
        seed=4,
        limit=4,
        warm_up_runs=1,
        timed_runs=7,
        timed_budget_s=0.5,
        hyperparameters={"factor": 0.25, "x": "é"},
    )
    record, log = export(settings, tmp_path / "a.log.yml", options)
    assert options_of(log) == Options(**{**vars(options), "hyperparameters": {"factor": 0.25, "words": "no", "x": "é"}})
    assert log.plan == record.plan_digest and log.samples == 4 and log.failed == 0 and log.job_type == "inference"
    assert log.manifests.model.digest == record.plan.manifests["model"].digest
    assert log.environment["machine"]["cpu"] == record.machine.cpu and "hostname" not in log.environment["machine"]
    assert log.performance["latency_p50_s"].unit == "s" and "numpy" in log.environment["packages"]


def test_a_few_samples_are_in_the_log_itself(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue("{'classes': [n, 7], 'scores': [0.1, 1 / 3]}")
    record, log = export(settings, tmp_path / "a.log.yml")
    assert log.outputs is not None and log.outputs.url is None
    assert list(log.outputs.rows) == list(expected_rows(record, Store(settings)))


def test_many_samples_are_in_a_table_beside_it(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue("{'classes': [n, 7], 'scores': [0.1, 1 / 3]}", count=101)
    record, log = export(settings, tmp_path / "größe.log.yml")
    table = tmp_path / "größe.log.outputs.csv"
    assert log.outputs is not None and log.outputs.rows == ()
    assert log.outputs.checksum == f"sha256:{hashlib.sha256(table.read_bytes()).hexdigest()}"
    assert list(read_outputs(log, table).values()) == list(expected_rows(record, Store(settings)))


ANSWERS = (
    "[{'text': 'a: [b]\\n  # no, \"really\"', 'n': n}, [], None, 0, 'null', '1.10', 0.1, {'e': 1e-30}, True, {}][n]"
)


@pytest.mark.parametrize("count", [10, 110])
def test_answers_of_every_kind_come_out_again(
    settings: Settings, catalogue: Catalogue, tmp_path: Path, count: int
) -> None:
    catalogue(ANSWERS.replace("[n]", "[n % 10]"), count=count, task="general")
    record, log = export(settings, tmp_path / "a.log.yml")
    table = tmp_path / "a.log.outputs.csv"
    found = list(read_outputs(log, table if table.exists() else None).values())
    assert [row.answer for row in found] == [row.answer for row in expected_rows(record, Store(settings))]
    again, differences = replay(tmp_path / "a.log.yml", settings=settings, trust=True)
    assert again.id == record.id and differences.is_same and differences.agreeing == count and not differences.items


def test_large_answers_go_into_the_table(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue("[n] * 200000", task="general")
    _, log = export(settings, tmp_path / "a.log.yml")
    assert log.outputs is not None and log.outputs.url is not None and (tmp_path / "a.log.yml").stat().st_size < 1 << 16
    assert replay(tmp_path / "a.log.yml", settings=settings, trust=True)[1].is_same


def test_a_failed_sample_is_expected_to_fail_again(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue("None if n == 2 else n")
    _, log = export(settings, tmp_path / "a.log.yml")
    assert log.failed == 1 and log.outputs is not None and log.outputs.rows[2].error == "postprocess: None is no class"
    record, differences = replay(tmp_path / "a.log.yml", settings=settings, trust=True, again=True)
    assert differences.is_same and record.failed == 1


def test_other_content_under_the_same_name_is_named(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue()
    export(settings, tmp_path / "a.log.yml")
    catalogue("n + (n == 3)")
    _, differences = replay(tmp_path / "a.log.yml", settings=settings, trust=True)
    assert not differences.is_same and (differences.agreeing, differences.compared) == (4, 5)
    named = {(item.aspect, item.name) for item in differences.items}
    assert named == {("model", "content"), ("plan", "digest"), ("sample", "003.txt")}


def test_a_comment_changes_nothing(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    folder = catalogue()
    export(settings, tmp_path / "a.log.yml")
    (folder / "toy.yml").write_text("# a comment\n" + (folder / "toy.yml").read_text())
    assert replay(tmp_path / "a.log.yml", settings=settings, trust=True)[1].items == ()


def test_one_aspect_can_be_varied(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    folder = catalogue()
    export(settings, tmp_path / "a.log.yml")
    other = (folder / "toy.yml").read_text().replace("name: toy", "name: rival").replace("[n for", "[1 for")
    (tmp_path / "rival.yml").write_text(other)
    record, differences = replay(tmp_path / "a.log.yml", model=tmp_path / "rival.yml", settings=settings, trust=True)
    assert record.plan.model.name == "rival" and differences.agreeing == 1
    assert ("model", "manifest", "toy@1.0.0", "rival@1.0.0") in [
        (each.aspect, each.name, each.expected, each.found) for each in differences.items
    ]


def test_a_manifest_that_is_gone_is_named_with_what_to_do(
    settings: Settings, catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = catalogue()
    export(settings, tmp_path / "a.log.yml")
    monkeypatch.delenv("MLMODELSCOPE_MANIFESTS")
    with pytest.raises(
        UsageError, match="toy-numbers@1.0.0 was made with the model toy@1.0.0, which is not here"
    ) as caught:
        replay(tmp_path / "a.log.yml", settings=settings, trust=True)
    assert caught.value.hint is not None and "--model FILE" in caught.value.hint
    with pytest.raises(UsageError, match="was made with the dataset numbers@1.0.0"):
        replay(tmp_path / "a.log.yml", model=folder / "toy.yml", settings=settings, trust=True)
    found = replay(
        tmp_path / "a.log.yml", model=folder / "toy.yml", dataset=folder / "numbers.yml", settings=settings, trust=True
    )
    assert found[1].is_same


def test_another_version_under_the_name_is_not_taken(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    folder = catalogue()
    export(settings, tmp_path / "a.log.yml")
    (folder / "toy.yml").write_text((folder / "toy.yml").read_text().replace("version: 1.0.0", "version: 1.1.0"))
    with pytest.raises(UsageError, match="no version of toy satisfies 1.0.0; there is 1.1.0"):
        replay(tmp_path / "a.log.yml", settings=settings, trust=True)


def test_a_changed_table_is_refused(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue(count=101)
    export(settings, tmp_path / "a.log.yml")
    table = tmp_path / "a.log.outputs.csv"
    table.write_text(table.read_text().replace(",3,", ",4,"))
    with pytest.raises(ChecksumError, match="a.log.outputs.csv"):
        replay(tmp_path / "a.log.yml", settings=settings, trust=True)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("sample,digest\na,b\n", "have no column 'classes'"),
        ("sample,digest,classes,scores,answer,error\na\n", "cannot be read"),
        ("sample,digest,classes,scores,answer,error\na,,x,,,\n", "cannot be read"),
        ("sample,digest,classes,scores,answer,error\na,,,,{,\n", "cannot be read"),
    ],
)
def test_a_table_that_is_none_is_named(
    settings: Settings, catalogue: Catalogue, tmp_path: Path, broken: str, reason: str
) -> None:
    catalogue(count=101)
    _, log = export(settings, tmp_path / "a.log.yml")
    (tmp_path / "broken.csv").write_text(broken)
    with pytest.raises(StoreError, match=reason):
        read_outputs(log, tmp_path / "broken.csv")


def test_a_table_can_be_read_by_others(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue(count=101)
    export(settings, tmp_path / "a.log.yml")
    with (tmp_path / "a.log.outputs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (
        len(rows) == 101 and rows[7]["sample"] == "007.txt" and rows[7]["classes"] == "7" and rows[7]["scores"] == "1"
    )


def test_a_log_that_could_not_be_read_again_is_not_written(
    settings: Settings, catalogue: Catalogue, tmp_path: Path
) -> None:
    catalogue()
    record, _ = export(settings, tmp_path / "a.log.yml")
    with pytest.raises(ManifestError, match="a name has letters"):
        write_log(record, Store(settings), tmp_path / "b.log.yml", "no name/at all")
    assert not (tmp_path / "b.log.yml").exists()
    with pytest.raises(StoreError, match="cannot write"):
        write_log(record, Store(settings), tmp_path / "nowhere" / "b.log.yml")


def test_options_of_a_later_release_are_named(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue()
    export(settings, tmp_path / "a.log.yml", Options(batch_size=2))
    text = (tmp_path / "a.log.yml").read_text()
    (tmp_path / "a.log.yml").write_text(
        re.sub(r"^( +)batch_size: 2", r"\1batch_size: 2\n\1lanes: 3", text, flags=re.MULTILINE)
    )
    with pytest.raises(UsageError, match="options that this release does not know: lanes"):
        replay(tmp_path / "a.log.yml", settings=settings, trust=True)


TRAINING = """name: learner
version: 1.0.0
task: general
job_type: training
hyperparameters: {rate: 0.001, layers: [8, 4], name: 'on'}
run: |
  def run(ctx, data):
      rate = ctx["hyperparameters"]["rate"]
      for step in (1, 2, 3, 4):
          ctx["report"](step / 4, **{"val/top1": step * rate})
      return {"val/top1": 4 * rate, "files": len(data["data"])}
"""


def test_a_training_is_replayed_with_its_hyper_parameters(
    settings: Settings, catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = catalogue()
    (folder / "learner.yml").write_text(TRAINING)
    chosen = Options(hyperparameters={"rate": 0.125}, seed=9)
    record = train("learner", "numbers", chosen, settings=settings, trust=True)
    write_log(record, Store(settings), tmp_path / "t.log.yml")
    log = load_manifest(tmp_path / "t.log.yml")
    assert isinstance(log, ReferenceLog) and log.job_type == "training" and log.outputs is None
    assert [point.metrics for point in log.curve] == [{"val/top1": step * 0.125} for step in (1, 2, 3, 4)]
    assert log.metrics["val-top1"].value == 0.5  # a name that manifests can have
    again, differences = replay(log, settings=settings, trust=True, again=True)
    assert again.plan_digest == record.plan_digest and differences.is_same and differences.items == ()
    (folder / "learner.yml").write_text(TRAINING.replace("4 * rate", "3 * rate"))
    _, changed = replay(log, settings=settings, trust=True)
    assert not changed.is_same and {item.aspect for item in changed.items} == {"model", "plan", "metric"}


def test_differences_can_be_told_to_programs(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> None:
    from dataclasses import asdict

    catalogue("{'a': [n, {'b': n}]}", task="general")
    export(settings, tmp_path / "a.log.yml")
    catalogue("{'a': [n, {'b': n + 1}]}", task="general")
    told = asdict(replay(tmp_path / "a.log.yml", settings=settings, trust=True)[1])
    (sample,) = [item for item in told["items"] if item["name"] == "003.txt"]
    assert json.loads(json.dumps(sample))["expected"] == {"a": [3, {"b": 3}]}
