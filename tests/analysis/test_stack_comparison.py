"""One model in several stacks: one table, and the library that moved the result."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Settings, Store, evaluate
from mlmodelscope.analysis.stack_comparison import compare_stacks
from mlmodelscope.record.record import Record

MODEL = """
name: brightness
version: 1.0.0
task: classification
inputs: [{type: image}]
outputs: [{type: classes}]
preprocess:
  gets: sample
  code: |
    def preprocess(ctx, data):
        import numpy as np
        return np.asarray([len(data)], np.float32)
run: |
  def run(ctx, data):
      return data[0]
postprocess: |
  def postprocess(ctx, data):
      return [0 for _ in data]
"""


@pytest.fixture
def record(settings: Settings, make_dataset: Callable, make_pictures: Callable, tmp_path: Path) -> Record:
    model = tmp_path / "model.yml"
    model.write_text(MODEL)
    return evaluate(model, make_dataset(make_pictures(count=6)), trust=True, settings=settings)


def in_stack(record: Record, name: str, **packages: str) -> Record:
    stack = record.plan.stack.model_copy(update={"name": name, "packages": packages})
    return record.model_copy(update={"plan": record.plan.model_copy(update={"stack": stack})})


def test_a_package_that_alone_is_another_is_named(record: Record, settings: Settings) -> None:
    stacks = [
        in_stack(record, "old", pillow="9.5.0", numpy="1.26"),
        in_stack(record, "new", pillow="10.4.0", numpy="1.26"),
    ]
    rows, causes = compare_stacks(stacks, Store(settings))
    assert [row.stack for row in rows] == ["old", "new"] and rows[1].same_scores == rows[1].samples == 6
    assert [cause.sentence for cause in causes] == ["pillow 9.5.0 → 10.4.0 changed nothing"]


def test_where_two_packages_changed_together_none_is_blamed(record: Record, settings: Settings) -> None:
    stacks = [
        in_stack(record, "old", pillow="9.5.0", numpy="1.26"),
        in_stack(record, "new", pillow="10.4.0", numpy="2.0"),
    ]
    _, causes = compare_stacks(stacks, Store(settings))
    assert causes == []
