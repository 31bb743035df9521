"""Caffe2, as PyTorch brought it along until 1.12: a net that predicts and a net that makes its weights, both NetDef.

Feeding copies into the workspace and fetching copies out of it; there is no other door.
"""

import warnings

from ..environment import installed_packages
from ..parameters import Integer
from .build import tells_build
from .predictor import Layer, ModelError, Predictor, Tensor, predictor

_TYPES = {
    1: "float32",
    2: "int32",
    3: "uint8",
    5: "bool",
    6: "uint8",
    7: "int8",
    8: "uint16",
    9: "int16",
    10: "int64",
    12: "float16",
    13: "float64",
}
_FILLS = {
    "GivenTensorFill": "float32",
    "GivenTensorDoubleFill": "float64",
    "GivenTensorIntFill": "int32",
    "GivenTensorInt64Fill": "int64",
    "GivenTensorBoolFill": "bool",
    "GivenTensorByteStringToUInt8Fill": "uint8",
}
# What these take after their first input are weights, never questions.
_WEIGHTED = ("Conv", "ConvTranspose", "FC", "SpatialBN", "PRelu", "ChannelwiseAffine", "Int8Conv", "Int8FC")
# A net is data of a stranger's; these reach files, databases, the network or Python.
_OUTSIDE = ("Load", "Save", "Snapshot", "Checkpoint", "CreateDB", "DBExists", "Python", "PythonDLPack", "FileStore")
_THREADS = []


@predictor(packages=("torch",), versions=">=1.4 <1.8")
def caffe2(files, *, threads: Integer("Threads of OpenMP and MKL.", at_least=1, at_most=4096) = 1):
    """Caffe2 nets."""
    from caffe2.proto import caffe2_pb2
    from caffe2.python import core, workspace

    if not _THREADS:
        _THREADS.append(threads)
        words = ["caffe2", "--caffe2_log_level=3"]
        words += ["--caffe2_%s_num_threads=%d" % (library, threads) for library in ("omp", "mkl")]
        workspace.GlobalInit(words)
    elif _THREADS[0] != threads:
        raise ModelError("Caffe2 sets its threads once in a process: here to %d, not to %d" % (_THREADS[0], threads))
    if "weights" not in files:
        raise ModelError("Caffe2 needs two files: the predict net as `graph` and the init net as `weights`")
    predict = _read(caffe2_pb2.NetDef(), files["graph"], "the predict net")
    init = _read(caffe2_pb2.NetDef(), files["weights"], "the init net")
    if not predict.external_output:
        raise ModelError("Caffe2 (torch %s): the predict net names no output; it may be cut off" % _version())
    try:
        return Caffe2(core, workspace, predict, init)
    except RuntimeError as error:
        raise ModelError("Caffe2 (torch %s) cannot use the model: %s" % (_version(), _words(error)))


class Caffe2(Predictor):
    def __init__(self, core, workspace, predict, init):
        self._core = core
        self._workspace = workspace
        self._predict = predict
        self._init = init
        made = {blob for operator in init.op for blob in operator.output}
        given = [blob for blob in predict.external_input if blob not in made]
        lost = [blob for operator in predict.op if operator.type in _WEIGHTED for blob in operator.input[1:]]
        lost = [blob for blob in given if blob in lost]
        if lost:
            raise ModelError("the init net makes no value for %s" % ", ".join(lost))
        if not given:  # the model zoo's init nets also make something in place of the question, which comes first
            given = list(predict.external_input[:1])
        if not given:
            raise ModelError("the predict net names no input")
        self.inputs = [self._describe_input(blob) for blob in given]
        self.outputs = self._describe_outputs()
        self._predictor = workspace.Predictor(init.SerializeToString(), predict.SerializeToString())

    def _describe_input(self, blob):
        for operator in self._init.op:
            if blob in operator.output:
                said = {argument.name: argument for argument in operator.arg}
                shape = list(said["shape"].ints) if "shape" in said else []
                kind = _FILLS.get(operator.type, "float32")
                if "dtype" in said:
                    kind = _TYPES.get(said["dtype"].i, kind)
                # The placeholder's first size is that of some batch; nets take batches of any size.
                return Tensor(blob, kind, [None] + shape[1:] if len(shape) > 1 else None)
        return Tensor(blob, "float32", None)

    def _describe_outputs(self):
        names = list(self._predict.external_output)
        seen = [self._infer(names, samples) for samples in (2, 3)]
        tensors = []
        for name in names:
            (kind, shape), (_, other) = (found.get(name, ("float32", None)) for found in seen)
            if shape is not None and other is not None and len(shape) == len(other):
                shape = [size if size == another else None for size, another in zip(shape, other)]
            else:
                shape = None
            tensors.append(Tensor(name, kind, shape))
        return tensors

    def _infer(self, names, samples):
        """{output: (type, shape)} as far as Caffe2 can tell beforehand for this many samples."""
        if any(tensor.shape is None for tensor in self.inputs):
            return {}
        dimensions = {tensor.name: [samples] + list(tensor.shape[1:]) for tensor in self.inputs}
        for operator in self._init.op:
            said = {argument.name: argument for argument in operator.arg}
            for blob in operator.output:
                if "shape" in said:
                    dimensions.setdefault(blob, list(said["shape"].ints))
        net = self._core.Net(self._predict)
        shapes, types = self._workspace.InferShapesAndTypes([net], blob_dimensions=dimensions)
        return {
            name: (_TYPES.get(types.get(name), "float32"), shapes[name])
            for name in names
            if name in shapes and types.get(name) in _TYPES
        }

    def run(self, tensors):
        return self._predictor.run({tensor.name: value for tensor, value in zip(self.inputs, tensors)})

    def profile(self, tensors):
        with _Bench(self._workspace, self._init) as bench:
            self._feed(tensors)
            bench.CreateNet(self._predict, True)
            # Once to warm up, once to measure, each operator by itself; the first number is that of the whole net.
            spent_ms = bench.BenchmarkNet(self._predict.name, 1, 1, True)[1:]
            shapes = [[bench.FetchBlob(blob).shape for blob in op.output[:1]] for op in self._predict.op]
        return [
            Layer(operator.name or operator.output[0], operator.type, spent * 1e6, shape)
            for operator, spent, shape in zip(self._predict.op, spent_ms, shapes)
        ]

    def intermediates(self, tensors):
        found = {}
        with _Bench(self._workspace, self._init) as bench:
            self._feed(tensors)
            for operator in self._predict.op:  # one by one: many nets overwrite a blob with its ReLU
                if not bench.RunOperatorOnce(operator):
                    raise ModelError("Caffe2 (torch %s): operator %s fails" % (_version(), operator.type))
                for blob in operator.output:
                    value = bench.FetchBlob(blob)
                    if hasattr(value, "shape"):
                        found[blob if blob not in found else _unused(found, blob, operator.type)] = value
        return found

    def _feed(self, tensors):
        for tensor, value in zip(self.inputs, tensors):
            self._workspace.FeedBlob(tensor.name, value)

    def close(self):
        self._predictor = None


class _Bench(object):
    """A workspace of its own with the weights in it, empty and left again at the end."""

    def __init__(self, workspace, init):
        self._workspace = workspace
        self._init = init

    def __enter__(self):
        self._before = self._workspace.CurrentWorkspace()
        self._workspace.SwitchWorkspace("bench", True)
        self._workspace.RunNetOnce(self._init)
        return self._workspace

    def __exit__(self, *exception):
        self._workspace.ResetWorkspace()
        self._workspace.SwitchWorkspace(self._before)


def _unused(names, blob, kind):
    name, number = "%s/%s" % (blob, kind), 2
    while name in names:
        name, number = "%s/%s/%d" % (blob, kind, number), number + 1
    return name


def _read(net, path, what):
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("error")  # it only warns of an end before the end
            net.ParseFromString(file.read())
    except OSError as error:
        raise ModelError("%s cannot be read: %s" % (what, error.strerror or error))
    except Exception as error:  # DecodeError, whose home differs between releases of protobuf
        raise ModelError("Caffe2 (torch %s): %s is no NetDef: %s" % (_version(), what, error))
    if not net.op or not all(operator.type for operator in net.op):
        raise ModelError("Caffe2 (torch %s): %s has no operators" % (_version(), what))
    for operator in net.op:
        if operator.type.startswith(_OUTSIDE):
            raise ModelError("%s reaches outside the model with the operator `%s`" % (what, operator.type))
    return net


def _version():
    return installed_packages().get("torch", "?")


def _words(error):
    """The first line that says something: what follows is a C++ traceback."""
    return str(error).strip().split("\n")[0].split("Error from operator")[0].strip()


@tells_build("caffe2", "caffe2")
def _build():
    from caffe2.python import workspace

    told = workspace.GetBuildOptions() if hasattr(workspace, "GetBuildOptions") else {}
    return {
        "version": _version(),
        "blas": told.get("BLAS"),
        "flags": told.get("CXX_FLAGS"),
        "openmp": told.get("USE_OPENMP"),
        "onednn": told.get("USE_MKLDNN"),
        "options": ["%s=%s" % (name, value) for name, value in sorted(told.items()) if name != "CXX_FLAGS"],
    }
