"""TensorFlow Lite: LiteRT, tflite-runtime, or what TensorFlow itself carries.

An interpreter keeps its inputs and outputs in memory of its own, so both are copied, once. What is quantised stays
quantised: numbers go in and come out as the model has them.
"""

import warnings

from ..parameters import Flag, Integer
from ..pipeline import library
from . import litert_profiler
from .build import tells_build
from .predictor import ModelError, NotSupported, Predictor, Tensor, no_call, predictor
from .protobuf import Damaged, view
from .tflite_file import TfliteFile

_WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
_OF_XNNPACK = ("Convolution", "Fully Connected", "Deconvolution")
_ENDS = ("inputs", "outputs")


@predictor(packages=("ai-edge-litert", "tflite-runtime", "tensorflow", "tensorflow-cpu"))
def tflite(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    xnnpack: Flag("Whether operators that XNNPACK has run there, as they do by default.") = True,
):
    """TensorFlow Lite models on LiteRT, or on the TensorFlow Lite runtimes before it."""
    try:
        module, version = _find_runtime()
    except library.MissingLibrary as error:
        raise ImportError(str(error))
    try:
        TfliteFile(view(files["graph"]))
    except (OSError, Damaged) as error:
        raise ModelError("%s cannot load the model: %s" % (version, error))

    def start(delegates=xnnpack, keep_all=False):
        resolver = "AUTO" if delegates else "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
        interpreter = module.Interpreter(
            model_path=files["graph"],
            num_threads=threads,
            experimental_op_resolver_type=getattr(module.OpResolverType, resolver),
            experimental_preserve_all_tensors=keep_all,
        )
        interpreter.allocate_tensors()
        return interpreter

    try:
        interpreter = start()
    except Exception as error:  # RuntimeError and ValueError, by what is wrong and by release
        raise ModelError("%s cannot load the model: %s" % (version, error))
    return Tflite(interpreter, start, version, files["graph"], threads, xnnpack)


class Tflite(Predictor):
    concurrent = False  # an interpreter has one set of inputs

    def __init__(self, interpreter, start, version, path, threads, xnnpack):
        self._interpreter = interpreter
        self._talkative = None
        self._kinds = {}
        self._start = start
        self._version = version
        self._path = path
        self._threads = threads
        self._xnnpack = xnnpack
        self.inputs = [_describe(details) for details in interpreter.get_input_details()]
        self.outputs = [_describe(details) for details in interpreter.get_output_details()]
        self._input_places = [details["index"] for details in interpreter.get_input_details()]
        self._output_places = [details["index"] for details in interpreter.get_output_details()]
        # Plain integers: numpy's own take microseconds to compare, in every call.
        self._shapes = [tuple(int(size) for size in details["shape"]) for details in interpreter.get_input_details()]

    def run(self, tensors):
        shapes = [tensor.shape for tensor in tensors]
        if shapes != self._shapes:
            self._shapes = None  # it may fail half-way
            self._feed_shapes(self._interpreter, shapes)
            self._shapes = shapes
        return self._ask(self._interpreter, tensors)

    def profile(self, tensors):
        """The kernels that LiteRT ran, by its own names."""
        return self.profile_runs(tensors, 1)[-1]

    def profile_runs(self, tensors, runs, between=no_call):
        if not self._version.startswith("LiteRT") or len(tensors) != 1:
            raise NotSupported(
                "LiteRT alone profiles layers, of models with one input; this is %s and the model has %d"
                % (self._version, len(tensors))
            )
        answers = self.run(tensors)
        profiles = litert_profiler.profile_runs(
            self._path, self._threads, self._xnnpack, tensors[0], answers, runs, between
        )
        operators = self._weighted(tensors)
        for profile in profiles:
            _tell_shapes(profile, operators)
        return profiles

    def _weighted(self, tensors):
        """[(operator, its inputs, its outputs)] of the file's operators that have weights, with this batch's shapes."""
        try:
            interpreter = self._start(delegates=False)
            self._feed_shapes(interpreter, [tensor.shape for tensor in tensors])
            operators = interpreter._get_ops_details()
        except (AttributeError, RuntimeError, ValueError):  # no public way leads there
            return []
        known = {each["index"]: each for each in interpreter.get_tensor_details()}
        return [
            tuple([each["op_name"]] + [[known[place] for place in each[name] if place in known] for name in _ENDS])
            for each in operators
            if each["op_name"] in _WEIGHTED
        ]

    def intermediates(self, tensors):
        """What each operator passes on, by its tensors' names; nothing is fused or left to XNNPACK."""
        if self._talkative is None:
            self._talkative = self._start(delegates=False, keep_all=True)
        interpreter = self._talkative
        self._feed_shapes(interpreter, [tensor.shape for tensor in tensors])
        self._ask(interpreter, tensors)
        names = {details["index"]: details["name"] for details in interpreter.get_tensor_details()}
        values = {}
        for operator in interpreter._get_ops_details():
            for place in operator["outputs"]:
                name = names[place] if names[place] and names[place] not in values else "%s#%d" % (names[place], place)
                try:
                    values[name] = interpreter.get_tensor(place)
                except ValueError:  # words, resources, and what no operator filled
                    continue
                self._kinds[name] = operator["op_name"]
        return values

    def kinds(self):
        return self._kinds

    def close(self):
        self._interpreter = self._talkative = None

    def _feed_shapes(self, interpreter, shapes):
        for place, shape in zip(self._input_places, shapes):
            interpreter.resize_tensor_input(place, shape, strict=True)
        interpreter.allocate_tensors()

    def _ask(self, interpreter, tensors):
        for place, tensor in zip(self._input_places, tensors):
            interpreter.set_tensor(place, tensor)
        interpreter.invoke()
        return [interpreter.get_tensor(place) for place in self._output_places]


def _tell_shapes(layers, operators):
    """Of the layers that have weights. What XNNPACK runs has no name, but keeps the order of the file: told where
    there are as many here as there, of the same kinds, and nowhere else."""
    own = [layer for layer in layers if layer.kind in _WEIGHTED or layer.kind.split(" (")[0] in _OF_XNNPACK]
    alike = len(own) == len(operators) and all(
        name == layer.kind if layer.kind in _WEIGHTED else name == "DEPTHWISE_CONV_2D" or "DWConv" not in layer.kind
        for layer, (name, _, _) in zip(own, operators)
    )
    for layer, (name, inputs, outputs) in zip(own, operators) if alike else ():
        layer.inputs, layer.outputs = (
            [[int(size) for size in each["shape"]] for each in some] for some in (inputs, outputs)
        )
        layer.shapes = layer.outputs
        layer.element_type = _describe(outputs[0]).element_type
        layer.moved_bytes = sum(_size_of(each) for each in inputs + outputs)
        layer.more["operator"] = name


def _size_of(details):
    import numpy as np

    return int(np.dtype(details["dtype"]).itemsize * np.prod(details["shape"], dtype=np.int64))


def _describe(details):
    import numpy as np

    sizes = details["shape_signature"] if len(details.get("shape_signature", ())) else details["shape"]
    shape = [int(size) if size > 0 else None for size in sizes]
    return Tensor(details["name"], np.dtype(details["dtype"]).name, shape)


def _find_runtime():
    """The first runtime that is installed, and its name and version."""
    try:
        import ai_edge_litert
        from ai_edge_litert import interpreter

        return interpreter, "LiteRT %s" % getattr(ai_edge_litert, "__version__", "")
    except ImportError:
        pass
    try:
        import tflite_runtime
        from tflite_runtime import interpreter

        return interpreter, "tflite-runtime %s" % tflite_runtime.__version__
    except ImportError:
        pass
    tensorflow = library.load("tensorflow").tf  # it is imported in one place only
    return _OfTensorFlow(tensorflow.lite), "TensorFlow Lite %s" % tensorflow.__version__


class _OfTensorFlow(object):
    """`tensorflow.lite` in the form of the runtimes' own modules."""

    def __init__(self, lite):
        self._lite = lite
        self.OpResolverType = lite.experimental.OpResolverType

    def Interpreter(self, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that LiteRT has taken over; here it is not installed
            return self._lite.Interpreter(**settings)


@tells_build("tflite", "tflite")
def _build():
    """The runtimes tell nothing but their version: what they calculate with is built into them."""
    return {"version": _find_runtime()[1]}
