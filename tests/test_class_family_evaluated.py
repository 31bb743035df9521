"""Classifiers of any kind of sample, from manifests to a record."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings
from mlmodelscope.errors import MetricError
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.replicate.replication import judge_record
from mlmodelscope.replicate.sensitivity import measure
from mlmodelscope.task.class_answer import CLASS_TASKS
from test_tasks_evaluated import evaluated, write_pictures

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("task", CLASS_TASKS[1:])
def test_every_task_of_the_family_is_evaluated_as_classification_is(
    tmp_path: Path, settings: Settings, few_calls: None, task: str
) -> None:
    names = write_pictures(tmp_path / "seen", 3)
    (tmp_path / "labels.csv").write_text(
        "file,label\n" + "".join(f"{each},{at % 2}\n" for at, each in enumerate(names))
    )
    claims = [{"metric": name, "value": "50", "dataset": "seen"} for name in ("class-f1", "mcc", "roc-auc")]
    outputs = [{"type": "logits", "processing": {"softmax": None}}]
    model: dict[str, Any] = {"task": task, "outputs": outputs, "claims": claims}
    dataset = {"format": "list", "sources": [{"url": "seen", "labels_url": "labels.csv"}]}
    record = evaluated(tmp_path, settings, model, dataset, {"y": [[1.0, 2.0]]})
    assert record.failed == 0 and record.metrics["top1"].value == pytest.approx(1 / 3)
    assert record.metrics["class-f1"].value == 0.5 and record.metrics["mcc"].value == 0.0
    assert record.metrics["roc-auc"].value == 0.5 and "top5" in record.metrics


def test_a_claim_that_cannot_be_checked_does_not_keep_others_from_it(
    tmp_path: Path, settings: Settings, few_calls: None
) -> None:
    names = write_pictures(tmp_path / "seen", 3)
    (tmp_path / "labels.csv").write_text("file,label\n" + "".join(f"{each},1\n" for each in names))
    claims = [{"metric": name, "value": "100", "dataset": "seen"} for name in ("roc-auc", "top1")]
    outputs = [{"type": "logits", "processing": {"softmax": None}}]
    model: dict[str, Any] = {"task": "text_classification", "outputs": outputs, "claims": claims}
    dataset = {"format": "list", "sources": [{"url": "seen", "labels_url": "labels.csv"}]}
    record = evaluated(tmp_path, settings, model, dataset, {"y": [[1.0, 2.0]]})
    assert "every label is the class 1" in record.refused["roc-auc"]
    verdicts, unchecked, _ = judge_record(record, None, None, None, settings)
    assert [each.claim.metric for each in verdicts] == ["top1"] and "every label is the class 1" in unchecked[0]
    with pytest.raises(MetricError, match="every label is the class 1"):
        judge_record(record, parse_claim("roc-auc=100@seen"), None, None, settings)
    found = measure(record, settings, ["label-offset"])
    assert [each.name for each in found.measures] == ["top1", "top5"]
