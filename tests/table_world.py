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
