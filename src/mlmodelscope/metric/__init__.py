"""Metrics. Importing this package registers every built-in one."""

from mlmodelscope.metric import accuracy, calibration  # noqa: F401  (registering is the point)
from mlmodelscope.metric.metric import METRICS, Metric

__all__ = ["METRICS", "Metric"]
