"""Tables that scikit-learn ships, as files, and linear models of them, as ONNX graphs."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from mlmodelscope.manifest.load import load_manifest

SLOPE, INTERCEPT = 938.2378612513521, 152.91886182616113
"""Of the diabetes data's body-mass index, fitted to the first 422 rows (../shared/TASK_DATA.md, section 11)."""


def write_table(path: Path, names: Sequence[str], rows: Any) -> Path:
    """A CSV file with every digit; None is an empty cell."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(names)
        lines.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return path


def write_linear(path: Path, weights: Any, bias: Any, softmax: bool = False, double: bool = True) -> Path:
    """`features` times weights, plus a bias: a regression, or with `softmax` a classifier."""
    kind, number = (TensorProto.DOUBLE, np.float64) if double else (TensorProto.FLOAT, np.float32)
    matrix = np.asarray(weights, number)
    matrix = matrix.reshape(matrix.shape[0], -1)
    nodes = [
        helper.make_node("MatMul", ["features", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["sums" if softmax else "answer"]),
    ]
    nodes += [helper.make_node("Softmax", ["sums"], ["answer"], axis=1)] if softmax else []
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info("features", kind, ["n", matrix.shape[0]])],
        [helper.make_tensor_value_info("answer", kind, ["n", matrix.shape[1]])],
        [
            numpy_helper.from_array(matrix, "weights"),
            numpy_helper.from_array(np.asarray(bias, number).reshape(-1), "bias"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    path.write_bytes(model.SerializeToString())
    return path


def model_of(graph: Path, steps: list[Any], task: str = "tabular_regression", **more: Any) -> Any:
    """The manifest of a linear model."""
    element_type = more.pop("element_type", "float64")
    data = {
        "name": graph.stem,
        "version": "1.0.0",
        "task": task,
        "framework": {"name": "onnxruntime", "version": ">=1.0"},
        "inputs": [{"type": "columns", "element_type": element_type, "processing": steps}],
        "outputs": [{"type": "tensor" if "regression" in task else "probability", "element_type": element_type}],
        "source": {"graph_path": str(graph)},
        **more,
    }
    return load_manifest(data)


def dataset_of(
    table: Path, features: Any, target: str, size: int, task: str = "tabular_regression", **more: Any
) -> Any:
    """The manifest of a table."""
    data = {
        "name": table.stem,
        "version": "1.0.0",
        "task": task,
        "format": "table",
        "columns": {"features": features, "target": target},
        "sources": [{"url": str(table)}],
        "size": size,
        **more,
    }
    return load_manifest(data)


def diabetes_bed(folder: Path) -> tuple[list[Any], Any, Any]:
    """(right steps, a function of steps that gives a model, dataset): all columns of the diabetes data, fitted to 300.

    Every tenth cell of two columns is missing, sex is a word, and the age is one of four groups.
    """
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression

    raw = load_diabetes(scaled=False)
    names = list(raw.feature_names)
    table = raw.data.copy()
    random = np.random.default_rng(0)
    for name in ("bmi", "s5"):
        table[random.random(len(table)) < 0.1, names.index(name)] = np.nan
    groups = ["young", "grown", "middle", "elder"]
    age = np.digitize(table[:, 0], np.quantile(table[:300, 0], [0.25, 0.5, 0.75]))
    rows = table.tolist()
    for row, group in zip(rows, age, strict=True):
        row[0], row[1] = groups[group], {1.0: "woman", 2.0: "man"}[row[1]]
    means = {name: float(np.nanmean(table[:300, names.index(name)])) for name in ("bmi", "s5")}
    order = ["bmi", "s5", "bp", "sex", "age", "s1", "s2", "s3", "s4", "s6"]
    table[:, 0] = age
    table[:, 1] -= 1
    for name, value in means.items():
        column = table[:, names.index(name)]
        column[np.isnan(column)] = value
    mean, std = (dict(zip(names, each.tolist(), strict=True)) for each in (table[:300].mean(0), table[:300].std(0)))
    steps = [
        {"encode": {"categories": {"age": groups, "sex": ["woman", "man"]}}},
        {"fill_missing": {"values": means}},
        {"scale_columns": {"mean": mean, "std": std}},
        {"columns": order},
    ]
    scaled = (table - table[:300].mean(0)) / table[:300].std(0)
    taken = scaled[:, [names.index(name) for name in order]]
    fitted = LinearRegression().fit(taken[:300], raw.target[:300])
    graph = write_linear(folder / "progression.onnx", fitted.coef_, fitted.intercept_)
    cells = [
        [None if cell != cell else cell for cell in row] + [target]
        for row, target in zip(rows[300:], raw.target[300:].tolist(), strict=True)
    ]
    dataset = dataset_of(write_table(folder / "diabetes.csv", [*names, "progression"], cells), "*", "progression", 142)
    return steps, lambda steps: model_of(graph, steps), dataset


def classifier_bed(folder: Path, name: str) -> tuple[list[Any], Any, Any]:
    """The same of a classifier: `wine` or `breast_cancer`, fitted to every other row, measured on the rest."""
    from sklearn import datasets
    from sklearn.linear_model import LogisticRegression

    raw = getattr(datasets, f"load_{name}")()
    names = [str(each).replace(" ", "_").replace("/", "_") for each in raw.feature_names]
    half = raw.data[::2]
    scaled = (raw.data - half.mean(0)) / half.std(0)
    fitted = LogisticRegression(max_iter=1000).fit(scaled[::2], raw.target[::2])
    weights, bias = fitted.coef_.T, fitted.intercept_
    if len(fitted.classes_) == 2:  # a softmax of two is a sigmoid of their distance
        weights, bias = np.concatenate([-weights, weights], 1) / 2, np.concatenate([-bias, bias]) / 2
    graph = write_linear(folder / f"{name}.onnx", weights, bias, softmax=True)
    rows = [[*row, int(label)] for row, label in zip(raw.data[1::2].tolist(), raw.target[1::2], strict=True)]
    table = write_table(folder / f"{name}.csv", [*names, "label"], rows)
    mean, std = (dict(zip(names, each.tolist(), strict=True)) for each in (half.mean(0), half.std(0)))
    steps = [{"scale_columns": {"mean": mean, "std": std}}, {"columns": names}]
    dataset = dataset_of(table, "*", "label", len(rows), "classification")
    return steps, lambda steps: model_of(graph, steps, "classification"), dataset
