"""ONNX Runtime. `session.run` takes numpy's memory as it is and answers with its own, so nothing is copied."""

import json
import os
import shutil
import tempfile

from ..parameters import Choice, Integer, Text
from . import protobuf
from .predictor import Layer, ModelError, NotSupported, Predictor, Tensor, predictor

_TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(uint8)": "uint8",
    "tensor(uint16)": "uint16",
    "tensor(uint32)": "uint32",
    "tensor(uint64)": "uint64",
    "tensor(int8)": "int8",
    "tensor(int16)": "int16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}
_OPTIMISATION = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


@predictor(packages=("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml"))
def onnxruntime(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    inter_op_threads: Integer("Operators that may run side by side.", at_least=1, at_most=4096) = 1,
    execution_provider: Text(
        "Which execution provider runs the graph; there is no silent fall-back."
    ) = "CPUExecutionProvider",
    graph_optimization: Choice("How far the graph is rewritten before it runs.", *sorted(_OPTIMISATION)) = "all",
):
    """ONNX models on ONNX Runtime."""
    import onnxruntime as ort

    if execution_provider not in ort.get_available_providers():
        raise ModelError(
            "onnxruntime %s has no %s; it has %s"
            % (ort.__version__, execution_provider, ", ".join(ort.get_available_providers()))
        )

    def start(model=files["graph"], profile_prefix=None, optimisation=graph_optimization):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = inter_op_threads
        options.execution_mode = (
            ort.ExecutionMode.ORT_PARALLEL if inter_op_threads > 1 else ort.ExecutionMode.ORT_SEQUENTIAL
        )
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, _OPTIMISATION[optimisation])
        options.log_severity_level = 3
        if profile_prefix is not None:
            options.enable_profiling = True
            options.profile_file_prefix = profile_prefix
        return ort.InferenceSession(model, options, providers=[execution_provider])

    try:
        session = start()
    except Exception as error:  # its exception classes differ by release and share no base but Exception
        raise ModelError("onnxruntime %s cannot load the model: %s" % (ort.__version__, error))
    if session.get_providers()[0] != execution_provider:
        raise ModelError("onnxruntime fell back from %s to %s" % (execution_provider, session.get_providers()[0]))
    return OnnxRuntime(session, start, files["graph"])


class OnnxRuntime(Predictor):
    concurrent = True

    def __init__(self, session, start, path):
        self._session = session
        self._start = start
        self._path = path
        self._talkative = None
        for value in session.get_inputs():
            if value.type not in _TYPES:
                raise ModelError("input `%s` is a %s, which is not a tensor of numbers" % (value.name, value.type))
        self.inputs = [_describe(value) for value in session.get_inputs()]
        # Classifiers from scikit-learn have sequences and words beside their scores; nothing here could use them.
        self.outputs = [_describe(value) for value in session.get_outputs() if value.type in _TYPES]
        self._input_names = [tensor.name for tensor in self.inputs]
        self._output_names = [tensor.name for tensor in self.outputs]

    def run(self, tensors):
        return self._session.run(self._output_names, dict(zip(self._input_names, tensors)))

    def profile(self, tensors):
        """The graph as it is optimised for `run`: `graph_optimization: disabled` keeps the model's own names."""
        folder = tempfile.mkdtemp(prefix="mlmodelscope-profile-")
        try:
            session = self._start(profile_prefix=os.path.join(folder, "ort"))
            feed = dict(zip(self._input_names, tensors))
            session.run(self._output_names, feed)  # the first run also reserves memory
            session.run(self._output_names, feed)
            with open(session.end_profiling(), "rb") as file:
                events = json.loads(file.read().decode("utf-8", "replace"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return _layers_of_last_run(events)

    def intermediates(self, tensors):
        """What every node passes on, with nothing fused. Sequences and words are passed over."""
        if self._talkative is None:
            self._talkative = self._open_talkative()
        names = [value.name for value in self._talkative.get_outputs() if value.type in _TYPES]
        return dict(zip(names, self._talkative.run(names, dict(zip(self._input_names, tensors)))))

    def _open_talkative(self):
        """The model with all that its nodes pass on as outputs; they have no type, which ONNX Runtime infers."""
        try:
            data = protobuf.view(self._path)
            told = {value.name for value in self._session.get_outputs()}
            outputs = [name for name in _passed_on(data) if name not in told]
            # Messages that stand twice are merged: a second graph of nothing but outputs adds them to the first.
            addition = b"".join(protobuf.write(12, protobuf.write(1, name)) for name in outputs)
            return self._start(bytes(data) + protobuf.write(7, addition), optimisation="disabled")
        except Exception as error:  # a model in ORT's own format, of 2 GiB and more, or with weights beside it
            raise NotSupported("onnxruntime cannot open this model with every output: %s" % error)

    def close(self):
        self._session = self._talkative = None


def _passed_on(model):
    """The outputs of the main graph's nodes, in order; ModelProto.graph is 7, its nodes 1, their outputs 2."""
    names = []
    for graph in protobuf.each(model, 7):
        for node in protobuf.each(graph, 1):
            names += [bytes(name).decode("utf-8", "replace") for name in protobuf.each(node, 2) if len(name)]
    return names


def _layers_of_last_run(events):
    runs = [event["ts"] for event in events if event.get("name") == "model_run"]
    layers = []
    for event in events:
        name, said = event.get("name", ""), event.get("args", {})
        if event.get("cat") != "Node" or not name.endswith("_kernel_time") or event["ts"] < max(runs or [0]):
            continue
        shapes = [list(shape.values())[0] for shape in said.get("output_type_shape", ()) if shape]
        own = name[: -len("_kernel_time")] or said.get("op_name", "")
        layers.append(
            Layer(own, said.get("op_name") or "?", 1000 * event["dur"], shapes, start_ns=1000 * int(event["ts"]))
        )
    return sorted(layers, key=lambda layer: layer.start_ns)


def _describe(value):
    # A size is a number, or a name or None where the model leaves it open; no sizes at all mean that any shape will do.
    sizes = [size if isinstance(size, int) and size > 0 else None for size in value.shape]
    return Tensor(value.name, _TYPES[value.type], sizes or None)
