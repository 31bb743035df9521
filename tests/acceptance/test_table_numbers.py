"""Models of tables to the digit that is known, by manifests alone (../shared/TASK_DATA.md, section 11)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import table_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import PlanError

datasets = pytest.importorskip("sklearn.datasets")
pytestmark = pytest.mark.usefixtures("few_calls")
LAST = 20


def diabetes(folder: Path) -> tuple[Any, Any]:
    """(model, dataset): body-mass index as it was measured, brought to scikit-learn's scale by a step."""
    raw = datasets.load_diabetes(scaled=False)
    names = list(raw.feature_names)
    rows = [[*row, target] for row, target in zip(raw.data.tolist(), raw.target.tolist(), strict=True)]
    table = table_world.write_table(folder / "diabetes.csv", [*names, "progression"], rows[-LAST:])
    bmi = raw.data[:, names.index("bmi")]
    # scikit-learn ships columns whose squares sum to 1.
    scale = {"scale_columns": {"mean": {"bmi": bmi.mean()}, "std": {"bmi": bmi.std() * len(bmi) ** 0.5}}}
    graph = table_world.write_linear(folder / "bmi.onnx", [table_world.SLOPE], [table_world.INTERCEPT])
    return (
        table_world.model_of(graph, [scale, {"columns": ["bmi"]}]),
        table_world.dataset_of(table, "*", "progression", LAST),
    )


@pytest.mark.parametrize("batch_size", [1, 7])
def test_regression_of_the_diabetes_data_is_the_published_one(
    tmp_path: Path, settings: Settings, batch_size: int
) -> None:
    model, dataset = diabetes(tmp_path)
    record = evaluate(model, dataset, Options(batch_size=batch_size, timed_runs=2), settings=settings)
    found = {name: record.metrics[name].value for name in ("mse", "r2", "rmse", "mae")}
    assert record.failed == 0
    assert found["mse"] == pytest.approx(2548.07239872597, rel=1e-12)
    assert found["r2"] == pytest.approx(0.47257544798227147, rel=1e-12)
    assert found["rmse"] == pytest.approx(50.478434986892864, rel=1e-12)
    assert found["mae"] == pytest.approx(41.22709128976145, rel=1e-12)


def test_columns_must_have_an_order(tmp_path: Path, settings: Settings) -> None:
    model, dataset = diabetes(tmp_path)
    inputs = (model.inputs[0].model_copy(update={"processing": model.inputs[0].processing[:1]}),)
    with pytest.raises(PlanError, match="no step makes numbers of what `scale_columns` makes") as raised:
        evaluate(model.model_copy(update={"inputs": inputs}), dataset, settings=settings)
    assert "`columns` chooses which cells of a row are fed, in which order" in str(raised.value.hint)


def test_a_converted_pipeline_is_the_same_as_steps(tmp_path: Path, settings: Settings) -> None:
    """scikit-learn's own scaler and classifier, by skl2onnx; and the same with the scaler as a step."""
    convert = pytest.importorskip("skl2onnx")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    raw = datasets.load_breast_cancer()
    names = [name.replace(" ", "_") for name in raw.feature_names]
    rows = [[*row, int(label)] for row, label in zip(raw.data.tolist(), raw.target, strict=True)]
    table = table_world.write_table(tmp_path / "cancer.csv", [*names, "label"], rows[400:])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(raw.data[:400], raw.target[:400])
    kind = convert.common.data_types.FloatTensorType([None, len(names)])
    made = convert.convert_sklearn(pipeline, initial_types=[("features", kind)], options={"zipmap": False})
    whole = tmp_path / "pipeline.onnx"
    whole.write_bytes(made.SerializeToString())
    scaler, classifier = pipeline.steps[0][1], pipeline.steps[1][1]
    # A softmax of two is a sigmoid of their distance.
    both = np.stack([-classifier.coef_[0], classifier.coef_[0]], 1) / 2
    bias = np.array([-classifier.intercept_[0], classifier.intercept_[0]]) / 2
    part = table_world.write_linear(tmp_path / "part.onnx", both, bias, softmax=True)
    numbers = {"mean": scaler.mean_, "std": scaler.scale_}
    scale = {"scale_columns": {key: dict(zip(names, each.tolist(), strict=True)) for key, each in numbers.items()}}
    dataset = table_world.dataset_of(table, "*", "label", len(rows) - 400, "classification")
    expected = (pipeline.predict(raw.data[400:]) == raw.target[400:]).mean()
    for graph, steps, element_type, layer in (
        (whole, [{"columns": names}], "float32", "probabilities"),
        (part, [{"columns": names}, scale], "float64", "answer"),
    ):
        output = {"type": "probability", "layer_name": layer, "element_type": element_type}
        model = table_world.model_of(graph, steps, "classification", element_type=element_type, outputs=[output])
        record = evaluate(model, dataset, Options(batch_size=16, timed_runs=2), settings=settings)
        assert record.failed == 0 and record.metrics["top1"].value == pytest.approx(expected, abs=1e-12)
