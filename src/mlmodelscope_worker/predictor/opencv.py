"""OpenCV's DNN module. It computes in NCHW whatever the file says: TensorFlow's pictures go in channels first."""

import os
import re

from ..parameters import Choice, Flag, Integer
from ..pipeline import library
from . import kind, protobuf
from .build import tells_build, value_after
from .file_tensors import READERS
from .onnx_places import refuse_outside
from .opencv_layers import DeclaredOutputs
from .passed import Passed
from .predictor import Layer, ModelError, NotSupported, Predictor, Profile, Tensor, predictor
from .protobuf import Damaged
from .tflite_file import FULLY_CONNECTED, TfliteFile

_ENGINES = {"auto": "ENGINE_AUTO", "classic": "ENGINE_CLASSIC", "new": "ENGINE_NEW"}


@predictor(packages=library.PACKAGES["opencv"], versions=">=3.4")
def opencv(
    files,
    *,
    threads: Integer("Threads of OpenCV, in this whole process.", at_least=1, at_most=4096) = 1,
    engine: Choice(
        "Which of the engines of OpenCV 5 runs the model; OpenCV 4 has the classic one.", *sorted(_ENGINES)
    ) = ("auto"),
    winograd: Flag("Whether convolutions may be computed by Winograd's method, which rounds otherwise.") = True,
    allow_known_defects: Flag("Whether models run that this release of OpenCV is known to compute wrongly.") = False,
):
    """ONNX, TensorFlow, TensorFlow Lite and (before OpenCV 5) Caffe models on OpenCV's DNN module."""
    try:
        cv2 = library.load("opencv").cv2  # it is imported in one place only
    except library.MissingLibrary as error:
        raise ImportError(str(error))
    version = "OpenCV %s" % cv2.__version__
    try:
        format_name, data = _recognise(files)
        inputs, outputs = READERS[format_name](data)
    except (OSError, Damaged, ValueError) as error:
        raise ModelError("%s cannot load the model: %s" % (version, error))
    if not inputs:
        raise ModelError("%s cannot load the model: it has no input" % version)
    if engine == "new" and not hasattr(cv2.dnn, "ENGINE_NEW"):
        raise ModelError("%s has the classic engine only" % version)
    for name, element_type, _ in inputs:
        if element_type != "float32":
            raise ModelError("%s computes in float32, input `%s` takes %s" % (version, name, element_type))
    defect = _known_defect(cv2, format_name, data)
    if defect and not allow_known_defects:
        raise ModelError("%s %s (`allow_known_defects: true` runs it all the same)" % (version, defect))

    def start(engine=engine, content=None):
        net = _open(cv2, format_name, files, engine, version) if content is None else _open_bytes(cv2, content)
        net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        if not winograd and hasattr(net, "enableWinograd"):  # OpenCV 3.4 has no such method
            net.enableWinograd(False)
        return net

    try:
        net = start()
        if net.empty():
            raise ModelError("%s cannot load the model: it sees no layers in it" % version)
        is_new = engine != "classic" and format_name == "onnx" and hasattr(cv2.dnn, "ENGINE_NEW")
        predictor = OpenCv(cv2, net, start, inputs, outputs, format_name, files["graph"] if is_new else None)
    except cv2.error as error:
        raise ModelError("%s cannot load the model: %s" % (version, str(error).strip().replace("\n", " ")))
    cv2.setNumThreads(threads)
    return predictor


class OpenCv(Predictor):
    concurrent = False  # a net has one set of inputs

    def __init__(self, cv2, net, start, inputs, outputs, format_name, declarable):
        """`declarable` is the file of a model that the new engine may run."""
        self._cv2 = cv2
        self._net = net
        self._start = start
        self._declarable = declarable
        self._timed = self._talkative = self._declared = None
        self.inputs = [Tensor(name, "float32", _as_opencv(shape, format_name)) for name, _, shape in inputs]
        shapes = {name: shape for name, _, shape in outputs}
        names = list(net.getUnconnectedOutLayersNames())
        if shapes and set(shapes).issuperset(names):  # in the file's own order, which OpenCV 4 does not keep
            names = [name for name in shapes if name in names]
        if format_name == "caffe":
            shapes = self._settle_caffe(names)
        self.outputs = [Tensor(name, "float32", shapes.get(name)) for name in names]
        self._input_names = [tensor.name for tensor in self.inputs] if len(inputs) > 1 else [""]
        self._output_names = names

    def run(self, tensors):
        return self._ask(self._net, tensors, self._output_names)

    def profile(self, tensors):
        """Layers by OpenCV's names; what is fused into the layer before it has no time of its own and is left out."""
        if self._timed is None:
            self._timed = self._start()
        self._ask(self._timed, tensors, self._output_names)  # the first run also reserves memory
        return self._profiled(self._timed, tensors)

    def first_profile(self, tensors):
        return Profile(self._profiled(self._start(), tensors))

    def _profiled(self, net, tensors):
        self._ask(net, tensors, self._output_names)
        ticks = net.getPerfProfile()[1]
        layers, told = [], self._shapes(net, tensors)
        for name, spent in zip(net.getLayerNames(), [float(each) for each in ticks]):
            if spent > 0:
                layer = net.getLayer(net.getLayerId(name))
                inputs, outputs = told.get(net.getLayerId(name), ([], []))
                weights = [[int(size) for size in blob.shape] for blob in layer.blobs] if inputs else []
                layers.append(
                    Layer(
                        name,
                        layer.type,
                        spent * 1e9 / self._cv2.getTickFrequency(),
                        outputs,
                        inputs=inputs + weights,
                        outputs=outputs,
                        element_type="float32",
                    )
                )
        return layers

    def _shapes(self, net, tensors):
        """{a layer's number: its inputs' and its outputs' shapes}; OpenCV 5's new engine does not tell them."""
        asked = [[int(size) for size in tensor.shape] for tensor in tensors]
        try:
            ids, inputs, outputs = net.getLayersShapes(asked if len(asked) > 1 else asked[0])
        except (AttributeError, self._cv2.error):
            return {}
        numbers = [int(number) for number in (ids.ravel() if hasattr(ids, "ravel") else ids)]
        plain = [[[[int(size) for size in shape] for shape in each] for each in some] for some in (inputs, outputs)]
        return dict(zip(numbers, zip(*plain)))

    def intermediates(self, tensors):
        """What each layer passes on, with nothing fused."""
        return {passed.name: passed.value for passed in self.layers(tensors)}

    def layers(self, tensors):
        """By the engine that answers where it can be asked, else by the classic one, of whose layers it knows nothing
        but kinds."""
        declared = self._all_declared()
        if declared is not None:
            for passed in declared.passed(self._ask(declared.net, tensors, declared.names)):
                yield passed
            return
        net = self._opened_classic()
        names = list(net.getLayerNames())
        for name, value in zip(names, self._ask(net, tensors, names)):
            yield Passed(name, value, net.getLayer(net.getLayerId(name)).type)

    def graph(self):
        declared = self._all_declared()
        return Predictor.graph(self) if declared is None else declared.graph

    def _all_declared(self):
        """None where the classic engine runs the model, or where the new one does not take all that is declared."""
        if self._declarable is not None and self._declared is None:
            try:
                self._start("new")  # else `auto` has chosen the classic engine
                self._declared = DeclaredOutputs(
                    protobuf.view(self._declarable), lambda content: self._start("new", content)
                )
            except (ModelError, Damaged, OSError, self._cv2.error):
                self._declarable = None
        return self._declared

    def _opened_classic(self):
        if self._talkative is None:
            try:
                net = self._start("classic")
                net.enableFusion(False)
            except (ModelError, self._cv2.error) as error:
                raise NotSupported(
                    "OpenCV %s has a known defect: `forward(name)` of its new engine answers with another layer's "
                    "tensor and no error. Its classic engine answers right, and does not take this model: %s"
                    % (self._cv2.__version__, str(error).strip().replace("\n", " "))
                )
            self._talkative = net
        return self._talkative

    def close(self):
        if self._net is not None:
            self._cv2.setNumThreads(0)  # as the image steps want it
        self._net = self._timed = self._talkative = self._declared = None

    def _ask(self, net, tensors, names):
        for name, tensor in zip(self._input_names, tensors):
            net.setInput(tensor, name)
        return list(net.forward(names))

    def _settle_caffe(self, names):
        """The outputs' shapes. A network of Caffe states a batch size and takes any, unless it reshapes by itself."""
        shapes = [list(tensor.shape or ()) for tensor in self.inputs]
        if not all(shapes):
            return {}
        seen = []
        for more in (0, 1):
            asked = [[shape[0] + more] + shape[1:] for shape in shapes]
            try:
                ids, _, found = self._net.getLayersShapes(asked if len(asked) > 1 else asked[0])
            except self._cv2.error:
                return {}
            places = {
                int(number): place for place, number in enumerate(list(ids.ravel() if hasattr(ids, "ravel") else ids))
            }
            seen.append({name: [int(n) for n in found[places[self._net.getLayerId(name)]][0]] for name in names})
        known = {}
        for name in names:
            one, other = seen[0][name], seen[1][name]
            known[name] = [size if size == another else None for size, another in zip(one, other)]
        if all(shape[:1] == [None] and None not in shape[1:] for shape in known.values()):
            self.inputs = [Tensor(each.name, "float32", [None] + list(each.shape[1:])) for each in self.inputs]
            return known
        return seen[0]


def _recognise(files):
    """(format, the graph's bytes)"""
    path = files["graph"]
    if os.path.isdir(path):
        raise Damaged("OpenCV reads files, not folders")
    found = kind.kind_of(path)
    if found is None and "weights" in files:
        list(protobuf.fields(protobuf.view(files["weights"])))
        found = "caffe"
    if found not in READERS:
        raise Damaged("it is no ONNX, TensorFlow, TensorFlow Lite or Caffe model, or it is cut off")
    return found, protobuf.view(path)


def _open(cv2, format_name, files, engine, version):
    if format_name == "caffe":
        if not hasattr(cv2.dnn, "readNetFromCaffe"):
            raise ModelError("%s does not read Caffe models any more; OpenCV 4 does" % version)
        return cv2.dnn.readNetFromCaffe(files["graph"], files["weights"])
    read = {
        "onnx": cv2.dnn.readNetFromONNX,
        "tflite": getattr(cv2.dnn, "readNetFromTFLite", None),
        "frozen_graph": cv2.dnn.readNetFromTensorflow,
    }[format_name]
    if format_name == "onnx":
        refuse_outside(files["graph"])
    if read is None:
        raise ModelError("%s does not read TensorFlow Lite models; OpenCV 4.8 and newer do" % version)
    if hasattr(cv2.dnn, "ENGINE_AUTO"):
        return read(files["graph"], engine=getattr(cv2.dnn, _ENGINES[engine]))
    return read(files["graph"])


def _open_bytes(cv2, content):
    """An ONNX model of the new engine."""
    import numpy as np

    return cv2.dnn.readNetFromONNX(np.frombuffer(content, np.uint8), engine=cv2.dnn.ENGINE_NEW)


def _known_defect(cv2, format_name, data):
    """What this release is known to compute wrongly, without a word, in a model like this."""
    if format_name == "tflite" and cv2.__version__.startswith("4."):  # OpenCV 3 does not read it at all
        for code, inputs, _ in TfliteFile(data).operators:
            if code == FULLY_CONNECTED and len(inputs) > 2 and inputs[2] >= 0:
                return (
                    "computes this model wrongly, a known defect: it drops the bias of FULLY_CONNECTED in TensorFlow "
                    "Lite models, of which this model has one; OpenCV 5 does not"
                )
    return None


def _as_opencv(shape, format_name):
    if shape is not None and len(shape) == 4 and format_name in ("tflite", "frozen_graph"):
        return [shape[0], shape[3], shape[1], shape[2]]
    return shape


_FACTS = {
    "compiler": r"C\+\+ Compiler:",
    "flags": r"C\+\+ flags \(Release\):",
    "blas": r"Lapack:",
    "cuda": r"NVIDIA CUDA:",
    "cudnn": r"cuDNN:",
}
_SETTINGS = ("Parallel framework:", "Intel IPP:", "JPEG:", "Configuration:", "Algorithm Hint:")


@tells_build("opencv", "opencv")
def _build():
    cv2 = library.load("opencv").cv2
    told = cv2.getBuildInformation()
    facts = {name: value_after(told, label) for name, label in _FACTS.items()}
    chosen = [(label, value_after(told, re.escape(label))) for label in _SETTINGS]
    line = cv2.getCPUFeaturesLine() if hasattr(cv2, "getCPUFeaturesLine") else ""
    facts.update(
        version=cv2.__version__,
        instruction_sets=(value_after(told, "Baseline:") or "").split(),
        dispatched=(value_after(told, "Dispatched code generation:") or "").split(),
        used=" ".join(word.lstrip("*") for word in line.split() if word[:1] == "*" and word[-1:] != "?"),
        options=["%s %s" % (label, value) for label, value in chosen if value],
    )
    return facts
