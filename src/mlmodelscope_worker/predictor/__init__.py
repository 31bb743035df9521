"""Frameworks behind one interface. Importing this package registers them; a framework is imported when it is opened."""

from . import (  # noqa: F401  (registering is the point)
    caffe,
    caffe2,
    cntk,
    fake,
    jax,
    mxnet,
    ncnn,
    onnxruntime,
    opencv,
    openvino,
    pytorch,
    remote,
    sklearn,
    tensorflow,
    tensorrt,
    tflite,
    xgboost,
)
from .predictor import PREDICTORS, Layer, Lost, ModelError, NotSupported, Predictor, Profile, Tensor, predictor

__all__ = ["PREDICTORS", "Layer", "Lost", "ModelError", "NotSupported", "Predictor", "Profile", "Tensor", "predictor"]
