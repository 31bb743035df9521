"""Frameworks behind one interface. Importing this package registers them; a framework is imported when it is opened."""

from . import fake, onnxruntime  # noqa: F401  (registering is the point)
from .predictor import PREDICTORS, Layer, ModelError, NotSupported, Predictor, Tensor, predictor

__all__ = ["PREDICTORS", "Layer", "ModelError", "NotSupported", "Predictor", "Tensor", "predictor"]
