"""SavedModel folders: a signature is chosen, and what TensorFlow 2 saved is frozen to look inside."""

import contextlib
import os

from .predictor import ModelError, NotSupported
from .tensorflow_graph import bare, find_tensor, reason_of
from .tensorflow_library import freezer, saved_model_message
from .tensorflow_reach import refuse_reaching_out
from .tensorflow_session import FrozenGraph, TensorFlow


class SavedModel(TensorFlow):
    def __init__(self, tf, config, folder, tag, signature, named):
        self._folder, self._tag, self._config = folder, tag, config
        self._inner = None
        _vet(folder)
        graph = tf.Graph()
        session = tf.compat.v1.Session(graph=graph, config=config)
        try:
            with graph.as_default():
                loaded = tf.compat.v1.saved_model.loader.load(session, [tag], folder)
            self._signature, definition = _choose(loaded.signature_def, signature)
            feeds = [(key, find_tensor(graph, info.name)) for key, info in sorted(definition.inputs.items())]
            given = {key: info.name for key, info in definition.outputs.items()}
            keys = named or sorted(given)
            TensorFlow.__init__(
                self, tf, session, feeds, [(key, find_tensor(graph, given.get(key, key))) for key in keys]
            )
        except BaseException:
            session.close()
            raise

    def intermediates(self, tensors):
        """What TensorFlow 2 saves is one call of a function: its inside is fetched from a copy that is frozen."""
        if not any(each.type.endswith("PartitionedCall") for each in self._session.graph.get_operations()):
            return TensorFlow.intermediates(self, tensors)
        if self._inner is None:
            self._inner = FrozenGraph(
                self._tf, self._config, *_freeze(self._tf, self._folder, self._tag, self._signature)
            )
        order = [tensor.name for tensor in self.inputs]
        return self._inner.intermediates([tensors[order.index(tensor.name)] for tensor in self._inner.inputs])

    def kinds(self):
        return TensorFlow.kinds(self) if self._inner is None else self._inner.kinds()

    def attributes(self):
        return TensorFlow.attributes(self) if self._inner is None else self._inner.attributes()

    def close(self):
        if self._inner is not None:
            self._inner.close()
        TensorFlow.close(self)


def _vet(folder):
    saved = saved_model_message()
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        content = file.read()
    try:
        saved.ParseFromString(content)
    except Exception as error:
        raise ModelError("saved_model.pb is damaged: %s" % reason_of(error))
    if not saved.meta_graphs:
        raise ModelError("saved_model.pb is empty or damaged: it has no graph")
    for meta_graph in saved.meta_graphs:
        assets = [each.tensor_info.name.split(":")[0] for each in meta_graph.asset_file_def]
        refuse_reaching_out(meta_graph.graph_def, assets)


def _choose(signatures, wanted):
    known = sorted(name for name in signatures if not name.startswith("__"))
    name = wanted or ("serving_default" if "serving_default" in known else known[0] if len(known) == 1 else None)
    if name is None or name not in known:
        raise ModelError(
            "the SavedModel has %s; choose with the option `signature`"
            % ("the signatures " + ", ".join(known) if known else "no signatures")
            if name is None
            else "the SavedModel has no signature `%s`; it has %s" % (name, ", ".join(known) or "none")
        )
    return name, signatures[name]


def _freeze(tf, folder, tag, signature):
    """A signature's function with its variables as constants: (graph, outputs' names, names of the inputs)."""
    try:
        freeze = freezer()
        load = tf.compat.v2.saved_model.load
    except (ImportError, AttributeError):
        raise NotSupported("TensorFlow %s cannot look inside this SavedModel" % tf.__version__)
    with _eager(tf):
        loaded = load(folder, tags=[tag])
        function = loaded.signatures[signature]
        keys = sorted(function.structured_input_signature[1])  # the order in which TensorFlow flattens mappings
        return frozen(freeze, function, {tensor.name: key for key, tensor in zip(keys, function.inputs)})


def frozen(freeze, function, names):
    frozen = freeze(function)
    graph = frozen.graph.as_graph_def()
    return graph, [bare(tensor.name) for tensor in frozen.outputs], names


@contextlib.contextmanager
def _eager(tf):
    if not tf.executing_eagerly():
        raise NotSupported(
            "TensorFlow %s looks inside a SavedModel of TensorFlow 2 in eager mode alone" % tf.__version__
        )
    with tf.device("/CPU:0"):
        yield
