"""The one place that imports TensorFlow, and the parts of it that have no public name."""

import os


def load():
    """TensorFlow, which keeps its warnings to itself."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    if not hasattr(tf.compat, "v1"):  # before 1.13 the module itself is what was called so later
        tf.compat.v1 = tf
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    return tf


def local_devices():
    from tensorflow.python.client import device_lib

    return device_lib.list_local_devices()


def saved_model_message():
    from tensorflow.core.protobuf import saved_model_pb2

    return saved_model_pb2.SavedModel()


def freezer():
    """What turns a function with variables into one with constants (since 1.14)."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    return convert_variables_to_constants_v2


def build():
    """What TensorFlow tells of its build: a little since 1.0, the versions of CUDA since 2.3."""
    import tensorflow as tf

    told = dict(tf.sysconfig.get_build_info()) if hasattr(tf.sysconfig, "get_build_info") else {}
    old = getattr(tf, "version", tf)
    capabilities = told.get("cuda_compute_capabilities") or ()
    options = ["%s=%s" % (name, value) for name, value in sorted(told.items()) if isinstance(value, bool)]
    return {
        "version": tf.__version__,
        "compiler": getattr(old, "COMPILER_VERSION", None) or getattr(tf, "__compiler_version__", None),
        "flags": " ".join(each for each in tf.sysconfig.get_compile_flags() if not each.startswith("-I")),
        "cuda": told.get("cuda_version"),
        "cudnn": told.get("cudnn_version"),
        "onednn": _onednn(),
        "options": options + ["CUDA %s" % each for each in capabilities],
    }


def _onednn():
    """Whether operators run on oneDNN; releases before 2.5 do not tell."""
    try:
        from tensorflow.python.util import _pywrap_util_port
    except ImportError:
        return None
    return "on" if _pywrap_util_port.IsMklEnabled() else "off"
