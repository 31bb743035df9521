"""Keras files, which may name any Python class: only those with Keras's own layers are opened."""

import contextlib
import json
import os
import re
import tempfile
import zipfile

from .hdf5_places import refuse_outside
from .predictor import ModelError
from .tensorflow_graph import find_tensor, reason_of
from .tensorflow_library import freezer
from .tensorflow_saved_model import frozen
from .tensorflow_session import FrozenGraph, TensorFlow

_KERAS_MODULES = re.compile(
    r"(keras|tf_keras|tensorflow\.keras|tensorflow\.python\.keras)(\.src)?"
    r"(\.(layers|models|engine|initializers|regularizers|constraints|activations|dtype_policies|mixed_precision|ops)\b.*)?$"
    r"|builtins$"
)


def open_keras(tf, config, path, kind, named):
    _vet_keras(path, kind)
    if not hasattr(tf, "keras"):
        raise ModelError("TensorFlow %s came without Keras" % tf.__version__)
    with _called(path, kind) as name:
        if tf.executing_eagerly() and not tf.__version__.startswith("1."):
            return _open_keras_eagerly(tf, config, name, named)
        return KerasInSession(tf, config, name, named)


@contextlib.contextmanager
def _called(path, ending):
    """Keras goes by a file's ending, which a cache may have dropped."""
    if path.endswith(ending):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "model" + ending)
        os.symlink(os.path.abspath(path), link)
        yield link


def _vet_keras(path, kind):
    """A Keras file may name any Python class, and carry bytecode: only Keras's own layers are let through."""
    import h5py

    try:
        if kind == ".h5":
            with h5py.File(path, "r") as file:
                refuse_outside(h5py, file)
                config = file.attrs.get("model_config")
                if config is None:
                    raise ModelError("the file holds weights and no model: save it with model.save()")
            config = config.decode("utf-8") if isinstance(config, bytes) else config
        else:
            with zipfile.ZipFile(path) as archive:
                if archive.getinfo("config.json").file_size > 1 << 28:
                    raise ModelError("the Keras file's config.json is larger than any model's")
                config = archive.read("config.json").decode("utf-8")
                _vet_members(archive, h5py)
        _vet_layers(json.loads(config))
    except (KeyError, OSError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("the file is no Keras model, or only a part of one: %s" % reason_of(error))


def _vet_members(archive, h5py):
    for name in archive.namelist():
        if name.lower().endswith((".npz", ".npy", ".pkl", ".pickle")):  # some releases unpickle what is in them
            raise ModelError("the Keras file has `%s` in place of weights in HDF5: refused" % name[:80])
        if name.lower().endswith((".h5", ".hdf5")):
            with archive.open(name) as packed, h5py.File(packed, "r") as file:
                refuse_outside(h5py, file)


def _vet_layers(value):
    if isinstance(value, list):
        for each in value:
            _vet_layers(each)
    elif isinstance(value, dict):
        name, module, config = value.get("class_name"), value.get("module"), value.get("config")
        if name in ("Lambda", "__lambda__", "function", "__typespec__"):
            raise ModelError("the model has a %s layer, which is Python code: refused" % name)
        if isinstance(config, dict) and isinstance(config.get("vocabulary"), str):
            raise ModelError("the model's %s reads words from a file: refused" % name)
        function = str(config.get("function", "")) if isinstance(config, dict) else ""
        if name == "TFOpLambda" and not re.match(r"(math|nn|__operators__)\.", function):
            raise ModelError("the model calls tf.%s, which is no layer: refused" % function)
        if module is not None and not _KERAS_MODULES.match(str(module)):
            raise ModelError("the model needs %s.%s, which is not Keras's own: refused" % (module, name))
        for key, each in value.items():
            if key != "compile_config":  # how it was trained, which is not loaded
                _vet_layers(each)


class KerasInSession(TensorFlow):
    """Keras in TensorFlow 1, whose models are graphs."""

    def __init__(self, tf, config, path, named):
        if path.endswith(".keras"):
            raise ModelError("TensorFlow %s reads Keras's .h5 files; .keras files came with 2.12" % tf.__version__)
        keras = tf.compat.v1.keras
        graph = tf.Graph()
        session = tf.compat.v1.Session(graph=graph, config=config)
        try:
            with graph.as_default(), session.as_default():
                keras.backend.set_session(session)
                keras.backend.set_learning_phase(0)
                model = tf.keras.models.load_model(path, compile=False)
                feeds = list(zip(model.input_names, model.inputs))
                given = dict(zip(model.output_names, model.outputs))
                fetches = [
                    (name, given[name] if name in given else find_tensor(graph, name)) for name in named or given
                ]
                TensorFlow.__init__(self, tf, session, feeds, fetches)
        except BaseException:
            session.close()
            raise
        finally:
            keras.backend.set_session(None)  # it would keep the session for ever
        self._model = model

    def close(self):
        self._model = None
        TensorFlow.close(self)


def _open_keras_eagerly(tf, config, path, named):
    """Keras since TensorFlow 2: its call is traced, and frozen into a graph."""
    freeze = freezer()
    with tf.device("/CPU:0"):
        model = tf.keras.models.load_model(path, compile=False)  # safe_mode, where there is one, is its default
        given = getattr(model, "input_names", None) or [each.name for each in model.inputs]
        specs = [
            tf.TensorSpec(each.shape, each.dtype, re.sub(r"\W", "_", name)) for each, name in zip(model.inputs, given)
        ]

        def call(*tensors):
            return tf.nest.flatten(model(tensors[0] if len(tensors) == 1 else list(tensors), training=False))

        graph, ends, _ = frozen(freeze, tf.function(call).get_concrete_function(*specs), {})
    names = getattr(model, "output_names", None) or [each._keras_history.operation.name for each in model.outputs]
    return FrozenGraph(tf, config, graph, named or ends, {end + ":0": name for end, name in zip(ends, names)})
