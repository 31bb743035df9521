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
