"""Caffe 1.0 through pycaffe: a network (prototxt) and its weights (caffemodel).

Caffe ends the whole process wherever it finds something wrong, so a forked child goes first: what it survives is safe.
"""

import json
import os
import re
import tempfile
import warnings

from ..clock import nanoseconds
from ..parameters import Integer
from .build import tells_build
from .predictor import Layer, ModelError, Predictor, Tensor, predictor

# A network is data of a stranger's: these read or write files, or run Python.
_OUTSIDE = ("Data", "ImageData", "HDF5Data", "HDF5Output", "WindowData", "Python")
_FATAL = re.compile(r"^F\d+ [\d:.]+ +\d+ [^\]]+\] (.*)$", re.MULTILINE)


@predictor(packages=("caffe",))
def caffe(files, *, threads: Integer("Threads of the linear algebra library.", at_least=1, at_most=4096) = 1):
    """Caffe networks."""
    os.environ.setdefault("GLOG_minloglevel", "2")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(threads))
    import caffe as library
    from caffe.proto import caffe_pb2
    from google.protobuf import text_format

    if "weights" not in files:
        raise ModelError("Caffe needs two files: the network as `graph` (prototxt) and its `weights` (caffemodel)")
    version = library.__version__
    _set_threads(threads)
    network = _read(files["graph"], "the network").decode("utf-8", "replace")
    try:
        described = text_format.Merge(network, caffe_pb2.NetParameter())
    except Exception as error:  # ParseError, whose home differs between releases of protobuf
        raise ModelError("Caffe %s: the network is no prototxt: %s" % (version, error))
    _refuse_outside(described)
    stored, content = caffe_pb2.NetParameter(), _read(files["weights"], "the file of weights")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it only warns of an end before the end
            stored.ParseFromString(content)
    except Exception as error:
        raise ModelError("Caffe %s: the weights are no caffemodel: %s" % (version, error))

    def load():
        return library.Net(files["graph"], library.TEST, weights=files["weights"])

    with_weights = {layer.name for layer in list(stored.layer) + list(stored.layers) if layer.blobs}
    facts = _try_in_a_child(lambda tell: _examine(load, tell), version)
    lost = [name for name in facts["layers"] if name not in with_weights]
    if lost:  # Caffe would fill them with random numbers and say nothing
        raise ModelError("the caffemodel has no weights for %s" % ", ".join(lost))
    return Caffe(load(), facts)


class Caffe(Predictor):
    def __init__(self, net, facts):
        self._net = net
        self.inputs = [Tensor(name, "float32", facts["shapes"][name]) for name in facts["inputs"]]
        self.outputs = [Tensor(name, "float32", facts["shapes"][name]) for name in facts["outputs"]]

    def run(self, tensors):
        self._feed(tensors)
        answers = self._net.forward()
        return [answers[tensor.name].copy() for tensor in self.outputs]  # the next call writes over them

    def _feed(self, tensors):
        blobs, changed = self._net.blobs, False
        for tensor, value in zip(self.inputs, tensors):
            if blobs[tensor.name].data.shape != value.shape:
                blobs[tensor.name].reshape(*value.shape)
                changed = True
        if changed:
            self._net.reshape()
        for tensor, value in zip(self.inputs, tensors):
            blobs[tensor.name].data[...] = value

    def profile(self, tensors):
        self.run(tensors)  # memory is taken when it is first used
        self._feed(tensors)
        layers = []
        for place, name, layer in self._layers():
            start = nanoseconds()
            self._net._forward(place, place)
            spent = nanoseconds() - start
            shapes = [self._net.blobs[top].data.shape for top in self._net.top_names[name]]
            layers.append(Layer(name, layer.type, spent, shapes, start_ns=start))
        return layers

    def intermediates(self, tensors):
        self._feed(tensors)
        found = {}
        for place, name, layer in self._layers():  # one by one: many networks overwrite a blob with its ReLU
            self._net._forward(place, place)
            if layer.type != "Split":
                for top in self._net.top_names[name]:
                    found[top if top not in found else "%s/%s" % (top, name)] = self._net.blobs[top].data.copy()
        return found

    def _layers(self):
        named = zip(self._net._layer_names, self._net.layers)
        return [(place, name, layer) for place, (name, layer) in enumerate(named) if layer.type != "Input"]

    def close(self):
        self._net = None


def _read(path, what):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ModelError("%s cannot be read: %s" % (what, error.strerror or error))


def _refuse_outside(network):
    if not network.layer and not network.layers:
        raise ModelError("the network has no layers")
    kinds = type(network).DESCRIPTOR.fields_by_name["layers"].message_type.enum_types_by_name["LayerType"]
    used = [layer.type for layer in network.layer]
    # Before 2014 kinds were numbers with names in capitals: IMAGE_DATA.
    used += [kinds.values_by_number[layer.type].name.title().replace("_", "") for layer in network.layers]
    for kind in used:
        if kind in _OUTSIDE or kind.lower() in ("hdf5data", "hdf5output"):
            raise ModelError(
                "the network reaches outside the model with a layer of type `%s`; take the one meant for deployment, "
                "whose data come in through an Input layer" % kind
            )


def _examine(load, tell):
    """In the child: what the network takes and gives, and whether it takes another number of samples as well."""
    net = load()
    shapes = {name: list(blob.data.shape) for name, blob in net.blobs.items()}
    facts = {
        "inputs": list(net.inputs),
        "outputs": list(net.outputs),
        "layers": list(net.params.keys()),
        "shapes": {name: shapes[name] for name in list(net.inputs) + list(net.outputs)},
    }
    if not net.inputs:
        raise ModelError("the network has no input: it needs an Input layer, or `input` and `input_shape`")
    tell(facts)
    for name in net.inputs:
        net.blobs[name].reshape(*[shapes[name][0] + 1] + shapes[name][1:])
    net.reshape()
    for name in facts["shapes"]:
        other = net.blobs[name].data.shape
        facts["shapes"][name] = [size if size == another else None for size, another in zip(shapes[name], other)]
    tell(facts)


def _try_in_a_child(work, version):
    """The last thing that the child told before it ended or was ended; ModelError when it told nothing."""
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as complaints:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                import faulthandler
                import resource

                faulthandler.disable()  # its end is expected, and nobody's concern
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                os.dup2(complaints.fileno(), 2)

                def tell(facts):
                    os.write(told.fileno(), json.dumps(facts).encode("utf-8") + b"\n")

                work(tell)
                code = 0
            except BaseException as error:
                os.write(told.fileno(), json.dumps({"error": str(error)}).encode("utf-8") + b"\n")
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        told.seek(0)
        complaints.seek(0)
        heard = [json.loads(line) for line in told.read().decode("utf-8").splitlines()]
        complaint = complaints.read().decode("utf-8", "replace")
    facts = [each for each in heard if "error" not in each]
    if facts:
        return facts[-1]
    fatal = _FATAL.search(complaint)
    reason = fatal.group(1) if fatal else heard[-1]["error"] if heard else "its process ended with status %d" % status
    raise ModelError("Caffe %s cannot load the model: %s" % (version, reason))


def _set_threads(threads):
    """OpenBLAS reads its variable when it is loaded, which may have been long ago; it can be told later as well."""
    import ctypes

    for name in ("libopenblas.so.0", "libopenblas.so", "libblas.so.3"):
        try:
            library = ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)  # only where Caffe has it loaded
        except OSError:
            continue
        if hasattr(library, "openblas_set_num_threads"):
            library.openblas_set_num_threads(threads)
            return
    if threads > 1:
        raise ModelError("Caffe uses no OpenBLAS here, so it has one thread and not %d" % threads)


@tells_build("caffe", "caffe")
def _build():
    """Caffe knows its version; the linear algebra that it runs on is among what the process has loaded."""
    import caffe as library

    return {"version": getattr(library, "__version__", None)}
