"""TensorFlow Lite: LiteRT, tflite-runtime, or what TensorFlow itself carries.

An interpreter keeps its inputs and outputs in memory of its own, so both are copied, once. What is quantised stays
quantised: numbers go in and come out as the model has them.
"""

import warnings

from ..parameters import Flag, Integer
from ..pipeline import library
from . import litert_profiler
from .predictor import ModelError, NotSupported, Predictor, Profile, Tensor, predictor
from .protobuf import Damaged, view
from .tflite_file import TfliteFile


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
        if not self._version.startswith("LiteRT") or len(tensors) != 1:
            raise NotSupported(
                "LiteRT alone profiles layers, of models with one input; this is %s and the model has %d"
                % (self._version, len(tensors))
            )
        answers = self.run(tensors)
        return litert_profiler.profile(self._path, self._threads, self._xnnpack, tensors[0], answers)

    def profile_runs(self, tensors, runs, between=None):
        """Once: what LiteRT tells is the mean of several calls already."""
        return [Profile(self.profile(tensors))]

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
        return values

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
