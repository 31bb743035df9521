"""Training tasks: the same sentence as an evaluation, with a model artifact and a metric curve at its end."""

from mlmodelscope.training.early_stop import EarlyStop, Judge, interpolate, smaller_is_better
from mlmodelscope.training.export import check_exportable, export_trained
from mlmodelscope.training.run import train

__all__ = [
    "EarlyStop",
    "Judge",
    "check_exportable",
    "export_trained",
    "interpolate",
    "smaller_is_better",
    "train",
]
