"""Models of tables from their files to numbers: the page's own example, broken rows, boosted trees."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import table_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.record.store import Store

PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
pytestmark = pytest.mark.usefixtures("few_calls")


def test_the_example_of_the_page_runs(tmp_path: Path, settings: Settings) -> None:
    text = PAGE.read_text()
    (tmp_path / "diabetes.csv").write_text(re.findall(r"```text\n(age.*?)```", text, re.DOTALL)[0])
    for name, body in re.findall(r"```yaml\n# (\S+\.yml)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(body)
    table_world.write_linear(tmp_path / "bmi.onnx", [table_world.SLOPE], [table_world.INTERCEPT])
    model: Any = load_manifest(tmp_path / "progression-by-bmi.yml")
    record = evaluate(model, load_manifest(tmp_path / "diabetes.yml"), Options(timed_runs=2), settings=settings)
    bmi = np.array([28.2, 24.9, 26.37579185520362, 30.0, 19.6])
    answers = (bmi - 26.37579185520362) / 92.78055277293126 * table_world.SLOPE + table_world.INTERCEPT
    expected = np.abs(answers - [178, 104, 132, 220, 57]).mean()
    assert record.failed == 0 and record.metrics["mae"].value == pytest.approx(expected, rel=1e-12)


def test_a_broken_row_fails_alone_and_says_which_column(tmp_path: Path, settings: Settings) -> None:
    rows = [[1, "2", "red", 5], [2, "x", "red", 5], ["", 3, "red", 5], [3, 4, "pink", 5]]
    dataset = table_world.dataset_of(
        table_world.write_table(tmp_path / "t.csv", ["a", "b", "c", "y"], rows), ["a", "b", "c"], "y", 4
    )
    steps = [{"to_numbers": ["b"]}, {"encode": {"categories": {"c": ["red"]}}}, {"columns": ["a", "b", "c"]}]
    model = table_world.model_of(table_world.write_linear(tmp_path / "m.onnx", [1, 2, 3], [0]), steps)
    record = evaluate(model, dataset, Options(batch_size=4, timed_runs=2), settings=settings)
    assert record.failed == 3 and record.metrics["mae"].value == 0
    said = " ".join(row["error"] or "" for row in Store(settings).samples(record).to_pylist())
    assert "column `a` is missing: `fill_missing` says what stands for it" in said
    assert "column `b` is the text 'x', which is not a number" in said
    assert "column `c` is the text 'pink', which is not one of its categories: red" in said


@pytest.mark.slow(reason="a framework of trees is imported twice, here and in the worker")
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_boosted_trees_take_missing_cells_as_they_are(tmp_path: Path, settings: Settings, name: str) -> None:
    framework = pytest.importorskip(name)
    random = np.random.default_rng(0)
    table = random.normal(0, 1, (120, 3))
    table[random.random((120, 3)) < 0.2] = np.nan
    target = np.nan_to_num(table[:, 0]) * 3 + np.isnan(table[:, 1])
    if name == "lightgbm":
        booster = framework.train({"verbosity": -1, "num_threads": 1}, framework.Dataset(table, target), 5)
        booster.save_model(str(tmp_path / "trees.txt"))
        answers, graph, element_type = booster.predict(table), tmp_path / "trees.txt", "float64"
    else:
        booster = framework.train({"nthread": 1}, framework.DMatrix(table, target), 5)
        booster.save_model(str(tmp_path / "trees.json"))
        answers, graph, element_type = booster.predict(framework.DMatrix(table)), tmp_path / "trees.json", "float32"
    rows = [
        [None if cell != cell else cell for cell in row] + [y] for row, y in zip(table.tolist(), target, strict=True)
    ]
    dataset = table_world.dataset_of(
        table_world.write_table(tmp_path / "t.csv", ["a", "b", "c", "y"], rows), "*", "y", 120
    )
    steps = [{"fill_missing": {"method": "nan"}}, {"columns": ["a", "b", "c"]}]
    output = [{"type": "tensor", "element_type": element_type}]
    model = table_world.model_of(
        graph, steps, element_type=element_type, framework={"name": name, "version": "*"}, outputs=output
    )
    record = evaluate(model, dataset, Options(batch_size=16, timed_runs=2), settings=settings)
    expected = np.abs(answers - target).mean()
    assert record.failed == 0 and record.metrics["mae"].value == pytest.approx(expected, rel=1e-5)
