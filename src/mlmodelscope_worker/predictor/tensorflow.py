"""TensorFlow 1.13 to 2: frozen graphs, SavedModels and Keras files, all run by a Session.

A Session is there in every release, has thread pools of its own making and can be closed; numpy's memory goes in as it
is where it is aligned as TensorFlow likes it. TensorFlow calls models programs: those that reach for files or Python
are refused.
"""

import contextlib
import json
import os
import re
import tempfile
import zipfile

from ..clock import nanoseconds
from ..parameters import Integer, Text
from .device import Device, choose
from .predictor import Layer, ModelError, NotSupported, Predictor, Profile, Tensor, predictor

_HDF5 = b"\x89HDF\r\n\x1a\n"
_NUMBERS = re.compile(r"(float|bfloat|u?int)\d+$|bool$")
_REACHES_OUT = frozenset(
    ["ReadFile", "WriteFile", "MatchingFiles", "PrintV2", "PyFunc", "PyFuncStateless", "EagerPyFunc"]
)
_NO_LAYERS = frozenset(
    ["Const", "Placeholder", "PlaceholderWithDefault", "NoOp", "_Arg", "_Retval", "Assert", "_SOURCE"]
)
_KERAS_MODULES = re.compile(
    r"(keras|tf_keras|tensorflow\.keras|tensorflow\.python\.keras)(\.src)?"
    r"(\.(layers|models|engine|initializers|regularizers|constraints|activations|dtype_policies|mixed_precision|ops)\b.*)?$"
    r"|builtins$"
)
# Attributes that operators had not before TensorFlow 1.14 or later, and whether a value is what was done before.
_LATER = {
    "explicit_paddings": lambda value: not value.list.i,
    "half_pixel_centers": lambda value: not value.b,
    "batch_dims": lambda value: value.i == 0,
    "incompatible_shape_error": lambda value: value.b,
    "exponential_avg_factor": lambda value: value.f == 1,
    "grad_a": lambda value: not value.b,
    "grad_b": lambda value: not value.b,
}
_threads_taken = []  # the pool inside operators is made once for a process, by its first session


@predictor(packages=("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"))
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
    """Frozen graphs (.pb), SavedModel folders and Keras files (.keras, .h5) on TensorFlow 1.13 and later.

    A frozen graph's inputs are its placeholders, its outputs what no other node takes; `outputs` names others.
    """
    path = files["graph"]
    kind = _kind_of(path)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    version = "TensorFlow %s" % tf.__version__
    config = _configure(tf, version, threads, inter_op_threads, device)
    named = [word.strip() for word in outputs.split(",")] if outputs else []
    try:
        if kind == "saved_model":
            return SavedModel(tf, config, path, tag, signature, named)
        if kind == "graph":
            return FrozenGraph(tf, config, _read_graph(tf, path), named)
        return _open_keras(tf, config, path, kind, named)
    except ModelError:
        raise
    except Exception as error:  # what its readers raise differs by release
        raise ModelError("%s cannot load the model: %s" % (version, _reason(error)))


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
    from tensorflow.python.client import device_lib

    return [each for each in device_lib.list_local_devices() if each.device_type == "GPU"]


def _reason(error):
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    text = lines[0][:600] if lines else type(error).__name__
    if "not in Op<" in text or "Op type not registered" in text:
        text = re.sub(r"Op<name=(\w+);.*", r"the operator \1", text)
        text += " (a newer TensorFlow, or an add-on to it, wrote this graph)"
    return text


def _read_graph(tf, path):
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        content = file.read()
    try:
        graph.ParseFromString(content)
    except Exception as error:  # protobuf's class for this has moved
        if os.path.basename(path) != "saved_model.pb":
            raise ModelError("the file is no TensorFlow graph, or only a part of one: %s" % _reason(error))
        graph.Clear()
    if not graph.node:
        raise ModelError("the file has no graph in it; a SavedModel is given by its folder, not by its saved_model.pb")
    return graph


def _refuse_reaching_out(graph):
    """Operators that read or write files or call Python, wherever in the graph they are."""
    nodes = list(graph.node)
    for function in graph.library.function:
        nodes.extend(function.node_def)
    for node in nodes:
        if node.op in _REACHES_OUT:
            raise ModelError(
                "the model's node `%s` is a %s, which reaches out of the model: refused" % (node.name, node.op)
            )


class TensorFlow(Predictor):
    """A graph in a session. `_feeds` and `_fetches` are tensors of the graph, in the order of inputs and outputs."""

    concurrent = True
    _executed = None

    def __init__(self, tf, session, feeds, fetches):
        self._tf = tf
        self._session = session
        self._feeds = [tensor for _, tensor in feeds]
        self._fetches = [tensor for _, tensor in fetches]
        self.inputs = [_describe(name, tensor) for name, tensor in feeds]
        for tensor in self.inputs:
            if not _NUMBERS.match(tensor.element_type):
                raise ModelError(
                    "input `%s` is a %s, which is not a tensor of numbers" % (tensor.name, tensor.element_type)
                )
        self.outputs = [_describe(name, tensor) for name, tensor in fetches]
        self._call = session.make_callable(self._fetches, feed_list=self._feeds)

    def run(self, tensors):
        return self._call(*tensors)

    def close(self):
        if self._session is not None:
            self._session.close()
        self._session = self._call = None
        self._feeds = self._fetches = ()

    def profile(self, tensors):
        """As it runs: where TensorFlow fuses nodes, the last of them has the time of all."""
        return self._profiled(tensors, 2)  # the first run sets memory and kernels up

    def first_profile(self, tensors):
        return self._profiled(tensors, 1)

    def _profiled(self, tensors, runs):
        v1 = self._tf.compat.v1
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        feed = dict(zip(self._feeds, tensors))
        for _ in range(runs):
            metadata = v1.RunMetadata()
            start = nanoseconds()
            self._session.run(self._fetches, feed, options=options, run_metadata=metadata)
            call_ns = nanoseconds() - start
        layers = []
        for device in metadata.step_stats.dev_stats:
            if "stream" not in device.device:  # a GPU's kernels once more, by its streams
                layers.extend(filter(None, (_layer(stats) for stats in device.node_stats)))
        given = {_bare(tensor.name): list(value.shape) for tensor, value in zip(self._feeds, tensors)}
        if self._executed is None:
            self._executed = self._find_executed(feed)
        _tell_shapes(self._tf, layers, metadata, self._executed, given)
        return Profile(sorted(layers, key=lambda layer: layer.start_ns), call_ns)

    def _find_executed(self, feed):
        """{name: (operator, inputs, shape of a constant)} of the graph as TensorFlow rewrote it, from a run of its own:
        to hand the graph out takes longer than some models do."""
        v1, metadata = self._tf.compat.v1, self._tf.compat.v1.RunMetadata()
        self._session.run(
            self._fetches, feed, options=v1.RunOptions(output_partition_graphs=True), run_metadata=metadata
        )
        nodes = {}
        for graph in metadata.partition_graphs:
            for node in graph.node:
                shape = None
                if node.op == "Const":
                    shape = [size.size for size in node.attr["value"].tensor.tensor_shape.dim]
                nodes[node.name] = node.op, [name for name in node.input if not name.startswith("^")], shape
        return nodes

    def intermediates(self, tensors):
        return self._fetch_all(self._session, self._feeds, self._fetches, tensors)

    def _fetch_all(self, session, feeds, fetches, tensors):
        inside = [
            tensor for tensor in _between(session.graph, feeds, fetches) if _NUMBERS.match(tensor.dtype.base_dtype.name)
        ]
        feed = dict(zip(feeds, tensors))
        try:
            values = session.run(inside, feed)
        except self._tf.errors.OpError:  # a branch that was not taken has nothing to fetch
            values = [self._fetch(session, tensor, feed) for tensor in inside]
        return {_bare(tensor.name): value for tensor, value in zip(inside, values) if value is not None}

    def _fetch(self, session, tensor, feed):
        try:
            return session.run(tensor, feed)
        except self._tf.errors.OpError:
            return None


def _layer(stats):
    label = re.match(r"(\S+) = (\w+)\(", stats.timeline_label)
    kind = label.group(2) if label else stats.node_name.rpartition(":")[2]
    name = stats.node_name.partition(":")[0] if label is None else label.group(1)
    if kind in _NO_LAYERS or name.startswith("_"):
        return None
    shapes = [[size.size for size in output.tensor_description.shape.dim] for output in stats.output]
    duration = stats.op_end_rel_nanos - stats.op_start_rel_nanos
    if duration <= 0:
        duration = (stats.op_end_rel_micros - stats.op_start_rel_micros) * 1000
    return Layer(name, kind, duration, shapes, stats.all_start_micros * 1000 + stats.op_start_rel_nanos)


def _tell_shapes(tf, layers, metadata, nodes, given):
    """What each node took and gave: outputs are in the profile, and whose inputs they are in the graph as executed."""
    made, types = {}, {}
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            for output in stats.output:
                told = output.tensor_description
                name = stats.node_name.partition(":")[0]
                made[name, output.slot] = [size.size for size in told.shape.dim]
                types[name, output.slot] = told.dtype
    for name, (operator, _, shape) in nodes.items():
        if shape is not None:
            made[name, 0] = shape
        elif operator in ("_Arg", "Placeholder") and name.split("/")[0] in given:
            made[name, 0] = given[name.split("/")[0]]
    slots = {}
    for name, slot in sorted(made):
        slots.setdefault(name, []).append(made[name, slot])
    for layer in layers:
        if layer.name not in nodes:
            continue
        sources = [name.partition(":") for name in nodes[layer.name][1]]
        inputs = [made.get((name, int(slot or 0))) for name, _, slot in sources]
        outputs = slots.get(layer.name)
        if outputs and all(shape is not None for shape in inputs):
            layer.inputs, layer.outputs = [list(shape) for shape in inputs], [list(shape) for shape in outputs]
            if (layer.name, 0) in types:
                layer.element_type = tf.as_dtype(types[layer.name, 0]).base_dtype.name


def _describe(name, tensor):
    sizes = None if tensor.shape.ndims is None else tensor.shape.as_list()
    return Tensor(name, tensor.dtype.base_dtype.name, sizes)


def _bare(name):
    return name[:-2] if name.endswith(":0") else name


def _find(graph, name):
    try:
        return graph.get_tensor_by_name(name if ":" in name else name + ":0")
    except (KeyError, ValueError, TypeError):
        raise ModelError("the model's graph has no tensor `%s`" % name)


def _above(operations):
    """Everything that these operations need, they themselves included."""
    seen, waiting = set(), list(operations)
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting.extend(tensor.op for tensor in operation.inputs)
            waiting.extend(operation.control_inputs)
    return seen


def _below(operations):
    seen, waiting = set(), list(operations)
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting.extend(each for tensor in operation.outputs for each in tensor.consumers())
    return seen


def _between(graph, feeds, fetches):
    """Tensors on the way from the inputs to the outputs, in the graph's order."""
    way = _above(tensor.op for tensor in fetches) & _below(tensor.op for tensor in feeds)
    operations = [each for each in graph.get_operations() if each in way and each.type not in _NO_LAYERS]
    return [tensor for each in operations for tensor in each.outputs if graph.is_fetchable(tensor)]


class FrozenGraph(TensorFlow):
    def __init__(self, tf, config, graph_def, named, names=None):
        _refuse_reaching_out(graph_def)
        graph = _imported(tf, graph_def)
        fetches = [(name, _find(graph, name)) for name in named] or _loose_ends(graph)
        needed = _above(tensor.op for _, tensor in fetches)
        feeds = [each.outputs[0] for each in graph.get_operations() if each.type == "Placeholder" and each in needed]
        if not feeds or not fetches:
            raise ModelError(
                "the graph has no placeholder that an output depends on: it is no model with weights frozen in"
            )
        states = [each for each in needed if each.type in ("VariableV2", "VarHandleOp", "Variable")]
        if states:
            raise ModelError(
                "the graph has variables (`%s`) and the file no values for them:"
                " freeze it, or give the SavedModel's folder" % states[0].name
            )
        session = tf.compat.v1.Session(graph=graph, config=config)
        names = names or {}
        TensorFlow.__init__(
            self,
            tf,
            session,
            [(names.get(tensor.name, tensor.op.name), tensor) for tensor in feeds],
            [(names.get(tensor.name, name), tensor) for name, tensor in fetches],
        )


def _imported(tf, graph_def):
    """The graph; attributes that this release does not know are dropped where they say what it does anyway."""
    for last in (False, True):
        graph = tf.Graph()
        try:
            with graph.as_default():
                tf.compat.v1.import_graph_def(graph_def, name="")
            return graph
        except ValueError as error:
            if last or "mentions attr" not in str(error):
                raise
        for node in graph_def.node:
            for name, default in _LATER.items():
                if name in node.attr and default(node.attr[name]):
                    del node.attr[name]


def _loose_ends(graph):
    """What no other node takes and some input leads to."""
    operations = graph.get_operations()
    fed = _below(each for each in operations if each.type == "Placeholder")
    ends = [
        each
        for each in operations
        if each in fed and each.type not in _NO_LAYERS and each.outputs and not any(t.consumers() for t in each.outputs)
    ]
    return [(_bare(tensor.name), tensor) for each in ends for tensor in each.outputs]


class SavedModel(TensorFlow):
    def __init__(self, tf, config, folder, tag, signature, named):
        self._folder, self._tag, self._config = folder, tag, config
        self._inner = None
        _vet_saved_model(folder)
        graph = tf.Graph()
        session = tf.compat.v1.Session(graph=graph, config=config)
        try:
            with graph.as_default():
                loaded = tf.compat.v1.saved_model.loader.load(session, [tag], folder)
            self._signature, definition = _choose(loaded.signature_def, signature)
            feeds = [(key, _find(graph, info.name)) for key, info in sorted(definition.inputs.items())]
            given = {key: info.name for key, info in definition.outputs.items()}
            keys = named or sorted(given)
            TensorFlow.__init__(self, tf, session, feeds, [(key, _find(graph, given.get(key, key))) for key in keys])
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

    def close(self):
        if self._inner is not None:
            self._inner.close()
        TensorFlow.close(self)


def _vet_saved_model(folder):
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel()
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        content = file.read()
    try:
        saved.ParseFromString(content)
    except Exception as error:
        raise ModelError("saved_model.pb is damaged: %s" % _reason(error))
    if not saved.meta_graphs:
        raise ModelError("saved_model.pb is empty or damaged: it has no graph")
    for meta_graph in saved.meta_graphs:
        _refuse_reaching_out(meta_graph.graph_def)


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
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as freeze

        load = tf.compat.v2.saved_model.load
    except (ImportError, AttributeError):
        raise NotSupported("TensorFlow %s cannot look inside this SavedModel" % tf.__version__)
    with _eager(tf):
        loaded = load(folder, tags=[tag])
        function = loaded.signatures[signature]
        keys = sorted(function.structured_input_signature[1])  # the order in which TensorFlow flattens mappings
        return _frozen(freeze, function, {tensor.name: key for key, tensor in zip(keys, function.inputs)})


def _frozen(freeze, function, names):
    frozen = freeze(function)
    graph = frozen.graph.as_graph_def()
    return graph, [_bare(tensor.name) for tensor in frozen.outputs], names


@contextlib.contextmanager
def _eager(tf):
    if not tf.executing_eagerly():
        raise NotSupported(
            "TensorFlow %s looks inside a SavedModel of TensorFlow 2 in eager mode alone" % tf.__version__
        )
    with tf.device("/CPU:0"):
        yield


# Keras


def _open_keras(tf, config, path, kind, named):
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
    try:
        if kind == ".h5":
            import h5py

            with h5py.File(path, "r") as file:
                config = file.attrs.get("model_config")
                if config is None:
                    raise ModelError("the file holds weights and no model: save it with model.save()")
            config = config.decode("utf-8") if isinstance(config, bytes) else config
        else:
            with zipfile.ZipFile(path) as archive:
                if archive.getinfo("config.json").file_size > 1 << 28:
                    raise ModelError("the Keras file's config.json is larger than any model's")
                config = archive.read("config.json").decode("utf-8")
        _vet_layers(json.loads(config))
    except (KeyError, OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError("the file is no Keras model, or only a part of one: %s" % _reason(error))


def _vet_layers(value):
    if isinstance(value, list):
        for each in value:
            _vet_layers(each)
    elif isinstance(value, dict):
        name, module, config = value.get("class_name"), value.get("module"), value.get("config")
        if name in ("Lambda", "__lambda__", "function", "__typespec__"):
            raise ModelError("the model has a %s layer, which is Python code: refused" % name)
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
                fetches = [(name, given[name] if name in given else _find(graph, name)) for name in named or given]
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
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as freeze

    with tf.device("/CPU:0"):
        model = tf.keras.models.load_model(path, compile=False)  # safe_mode, where there is one, is its default
        given = getattr(model, "input_names", None) or [each.name for each in model.inputs]
        specs = [
            tf.TensorSpec(each.shape, each.dtype, re.sub(r"\W", "_", name)) for each, name in zip(model.inputs, given)
        ]

        def call(*tensors):
            return tf.nest.flatten(model(tensors[0] if len(tensors) == 1 else list(tensors), training=False))

        graph, ends, _ = _frozen(freeze, tf.function(call).get_concrete_function(*specs), {})
    names = getattr(model, "output_names", None) or [each._keras_history.operation.name for each in model.outputs]
    return FrozenGraph(tf, config, graph, named or ends, {end + ":0": name for end, name in zip(ends, names)})
