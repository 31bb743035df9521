"""OpenVINO: its own IR, and what it reads beside it. Inputs are used where they lie; answers are copied out once."""

import os
import threading

from ..clock import nanoseconds
from ..parameters import Choice, Integer, Text
from . import kind
from .build import tells_build
from .onnx_graph import Graph
from .onnx_places import refuse_outside
from .predictor import Layer, ModelError, NotSupported, Predictor, Profile, Tensor, no_call, predictor
from .protobuf import Damaged, view
from .tflite_file import TfliteFile

_TYPES = {
    "f32": "float32",
    "f16": "float16",
    "f64": "float64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "boolean": "bool",
}
_UNCOUNTED = 3  # profiled runs before those that count
_AT_ONCE = 5  # profiled runs between plain ones
_ROUNDED_OFF_NS = 1000


@predictor(packages=("openvino",), versions=">=2023.1")
def openvino(
    files,
    *,
    threads: Integer("Threads that work on the model, all streams together.", at_least=1, at_most=4096) = 1,
    streams: Integer("Requests that run side by side, each with its share of the threads.", at_least=1) = 1,
    precision: Choice("What float32 models are computed in.", "f32", "f16", "bf16") = "f32",
    device: Text("Which of OpenVINO's devices runs the model; there is no silent fall-back.") = "CPU",
):
    """OpenVINO IR, ONNX, TensorFlow and TensorFlow Lite models on OpenVINO."""
    import openvino as ov

    if not hasattr(ov, "Core"):  # told apart here: its other functions have other names and arguments, too
        raise ModelError("this OpenVINO is older than 2023.1, the first release with today's Python interface")
    core = ov.Core()
    version = "openvino %s" % ov.__version__.split("-")[0]
    if device.split(".")[0] not in core.available_devices:
        raise ModelError("%s has no device %s; it has %s" % (version, device, ", ".join(core.available_devices)))
    settings = {"NUM_STREAMS": str(streams), "INFERENCE_PRECISION_HINT": precision}
    if device == "CPU":
        settings["INFERENCE_NUM_THREADS"] = threads
    try:
        model = _read(core, files)
        compiled = core.compile_model(model, device, settings)
    except (OSError, Damaged) as error:
        raise ModelError("%s cannot load the model: %s" % (version, error))
    except Exception as error:  # RuntimeError, with a story of several lines
        raise ModelError("%s cannot load the model: %s" % (version, _reason(error)))

    def start(instrument=None, **more):
        fresh = _read(core, files)
        if instrument is not None:
            instrument(fresh)
        return core.compile_model(fresh, device, dict(settings, **more))

    return OpenVino(compiled, start, files["graph"] if kind.kind_of(files["graph"]) == "onnx" else None)


class OpenVino(Predictor):
    concurrent = True  # each thread has its own request; how many run side by side is up to `streams`

    def __init__(self, compiled, start, file):
        """`file` is that of an ONNX model."""
        self._compiled = compiled
        self._file = file
        self._start = start
        self._talkative = None
        self._lane = threading.local()
        self.inputs = [_describe(port, "input") for port in compiled.inputs]
        self.outputs = [_describe(port, "output") for port in compiled.outputs]
        self._answers = range(len(self.outputs))

    def run(self, tensors):
        request = getattr(self._lane, "request", None)
        if request is None:
            request = self._lane.request = self._compiled.create_infer_request()
        answers = request.infer(dict(enumerate(tensors)), share_inputs=True, share_outputs=False)
        return [answers[place] for place in self._answers]

    def profile(self, tensors):
        """What the device executed; what was fused into something else has no time of its own and is left out."""
        return self.profile_runs(tensors, 1)[-1]

    def profile_runs(self, tensors, runs, between=no_call):
        """Once, the mean of the runs: a node's time is that of all its runs so far, the first ones included, at the
        mean, so those are taken off again. A few runs follow one another, so that most find caches of their own."""
        compiled = self._start(PERF_COUNT=True)
        request = compiled.create_infer_request()
        feed = dict(enumerate(tensors))
        for _ in range(_UNCOUNTED):  # the first run also prepares kernels
            request.infer(feed)
        before = [_UNCOUNTED * info.real_time.total_seconds() for info in request.profiling_info]
        spent_ns = 0
        for first in range(0, runs, _AT_ONCE):
            some = min(_AT_ONCE, runs - first)
            for _ in range(some):
                between()
            start = nanoseconds()
            for _ in range(some):
                request.infer(feed)
            spent_ns += nanoseconds() - start
        layers, told = [], _executed(compiled)
        for info, spent_s in zip(request.profiling_info, before):
            if str(info.status).endswith("EXECUTED"):
                mean_s = ((_UNCOUNTED + runs) * info.real_time.total_seconds() - spent_s) / runs
                said = told.get(info.node_name, {})
                layers.append(Layer(info.node_name, info.node_type, max(0.0, mean_s) * 1e9, **said))
        profile = Profile(layers, spent_ns // runs)
        # Its counters keep whole microseconds of each run, rounded down, and so does their mean.
        profile.correct(_ROUNDED_OFF_NS, "added to each layer, which is what OpenVINO rounds off on average")
        return [profile]

    def first_profile(self, tensors):
        request = self._start(PERF_COUNT=True).create_infer_request()
        start = nanoseconds()
        request.infer(dict(enumerate(tensors)))
        call_ns = nanoseconds() - start
        executed = [info for info in request.profiling_info if str(info.status).endswith("EXECUTED")]
        return Profile(
            [Layer(info.node_name, info.node_type, info.real_time.total_seconds() * 1e9) for info in executed], call_ns
        )

    def intermediates(self, tensors):
        """What the graph's operations make of the inputs, by the operations' names."""
        if self._talkative is None:
            places, kinds = {}, {}
            compiled = self._start(lambda model: places.update(_add_outputs(model, kinds)))
            self._talkative = compiled, places, kinds
        compiled, places, _ = self._talkative
        answers = compiled.create_infer_request().infer(dict(enumerate(tensors)))
        return {name: answers[place] for name, place in places.items()}

    def kinds(self):
        return {} if self._talkative is None else self._talkative[2]

    def layers(self, tensors):
        """With what an ONNX file says of its nodes: OpenVINO keeps their names, and calls kinds and attributes
        otherwise."""
        try:
            graph = self.graph()
        except NotSupported:
            graph = None
        for passed in Predictor.layers(self, tensors):
            node = graph.named(passed.name) if graph is not None else None
            if node is not None and len(node.outputs) == 1:
                passed.kind, passed.attributes, passed.layer = node.kind, dict(node.attributes), node.name
                passed.takes = [each for each in node.inputs if each in graph.makers or each in graph.inputs]
            yield passed

    def graph(self):
        if self._file is None:
            return Predictor.graph(self)
        try:
            return Graph(view(self._file))
        except (OSError, Damaged) as error:
            raise NotSupported("no layer of this model can be taken apart: %s" % error)

    def ends(self):
        makers = {place: name for name, place in self._talkative[1].items()} if self._talkative is not None else {}
        return {output.name: makers[place] for place, output in enumerate(self.outputs) if place in makers}

    def close(self):
        self._compiled = self._talkative = None
        self._lane = threading.local()


def _executed(compiled):
    """{name: what is known of its tensors} for each node as the device executes it, its weights among the inputs."""
    told = {}
    for node in compiled.get_runtime_model().get_ordered_ops():
        ports = [list(node.inputs()), list(node.outputs())]
        if any(port.get_partial_shape().is_dynamic for some in ports for port in some):
            continue
        inputs, outputs = ([[int(size) for size in port.get_shape()] for port in some] for some in ports)
        moved = sum(port.get_element_type().size * _product(port.get_shape()) for some in ports for port in some)
        kind_of_tensor = (ports[0] or ports[1])[0].get_element_type().get_type_name()
        told[node.get_friendly_name()] = {
            "shapes": outputs,
            "inputs": inputs,
            "outputs": outputs,
            "element_type": _TYPES.get(kind_of_tensor),
            "moved_bytes": moved,
        }
    return told


def _product(shape):
    count = 1
    for size in shape:
        count *= int(size)
    return count


def _add_outputs(model, kinds):
    """Make outputs of all that depends on the inputs: {name: number of the output}, and `kinds` by name."""
    places, alive = {}, set()
    taken = {output.get_node().input_value(0): place for place, output in enumerate(model.outputs)}
    for operation in model.get_ordered_ops():
        kind_of_operation, own = operation.get_type_name(), operation.get_friendly_name()
        sources = [port.get_source_output().get_node().get_friendly_name() for port in operation.inputs()]
        if kind_of_operation == "Parameter" or alive.intersection(sources):
            alive.add(own)
        if own not in alive or kind_of_operation in ("Parameter", "Result", "Assign"):
            continue
        for number, port in enumerate(operation.outputs()):
            if port.get_element_type().get_type_name() in _TYPES:
                if port not in taken:
                    taken[port] = len(model.outputs)
                    model.add_outputs(port)
                name = "%s.%d" % (own, number) if len(operation.outputs()) > 1 else own
                places[name], kinds[name] = taken[port], kind_of_operation
    return places


def _read(core, files):
    """The model as OpenVINO sees it. It goes by a file's name, so the file gets one that fits its content."""
    found = kind.kind_of(files["graph"])
    if found == "saved_model":
        return core.read_model(files["graph"])
    if found is None:
        raise Damaged("it is no OpenVINO IR, ONNX, TensorFlow or TensorFlow Lite model, or it is cut off")
    if found == "tflite":
        TfliteFile(view(files["graph"]))
    if found == "onnx":
        refuse_outside(files["graph"])
    paths = {"model" + kind.SUFFIXES[found]: files["graph"]}
    if found == "openvino":
        paths["model.bin"] = files["weights"] if "weights" in files else os.path.splitext(files["graph"])[0] + ".bin"
        if not os.path.isfile(paths["model.bin"]):
            raise Damaged("the weights (.bin) of this OpenVINO IR are missing")
    with kind.named(paths) as folder:
        return core.read_model(os.path.join(folder, "model" + kind.SUFFIXES[found]))


def _describe(port, what):
    names = sorted(port.get_names())
    name = names[0] if names else port.get_node().get_friendly_name()
    element_type = port.get_element_type().get_type_name()
    if element_type not in _TYPES:
        raise ModelError("%s `%s` holds %s, which are not numbers as we know them" % (what, name, element_type))
    shape = port.get_partial_shape()
    if shape.rank.is_dynamic:
        return Tensor(name, _TYPES[element_type], None)
    return Tensor(name, _TYPES[element_type], [size.get_length() if size.is_static else None for size in shape])


def _reason(error):
    """The last line that says something: those before it are places in OpenVINO's own source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


@tells_build("openvino", "openvino")
def _build():
    import openvino as ov

    core = ov.Core() if hasattr(ov, "Core") else None
    devices = list(core.available_devices) if core is not None else []
    plugins = ["%s %s" % (each.description, each.build_number) for each in core.get_versions("CPU").values()]
    can = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") if "CPU" in devices else ()
    version = ov.get_version() if hasattr(ov, "get_version") else ov.__version__
    return {"version": version, "options": plugins + ["CPU can %s" % each for each in can]}
