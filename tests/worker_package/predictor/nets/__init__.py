"""One network in the files of every framework: `network` says what it is, each other module writes it down.

    python -m worker_package.predictor.nets FORM NETWORK.npz FOLDER

runs inside a framework's own stack, whatever its Python from 3.6 on, with `src` and `tests` on its path.
"""

from importlib import import_module
from pathlib import Path

from worker_package.predictor.nets.network import Files, Network

FORMS = {
    "onnx": ("onnx", "write"),
    "onnx-new": ("onnx", "write_new"),
    "tflite": ("tflite", "write"),
    "ncnn": ("ncnn", "write"),
    "caffe": ("caffe", "write"),
    "caffe2": ("caffe2", "write"),
    "mxnet": ("mxnet", "write"),
    "mxnet-inside": ("mxnet", "write_inside"),
    "cntk": ("cntk", "write"),
    "jax": ("jax", "write"),
    "openvino": ("openvino", "write"),
    "torchscript": ("pytorch", "write_script"),
    "pt2": ("pytorch", "write_program"),
    "frozen": ("tensorflow", "write_frozen"),
    "saved_model": ("tensorflow", "write_saved_model"),
    "keras": ("tensorflow", "write_keras"),
    "h5": ("tensorflow", "write_h5"),
    "tflite-converted": ("tensorflow", "write_tflite"),
}


def write(form: str, network: Network, folder: Path) -> Files:
    module, function = FORMS[form]
    files = getattr(import_module("%s.%s" % (__name__, module)), function)(network, folder)  # type: Files
    return files
