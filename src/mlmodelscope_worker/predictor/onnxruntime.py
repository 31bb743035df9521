"""ONNX Runtime. On the CPU `session.run` takes numpy's memory as it is and answers with its own: nothing is copied."""

import bisect
import json
import os
import re
import shutil
import tempfile

from ..clock import nanoseconds
from ..parameters import Choice, Integer, Text
from . import protobuf
from .build import tells_build
from .cuda import count_gpus
from .device import Device, choose
from .model_folder import graph_of
from .onnx_graph import Graph
from .onnx_places import refuse_outside
from .onnx_walk import walk
from .onnxruntime_cost import profiler_ns
from .onnxruntime_weights import add_weights
from .predictor import (
    COPY_IN,
    COPY_OUT,
    RUN,
    Layer,
    ModelError,
    NotSupported,
    Predictor,
    Profile,
    Tensor,
    no_call,
    predictor,
)

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
_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
}
_ON_CUDA = ("CUDAExecutionProvider", "TensorrtExecutionProvider")
_OPTIMISATION = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
# Since which release it reads which IR version and operator set at the most, as tried with each from 1.4 to 1.31.
_READS = (
    ((1, 4), (7, 12)),
    ((1, 6), (7, 13)),
    ((1, 8), (7, 14)),
    ((1, 9), (8, 15)),
    ((1, 11), (8, 16)),
    ((1, 12), (8, 17)),
    ((1, 14), (8, 18)),
    ((1, 15), (9, 19)),
    ((1, 17), (9, 20)),
    ((1, 18), (10, 21)),
    ((1, 21), (10, 22)),
    ((1, 23), (11, 23)),
    ((1, 24), (13, 25)),
    ((1, 25), (13, 26)),
)
NEWEST_STACK = "onnxruntime-1.31"
_OWN_FORMAT = ".ort"
"""Its own format, which has its numbers inside. It goes by the name alone, whatever the first bytes say."""
_SIZES = ("output_size", "activation_size", "parameter_size")  # of what a node gives, takes, and has as weights


@predictor(
    packages=("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml"), versions=">=1.4"
)
def onnxruntime(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    inter_op_threads: Integer("Operators that may run side by side.", at_least=1, at_most=4096) = 1,
    device: Device(
        "Where the model runs; `tensorrt` is a GPU, used through TensorRT. There is no silent fall-back.",
        families=tuple(_PROVIDERS),
    ) = "cpu",
    execution_provider: Text("Which execution provider runs the graph; the device's own when left out.") = None,
    graph_optimization: Choice("How far the graph is rewritten before it runs.", *sorted(_OPTIMISATION)) = "all",
):
    """ONNX models on ONNX Runtime."""
    import onnxruntime as ort

    provider, number = _choose_provider(ort, device, execution_provider)
    providers = _with_options(provider, number)

    def start(model=None, profile_prefix=None, optimisation=graph_optimization):
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
        return ort.InferenceSession(graph if model is None else model, options, providers=providers)

    graph = graph_of(files["graph"])
    if not graph.lower().endswith(_OWN_FORMAT):
        refuse_outside(graph)
    try:
        session = start()
    except Exception as error:  # its exception classes differ by release and share no base but Exception
        raise ModelError(
            _too_new(graph, ort.__version__, error)
            or "onnxruntime %s cannot load the model: %s" % (ort.__version__, error)
        )
    if session.get_providers()[0] != provider:
        raise ModelError(
            "onnxruntime %s fell back from %s to %s; most often a library that it needs cannot be loaded"
            % (ort.__version__, provider, session.get_providers()[0])
        )
    memory = ("cuda", number) if provider in _ON_CUDA else None
    return OnnxRuntime(ort, session, start, graph, memory)


def _choose_provider(ort, device, named):
    """(provider, number of the device); what is not in this build, or not in this machine, is refused."""
    version, known = "onnxruntime %s" % ort.__version__, ort.get_available_providers()
    if named and named not in known:
        raise ModelError("%s has no %s; it has %s" % (version, named, ", ".join(known)))
    gpus = count_gpus()
    counts = {each: gpus if each != "cpu" else 1 for each in _PROVIDERS if _PROVIDERS[each] in known}
    family, number = choose(version, device, counts, "execution providers of this build: %s" % ", ".join(known))
    if named and family != "cpu" and _PROVIDERS[family] != named:
        raise ModelError("the device `%s` means %s, the options also say %s" % (device, _PROVIDERS[family], named))
    provider = named or _PROVIDERS[family]
    if provider in _ON_CUDA and hasattr(ort, "preload_dlls"):
        ort.preload_dlls()  # CUDA's libraries, where pip installed them
    return provider, number


def _with_options(provider, number):
    """What a session takes; operators that TensorRT has not are CUDA's, and those that CUDA has not the CPU's."""
    if provider not in _ON_CUDA:
        return [provider]
    used = [provider] if provider == "CUDAExecutionProvider" else [provider, "CUDAExecutionProvider"]
    return [(each, {"device_id": str(number)}) for each in used]


class OnnxRuntime(Predictor):
    concurrent = outputs_last = True

    def __init__(self, ort, session, start, path, memory=None):
        """`memory` is (kind, number) of the device's own memory, where it has any."""
        self._ort = ort
        self._memory = memory
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

    def parts(self):
        if self._memory is None:
            return Predictor.parts(self)
        return [(COPY_IN, self._copy_in), (RUN, self._compute), (COPY_OUT, self._copy_out)]

    def _copy_in(self, tensors):
        binding = self._session.io_binding()
        for name, tensor in zip(self._input_names, tensors):
            binding.bind_ortvalue_input(name, self._ort.OrtValue.ortvalue_from_numpy(tensor, *self._memory))
        for name in self._output_names:
            binding.bind_output(name, *self._memory)
        if hasattr(binding, "synchronize_inputs"):  # 1.8 has no such thing
            binding.synchronize_inputs()
        return binding

    def _compute(self, binding):
        self._session.run_with_iobinding(binding)
        if hasattr(binding, "synchronize_outputs"):
            binding.synchronize_outputs()
        return binding

    def _copy_out(self, binding):
        return [value.numpy() for value in binding.get_outputs()]

    def profile(self, tensors):
        """The graph as it is optimised for `run`: `graph_optimization: disabled` keeps the model's own names."""
        return self.profile_runs(tensors, 1)[-1]

    def profile_runs(self, tensors, runs, between=no_call):
        def calls(call):
            call()  # the first run also reserves memory
            spent = [None]
            for _ in range(runs):
                between()
                call()
                start = nanoseconds()
                call()
                spent += [None, nanoseconds() - start]
            return spent

        return self._corrected(self._profiled(tensors, calls), tensors)

    def _corrected(self, profiles, tensors):
        """Without what the profiler takes for itself between the layers of a call with these tensors."""
        try:  # on a device of its own the profiler's work is not in the layers
            cost_ns = profiler_ns(self._start, lambda: self.run(tensors)) if self._memory is None else 0
        except Exception:  # a release or a provider that does not take the graph that tells it
            cost_ns = 0
        for profile in profiles:
            profile.correct(-cost_ns, "taken off each layer, which is what ONNX Runtime's profiler takes for itself")
        return profiles

    def profile_calls(self, use):
        given = []

        def calls(call):
            spent = []

            def run(tensors):
                given[:] = tensors
                start = nanoseconds()
                outputs = call(tensors)
                spent.append(nanoseconds() - start)
                return outputs

            use(run)
            return spent

        return self._corrected(self._profiled(None, calls), given)

    def first_profile(self, tensors):
        def calls(call):
            start = nanoseconds()
            call()
            return [nanoseconds() - start]

        return self._profiled(tensors, calls)[0]

    def _profiled(self, tensors, make_calls):
        """Profiles of the calls whose durations `make_calls` tells; it gets a function that calls once, by default with
        these tensors."""
        folder = tempfile.mkdtemp(prefix="mlmodelscope-profile-")
        try:
            session = self._start(profile_prefix=os.path.join(folder, "ort"))
            names, inputs = self._output_names, self._input_names
            calls = make_calls(lambda given=tensors: session.run(names, dict(zip(inputs, given))))
            with open(session.end_profiling(), "rb") as file:
                events = json.loads(file.read().decode("utf-8", "replace"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        profiles = [profile for profile in _profiles(events, calls) if profile.call_ns is not None]
        add_weights(self._path, profiles)
        return profiles

    def intermediates(self, tensors):
        """What every node passes on, with nothing fused. Sequences and words are passed over."""
        if self._talkative is None:
            self._talkative = self._open_talkative()
        names = [value.name for value in self._talkative.get_outputs() if value.type in _TYPES]
        return dict(zip(names, self._talkative.run(names, dict(zip(self._input_names, tensors)))))

    def layers(self, tensors):
        """Node by node, as the file has them. What cannot be taken apart is read whole."""
        try:
            graph = Graph(protobuf.view(self._path))
        except (OSError, protobuf.Damaged):
            graph = None
        read = False
        if graph is not None:
            try:
                for passed in walk(graph, self._open_piece, dict(zip(self._input_names, tensors))):
                    read = True
                    yield passed
                return
            except Exception as error:  # sequences, weights beside the file, an operator that no piece can have alone
                if read:
                    raise NotSupported("onnxruntime cannot run this model node by node: %s" % error)
        for passed in Predictor.layers(self, tensors):
            yield passed

    def pieces(self):
        try:
            return Graph(protobuf.view(self._path)), self._open_piece
        except (OSError, protobuf.Damaged) as error:
            raise NotSupported("no layer of this model can be run alone: %s" % error)

    def _open_piece(self, model):
        return self._start(model, optimisation="disabled")

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


def _too_new(path, version, error):
    """In words of ours, where the file is of a newer ONNX than this release reads; None where it fails otherwise."""
    if not re.search("IR version|opset|file format version|No Op registered", str(error), re.IGNORECASE):
        return None
    release = tuple(int(part) for part in version.split(".")[:2])
    known = [limits for since, limits in _READS if since <= release]
    try:
        ir, opset = _versions(path)
    except (OSError, protobuf.Damaged):
        return None
    if not known or (ir <= known[-1][0] and opset <= known[-1][1]):
        return None
    able = [since for since, limits in _READS if ir <= limits[0] and opset <= limits[1]]
    if able:
        advice = "onnxruntime %d.%d and newer read it, such as the stack %s" % (able[0] + (NEWEST_STACK,))
    else:
        advice = "no release up to that of the stack %s reads it" % NEWEST_STACK
    return (
        "the ONNX file is too new for onnxruntime %s: it has IR version %d and operator set %d, and this release reads "
        "up to IR version %d and operator set %d. %s; or export it for operator set %d and older"
        % ((version, ir, opset) + known[-1] + (advice, known[-1][1]))
    )


def _versions(path):
    """(IR version, operator set): ModelProto.ir_version is 1, opset_import 8 with domain 1 and version 2."""
    model = protobuf.view(path)
    imports = [each for each in protobuf.each(model, 8) if protobuf.text(each, 1) in ("", "ai.onnx")]
    return protobuf.integer(model, 1), max([protobuf.integer(each, 2) for each in imports] or [0])


def _passed_on(model):
    """The outputs of the main graph's nodes, in order; ModelProto.graph is 7, its nodes 1, their outputs 2."""
    names = []
    for graph in protobuf.each(model, 7):
        for node in protobuf.each(graph, 1):
            names += [bytes(name).decode("utf-8", "replace") for name in protobuf.each(node, 2) if len(name)]
    return names


def _profiles(events, calls):
    """The layers of each run, which is an event of its own that is written when the run is over."""
    ends = sorted(1000 * (int(event["ts"]) + event["dur"]) for event in events if event.get("name") == "model_run")
    if not ends:  # a release that does not tell its runs apart
        return [Profile(filter(None, map(_layer, events)), calls[-1])]
    runs = [[] for _ in ends]
    for layer in filter(None, map(_layer, events)):
        runs[min(bisect.bisect_left(ends, layer.start_ns), len(ends) - 1)].append(layer)
    return [
        Profile(sorted(layers, key=lambda layer: layer.start_ns), call_ns, end - (call_ns or 0))
        for layers, call_ns, end in zip(runs, calls[-len(ends) :], ends)
    ]


def _layer(event):
    """The layer that an event is of, if it is of one."""
    name, said = event.get("name", ""), event.get("args", {})
    if event.get("cat") != "Node" or not name.endswith("_kernel_time"):
        return None
    outputs, inputs = _shapes(said.get("output_type_shape")), _shapes(said.get("input_type_shape"))
    own = name[: -len("_kernel_time")] or said.get("op_name", "")
    size, activations, parameters = (str(said.get(each, "")) for each in _SIZES)
    sized = size.isdigit() and activations.isdigit() and parameters.isdigit()
    return Layer(
        own,
        said.get("op_name") or "?",
        1000 * event["dur"],
        [shape for _, shape in outputs],
        start_ns=1000 * int(event["ts"]),
        memory_bytes=int(size) if size.isdigit() else None,
        inputs=[shape for _, shape in inputs],
        outputs=[shape for _, shape in outputs],
        element_type=_TYPES.get("tensor(%s)" % (inputs or outputs)[0][0]) if inputs or outputs else None,
        moved_bytes=int(size) + int(activations) + int(parameters) if sized and inputs else None,
    )


def _shapes(said):
    """[(element type, shape)] of tensors that an event tells of; sequences and words have neither."""
    return [list(each.items())[0] for each in said or () if each and isinstance(list(each.values())[0], list)]


def _describe(value):
    # A size is a number, or a name or None where the model leaves it open; no sizes at all mean that any shape will do.
    sizes = [size if isinstance(size, int) and size > 0 else None for size in value.shape]
    return Tensor(value.name, _TYPES[value.type], sizes or None)


@tells_build("onnxruntime", "onnxruntime")
def _build():
    import onnxruntime as ort

    told = ort.get_build_info() if hasattr(ort, "get_build_info") else ""  # since 1.15
    flags = re.search(r"cmake cxx flags: ([^,]*)", told)
    plain = [each.strip() for each in told.partition(":")[2].split(",") if "cxx flags" not in each]
    return {
        "version": ort.__version__,
        "flags": flags.group(1) if flags else None,
        "options": plain + ["provider %s" % name for name in ort.get_available_providers()],
    }
