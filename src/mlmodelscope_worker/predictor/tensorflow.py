"""TensorFlow 1.12 to 2: frozen graphs, SavedModels and Keras files, all run by a Session.

A Session is there in every release, has thread pools of its own making and can be closed; numpy's memory goes in as it
is where it is aligned as TensorFlow likes it. TensorFlow calls models programs: those that reach for files or Python
are refused.
"""

import os

from ..parameters import Integer, Text
from .build import tells_build
from .device import Device, choose
from .predictor import ModelError, predictor
from .tensorflow_graph import read_graph, reason_of
from .tensorflow_keras import open_keras
from .tensorflow_library import build, load, local_devices
from .tensorflow_saved_model import SavedModel
from .tensorflow_session import FrozenGraph

_HDF5 = b"\x89HDF\r\n\x1a\n"
_threads_taken = []  # the pool inside operators is made once for a process, by its first session


@predictor(packages=("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"), versions=">=1.12")
def tensorflow(
    files,
    *,
    threads: Integer(
        "Threads inside one operator; TensorFlow takes one number for a whole process.", at_least=1, at_most=4096
    ) = 1,
    inter_op_threads: Integer("Operators that may run side by side.", at_least=1, at_most=4096) = 1,
    device: Device() = "cpu",
    outputs: Text("Names of output tensors, separated by commas; any tensor of the graph may be named.") = None,
    signature: Text("Which signature of a SavedModel is called; `serving_default`, or the only one.") = None,
    tag: Text("Which of a SavedModel's graphs is loaded.") = "serve",
):
    """Frozen graphs (.pb), SavedModel folders and Keras files (.keras, .h5) on TensorFlow 1.12 and later.

    A frozen graph's inputs are its placeholders, its outputs what no other node takes; `outputs` names others.
    """
    path = files["graph"]
    kind = _kind_of(path)
    tf = load()
    version = "TensorFlow %s" % tf.__version__
    config = _configure(tf, version, threads, inter_op_threads, device)
    named = [word.strip() for word in outputs.split(",")] if outputs else []
    try:
        if kind == "saved_model":
            return SavedModel(tf, config, path, tag, signature, named)
        if kind == "graph":
            return FrozenGraph(tf, config, read_graph(tf, path), named)
        return open_keras(tf, config, path, kind, named)
    except ModelError:
        raise
    except Exception as error:  # what its readers raise differs by release
        raise ModelError("%s cannot load the model: %s" % (version, reason_of(error)))


def _kind_of(path):
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, "saved_model.pb")):
            return "saved_model"
        raise ModelError("the folder %s is no SavedModel: it has no saved_model.pb" % os.path.basename(path))
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError as error:
        raise ModelError("the model file cannot be read: %s" % error)
    if start == _HDF5:
        return ".h5"
    return ".keras" if start.startswith(b"PK") else "graph"


def _configure(tf, version, threads, inter_op_threads, device):
    if _threads_taken and _threads_taken[0] != threads:
        raise ModelError(
            "%s computes with %d threads in this process already, and takes no other number"
            % (version, _threads_taken[0])
        )
    config = tf.compat.v1.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=inter_op_threads
    )
    if device == "cpu":
        config.device_count["GPU"] = 0
    else:
        _choose_gpu(tf, version, config, device)
    _threads_taken[:] = [threads]
    return config


def _choose_gpu(tf, version, config, device):
    """TensorFlow numbers the GPUs that it may see, so that the one that is meant is always its first."""
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # it would take all of the GPU's memory otherwise
    gpus = _find_gpus(tf)
    why = "" if tf.test.is_built_with_cuda() else "it was built without CUDA"
    number = choose(version, device, {"cpu": 1, "cuda": len(gpus)}, why)[1]
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(number)
    if number and hasattr(tf.config, "set_visible_devices"):  # what runs outside a session must agree
        tf.config.set_visible_devices(gpus[number], "GPU")


def _find_gpus(tf):
    """Without starting them, where TensorFlow can (since 1.14)."""
    experimental = getattr(getattr(tf, "config", None), "experimental", None)
    if hasattr(experimental, "list_physical_devices"):
        return experimental.list_physical_devices("GPU")
    return [each for each in local_devices() if each.device_type == "GPU"]


tells_build("tensorflow", "tensorflow")(build)
