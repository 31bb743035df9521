"""ONNX Runtime. `session.run` takes numpy's memory as it is and answers with its own, so nothing is copied."""

from ..parameters import Choice, Integer, Text
from .predictor import ModelError, Predictor, Tensor, predictor

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
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = inter_op_threads
    options.execution_mode = (
        ort.ExecutionMode.ORT_PARALLEL if inter_op_threads > 1 else ort.ExecutionMode.ORT_SEQUENTIAL
    )
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, _OPTIMISATION[graph_optimization])
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(files["graph"], options, providers=[execution_provider])
    except Exception as error:  # its exception classes differ by release and share no base but Exception
        raise ModelError("onnxruntime %s cannot load the model: %s" % (ort.__version__, error))
    if session.get_providers()[0] != execution_provider:
        raise ModelError("onnxruntime fell back from %s to %s" % (execution_provider, session.get_providers()[0]))
    return OnnxRuntime(session)


class OnnxRuntime(Predictor):
    concurrent = True

    def __init__(self, session):
        self._session = session
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

    def close(self):
        self._session = None


def _describe(value):
    # A size is a number, or a name or None where the model leaves it open; no sizes at all mean that any shape will do.
    sizes = [size if isinstance(size, int) and size > 0 else None for size in value.shape]
    return Tensor(value.name, _TYPES[value.type], sizes or None)
