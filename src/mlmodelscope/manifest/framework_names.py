"""What authors call a framework, and which predictor they mean."""

from __future__ import annotations

from mlmodelscope.manifest.schema.model import SERVERS

# Without case, spaces and dashes.
_FRAMEWORKS = {
    "onnx": "onnxruntime",
    "ort": "onnxruntime",
    "torch": "pytorch",
    "torchscript": "pytorch",
    "tf": "tensorflow",
    "keras": "tensorflow",
    "tensorflowlite": "tflite",
    "litert": "tflite",
    "llama.cpp": "llama_cpp",
    "llamacpp": "llama_cpp",
    "scikitlearn": "sklearn",
    "cv2": "opencv",
    "opencvdnn": "opencv",
    **dict.fromkeys(SERVERS, "remote"),
}


def predictor_name(framework: str) -> str:
    """The predictor's name for a framework, however an author spells it."""
    word = framework.lower().replace(" ", "").replace("-", "").replace("_", "")
    return _FRAMEWORKS.get(word, word)
