"""Frameworks behind one interface. A predictor is imported when it is asked for, its framework when it is opened."""

from .predictor import (
    OURS,
    PREDICTORS,
    Layer,
    Lost,
    ModelError,
    NotSupported,
    Predictor,
    Profile,
    Tensor,
    predictor,
)

__all__ = [
    "OURS",
    "PREDICTORS",
    "Layer",
    "Lost",
    "ModelError",
    "NotSupported",
    "Predictor",
    "Profile",
    "Tensor",
    "predictor",
]
