"""Predictors, which run inside stacks."""

from __future__ import annotations

from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker import predictor
from mlmodelscope_worker.predictor.predictor import PredictorDeclaration

PREDICTORS: Registry[PredictorDeclaration] = Registry(
    "predictor",
    "predictors",
    predictor.PREDICTORS,
    PredictorDeclaration,
    PredictorDeclaration.code,
    built_in={name: f"{predictor.__name__}.{name}" for name in predictor.OURS},
    names="[a-z][a-z0-9]*",  # manifests spell frameworks with or without capitals, spaces and dashes
    travels=True,
)
