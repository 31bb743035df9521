"""Rows of tables through steps, as a manifest writes them."""

from typing import Any

import numpy as np

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.row import Row, read_row


def run(cells: dict[str, Any], *steps: tuple[str, Any]) -> Row:
    """One row through steps."""
    resolved = [{"name": name, "parameters": STEPS[name].resolve(given)} for name, given in steps]
    return Pipeline(resolved)(read_row({"cells": cells}))  # type: ignore[no-any-return]


def rows_of(table: np.ndarray, names: list[str]) -> list[dict[str, Any]]:
    """Rows of an array as the host sends them; NaN is a cell without content."""
    return [
        {name: None if value is None or value != value else value for name, value in zip(names, row, strict=True)}
        for row in table.tolist()
    ]


def through(table: np.ndarray, names: list[str], *steps: tuple[str, Any]) -> np.ndarray:
    """All rows of an array through the same steps."""
    return np.stack([run(row, *steps).array for row in rows_of(table, names)])


def by_name(names: list[str], values: Any) -> dict[str, Any]:
    return dict(zip(names, np.asarray(values).tolist(), strict=True))
