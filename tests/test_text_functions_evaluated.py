"""A manifest's own functions on texts, from the dataset to the verdict."""

import json
from pathlib import Path

import pytest

from mlmodelscope import Settings, load_manifest
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.claim import Claim
from mlmodelscope.prediction import predict
from mlmodelscope.replicate.describe import describe_verdict
from mlmodelscope.replicate.replication import Replication, replicate

pytestmark = pytest.mark.usefixtures("few_calls")
DOCUMENTS = {
    "devset/a": ("Rome saw Bob", "1 loc_name 0 4\n2 name 9 3\n", "10 Location 1\n11 Person 2\n"),
    "testset/b": ("Ann saw Rome", "1 loc_name 8 4\n2 name 0 3\n", "10 Location 1\n11 Person 2\n"),
    "testset/c": ("Now Ann", "1 name 4 3\n", "10 Person 1\n"),
}
MODEL = """
name: finder
version: 1.0.0
task: token_classification
files: {names: {url: NAMES}}
setup: |
  import json, re
run: |
  def run(ctx, data):
      with open(ctx["files"]["names"]) as file:
          names = json.load(file)
      found = [[word for word in re.finditer("[a-zA-Z]+", text)] for text in data["data"]]
      return [(words, [word for word in words if word.group() in names], names) for words in found]
postprocess: |
  def postprocess(ctx, data):
      return [
          {
              "spans": [[word.start(), word.end(), names[word.group()]] for word in found],
              "tokens": [[word.start(), word.end()] for word in words],
          }
          for words, found, names in data
      ]
claims:
  - {metric: "token-f1:PER", value: 80.0, dataset: news, split: all}
"""
PREPARED = """inputs: [{type: text}]
preprocess: |
  def preprocess(ctx, data):
      return data
run: |"""


def replicated(folder: Path, split: str, settings: Settings, claim: Claim | None = None) -> Replication:
    for name, contents in DOCUMENTS.items():
        (folder / "news" / name).parent.mkdir(parents=True, exist_ok=True)
        for ending, content in zip(("txt", "spans", "objects"), contents, strict=True):
            (folder / "news" / f"{name}.{ending}").write_text(content)
    (folder / "names.json").write_text(json.dumps({"Rome": "LOC", "Ann": "PER"}))
    (folder / "model.yml").write_text(MODEL.replace("NAMES", str(folder / "names.json")))
    dataset = load_manifest(
        {
            "name": "news",
            "version": "1.0.0",
            "task": "token_classification",
            "format": "factrueval",
            "sources": [{"url": str(folder / "news")}],
            "splits": {"all": {"size": 3}, "testset": {"size": 2}},
        }
    )
    assert isinstance(dataset, DatasetManifest)
    chosen = dataset.for_split(split)
    return replicate(folder / "model.yml", chosen, claim=claim, settings=settings, trust=True)


def test_functions_get_texts_and_answer_with_spans_and_their_tokens(tmp_path: Path, settings: Settings) -> None:
    done = replicated(tmp_path, "all", settings)
    assert done.verdict.kind == "reproduced" and done.record.failed == 0
    assert done.record.metrics["token-f1:PER"].value == pytest.approx(4 / 5)
    assert done.record.details["tokens"] == "those of the answers"


def test_a_claim_about_the_whole_is_not_decided_on_one_split(tmp_path: Path, settings: Settings) -> None:
    done = replicated(tmp_path, "testset", settings, Claim("token-f1:PER", "80.0", "news:all"))
    assert done.verdict.kind == "undecided" and done.verdict.stand_in == "news:testset"
    assert "The claim is about news:all, and news:testset was measured" in describe_verdict(done.verdict)
    assert done.record.metrics["token-f1:PER"].value == 1.0
    own = replicated(tmp_path, "testset", settings, Claim("token-f1:PER", "100.0", "news:testset"))
    assert own.verdict.kind == "reproduced"


def test_functions_can_be_asked_about_a_text(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "names.json").write_text(json.dumps({"Rome": "LOC"}))
    text = MODEL.replace("NAMES", str(tmp_path / "names.json")).replace("run: |", PREPARED)
    (tmp_path / "model.yml").write_text(text)
    (answer,) = predict(tmp_path / "model.yml", ["Off to Rome"], settings=settings, trust=True)
    assert answer.error is None and answer.answer is not None
    assert json.loads(answer.answer) == [{"start": 7, "end": 11, "type": "LOC", "score": None}]
