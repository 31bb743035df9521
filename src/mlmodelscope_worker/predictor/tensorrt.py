"""NVIDIA TensorRT 8 to 10: engines as they are, ONNX models built into one when they are opened.

TensorRT ends the process (8.6 with a segmentation fault) where there is no driver, so the driver is asked first. Memory
and copies go through the driver's own library; nothing but `tensorrt` has to be installed.
"""

import ctypes
import json

from ..parameters import Choice, Integer
from .predictor import Layer, ModelError, NotSupported, Predictor, Tensor, predictor

_TYPES = {
    "FLOAT": "float32",
    "HALF": "float16",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
}
_ENGINE_ENDS = (".engine", ".plan", ".trt")
_ENGINE_STARTS = (b"ptrt", b"ftrt")


@predictor(packages=("tensorrt", "tensorrt-cu12", "tensorrt-cu13", "tensorrt-cu11", "nvidia-tensorrt"))
def tensorrt(
    files,
    *,
    threads: Integer("Ignored, the work is the GPU's; here so that plans look alike.", at_least=1) = 1,
    device: Integer("Which GPU, counted from 0.", at_least=0, at_most=255) = 0,
    precision: Choice(
        "What ONNX models may be computed in; int8 wants a model that is quantised. Engines have theirs built in.",
        "float32",
        "tf32",
        "float16",
        "int8",
    ) = "float32",
    max_batch: Integer(
        "The largest batch that an ONNX model is built for, where it leaves that open.", at_least=1
    ) = 32,
    workspace_mib: Integer("Memory that building may use for trying things out.", at_least=1, at_most=1048576) = 1024,
):
    """TensorRT engines and ONNX models."""
    cuda = Cuda(device)
    import tensorrt as trt

    model = Builder(trt, cuda, files["graph"], precision, max_batch, workspace_mib)
    return TensorRT(trt, cuda, model.engine(), model)


class Builder(object):
    """From a file to an engine, with TensorRT's own words when that fails."""

    def __init__(self, trt, cuda, path, precision, max_batch, workspace_mib):
        self._trt, self._cuda = trt, cuda
        self._path, self._precision, self._max_batch = path, precision, max_batch
        self._workspace_bytes = workspace_mib << 20
        self._logger, self.complaints = _logger(trt)
        self._runtime = trt.Runtime(self._logger)
        try:
            with open(path, "rb") as file:
                start = file.read(4)
        except OSError as error:
            raise ModelError("the model cannot be read: %s" % (error.strerror or error))
        if not start:
            raise ModelError("the model is an empty file")
        self.is_engine = path.endswith(_ENGINE_ENDS) or start in _ENGINE_STARTS

    def engine(self, with_intermediates=False):
        self._cuda.use()
        if self.is_engine:
            with open(self._path, "rb") as file:
                plan = file.read()
        else:
            plan = self._build(with_intermediates)
        engine = self._runtime.deserialize_cuda_engine(plan)
        if engine is None:
            raise self._failure("cannot load the engine; engines run only on the release and GPU they were built for")
        return engine

    def _failure(self, what):
        reason = "; ".join(self.complaints[-3:])
        return ModelError("TensorRT %s %s%s" % (self._trt.__version__, what, ": " + reason if reason else ""))

    def _build(self, with_intermediates):
        trt = self._trt
        builder = trt.Builder(self._logger)
        explicit = getattr(trt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)  # the only kind since 10
        network = builder.create_network(0 if explicit is None else 1 << int(explicit))
        parser = trt.OnnxParser(network, self._logger)
        if not parser.parse_from_file(self._path):
            reasons = [parser.get_error(number).desc() for number in range(parser.num_errors)]
            words = "; ".join(reasons or self.complaints[-3:]) or "it is no protobuf"
            raise ModelError("TensorRT %s cannot read the ONNX model: %s" % (trt.__version__, words))
        if not network.num_inputs or not network.num_outputs:
            raise ModelError("TensorRT %s: the ONNX model has no inputs or no outputs" % trt.__version__)
        if with_intermediates:
            _mark_all(trt, network)
        config = builder.create_builder_config()
        if hasattr(config, "set_memory_pool_limit"):
            config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, self._workspace_bytes)
        else:  # before 8.4
            config.max_workspace_size = self._workspace_bytes
        if hasattr(trt, "ProfilingVerbosity"):  # names of layers and what they do; it costs no time when they run
            config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        self._set_precision(network, config)
        self._open_sizes(builder, network, config)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise self._failure("cannot build the model")
        return plan

    def _set_precision(self, network, config):
        flags = self._trt.BuilderFlag
        if self._precision == "float32":
            if hasattr(flags, "TF32"):
                config.clear_flag(flags.TF32)  # on by default, and it has 10 bits where float32 has 23
            return
        wanted = {"tf32": "TF32", "float16": "FP16", "int8": "INT8"}[self._precision]
        if not hasattr(flags, wanted):
            raise NotSupported("TensorRT %s cannot be told to use %s" % (self._trt.__version__, self._precision))
        if wanted == "INT8":
            kinds = {network.get_layer(place).type for place in range(network.num_layers)}
            if self._trt.LayerType.QUANTIZE not in kinds:
                raise ModelError(
                    "int8 needs a quantised model: this one has no QuantizeLinear, so its ranges are unknown"
                )
        config.set_flag(getattr(flags, wanted))

    def _open_sizes(self, builder, network, config):
        """Where the first size is open it is any batch from 1 to `max_batch`; further open sizes are refused."""
        profile, is_open = builder.create_optimization_profile(), False
        for place in range(network.num_inputs):
            value = network.get_input(place)
            sizes = list(value.shape)
            if any(size < 0 for size in sizes[1:]):
                spelt = ", ".join("?" if size < 0 else str(size) for size in sizes)
                raise NotSupported("input `%s` is [%s]: only the batch may be left open here" % (value.name, spelt))
            if sizes and sizes[0] < 0:
                is_open = True
                shapes = [[batch] + sizes[1:] for batch in (1, self._max_batch, self._max_batch)]
                profile.set_shape(value.name, *shapes)
        if is_open:
            config.add_optimization_profile(profile)


class TensorRT(Predictor):
    def __init__(self, trt, cuda, engine, model):
        self._trt, self._cuda, self._engine, self._model = trt, cuda, engine, model
        self._call = Call(trt, cuda, engine, model.complaints)
        self.inputs, self.outputs = self._call.inputs, self._call.outputs

    def run(self, tensors):
        return self._call(tensors)

    def profile(self, tensors):
        trt, spent = self._trt, []

        class Profiler(trt.IProfiler):
            def __init__(self):
                trt.IProfiler.__init__(self)

            def report_layer_time(self, layer_name, ms):
                spent.append((layer_name, ms))

        profiler = Profiler()
        self.run(tensors)  # the first call for a shape prepares things that belong to no layer
        try:
            self._call.context.profiler = profiler
            self.run(tensors)
        finally:  # a context keeps its profiler for good, and there may be only one context at a time
            self._call.close()
            self._call = Call(self._trt, self._cuda, self._engine, self._model.complaints)
        kinds = self._kinds()
        return [Layer(name, kinds.get(name, "layer"), ms * 1e6) for name, ms in spent]

    def _kinds(self):
        """{layer: what it does}, where the engine was built to tell."""
        if not hasattr(self._engine, "create_engine_inspector"):
            return {}
        inspector = self._engine.create_engine_inspector()
        text = inspector.get_engine_information(self._trt.LayerInformationFormat.JSON)
        layers = json.loads(text, strict=False).get("Layers", [])  # 8.6 writes control characters into names
        return {layer["Name"]: layer.get("LayerType", "layer") for layer in layers if isinstance(layer, dict)}

    def intermediates(self, tensors):
        if self._model.is_engine:
            raise NotSupported("an engine passes nothing on but its outputs; the ONNX model it was built from would")
        call = Call(self._trt, self._cuda, self._model.engine(with_intermediates=True), self._model.complaints)
        try:
            return dict(zip([tensor.name for tensor in call.outputs], call(tensors)))
        finally:
            call.close()

    def close(self):
        if self._call is not None:
            self._call.close()
        self._call = self._engine = self._model = None


class Call(object):
    """An execution context with memory for its tensors: copy there, compute, copy back.

    Since 8.5 tensors have names and addresses; before that they were numbered bindings.
    """

    def __init__(self, trt, cuda, engine, complaints):
        self._cuda = cuda
        self._complaints = complaints
        cuda.use()
        self._named = hasattr(engine, "num_io_tensors")
        if self._named:
            names = [engine.get_tensor_name(place) for place in range(engine.num_io_tensors)]
            are_inputs = [engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT for name in names]
            kinds = [engine.get_tensor_dtype(name) for name in names]
            shapes = [engine.get_tensor_shape(name) for name in names]
        else:
            places = range(engine.num_bindings)
            names = [engine.get_binding_name(place) for place in places]
            are_inputs = [engine.binding_is_input(place) for place in places]
            kinds = [engine.get_binding_dtype(place) for place in places]
            shapes = [engine.get_binding_shape(place) for place in places]
        self.inputs, self.outputs, self._places = [], [], {}
        for place, (name, is_input, kind, shape) in enumerate(zip(names, are_inputs, kinds, shapes)):
            if kind.name not in _TYPES:
                raise NotSupported("`%s` is %s, which numpy does not have" % (name, kind.name))
            tensor = Tensor(name, _TYPES[kind.name], [size if size >= 0 else None for size in shape])
            (self.inputs if is_input else self.outputs).append(tensor)
            self._places[name] = place
        self.context = engine.create_execution_context()
        if self.context is None:
            raise ModelError("TensorRT %s has no memory for this model on the GPU" % trt.__version__)
        self._stream = cuda.stream()
        self._memory = {}

    def __call__(self, tensors):
        import numpy as np

        self._cuda.use()
        for tensor, value in zip(self.inputs, tensors):
            value = np.ascontiguousarray(value)
            if not self._set_shape(tensor.name, value.shape):
                raise ModelError("TensorRT was not built for `%s` of the shape %s" % (tensor.name, list(value.shape)))
            self._cuda.copy_in(self._place(tensor.name, value.nbytes), value, self._stream)
        answers = []
        for tensor in self.outputs:
            shape = self._get_shape(tensor.name)
            if any(size < 0 for size in shape):
                raise NotSupported("the size of `%s` is known only when it is computed" % tensor.name)
            answers.append(np.empty(shape, tensor.element_type))
            self._place(tensor.name, answers[-1].nbytes)
        if self._named:
            for name, (address, _) in self._memory.items():
                self.context.set_tensor_address(name, address)
            done = self.context.execute_async_v3(self._stream)
        else:
            addresses = [self._memory[name][0] for name in sorted(self._places, key=self._places.get)]
            done = self.context.execute_async_v2(addresses, self._stream)
        if not done:
            raise ModelError(
                "TensorRT could not run the model: %s" % ("; ".join(self._complaints[-3:]) or "no reason given")
            )
        for tensor, answer in zip(self.outputs, answers):
            self._cuda.copy_out(answer, self._memory[tensor.name][0], self._stream)
        self._cuda.wait(self._stream)
        return answers

    def _set_shape(self, name, shape):
        if self._named:
            return self.context.set_input_shape(name, tuple(shape))
        return self.context.set_binding_shape(self._places[name], tuple(shape))

    def _get_shape(self, name):
        if self._named:
            return tuple(self.context.get_tensor_shape(name))
        return tuple(self.context.get_binding_shape(self._places[name]))

    def _place(self, name, nbytes):
        address, held = self._memory.get(name, (0, -1))
        if nbytes > held:
            if address:
                self._cuda.free(address)
            address = self._cuda.allocate(max(nbytes, 1))
            self._memory[name] = (address, nbytes)
        return address

    def close(self):
        self._cuda.use()
        self.context = None
        for address, _ in self._memory.values():
            self._cuda.free(address)
        self._memory = {}
        if self._stream:
            self._cuda.end_stream(self._stream)
        self._stream = None


class Cuda(object):
    """As much of the driver's interface as is needed; opening it is also how one knows that there is a GPU."""

    def __init__(self, number):
        try:
            self._driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise ModelError("TensorRT needs an NVIDIA GPU and its driver; there is no driver here (libcuda.so.1)")
        count, device = ctypes.c_int(), ctypes.c_int()
        try:
            self._ask("cuInit", 0)
            self._ask("cuDeviceGetCount", ctypes.byref(count))
        except ModelError as error:
            raise ModelError("TensorRT needs an NVIDIA GPU, and the driver finds none: %s" % error)
        if number >= count.value:
            raise ModelError("TensorRT should run on GPU %d, and there are %d" % (number, count.value))
        self._ask("cuDeviceGet", ctypes.byref(device), number)
        self._context = ctypes.c_void_p()
        # The context that CUDA's runtime, and so TensorRT, shares with everybody in this process.
        self._ask("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)

    def _ask(self, name, *arguments):
        code = getattr(self._driver, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._driver.cuGetErrorString(code, ctypes.byref(text))
            words = (text.value or b"no reason given").decode("utf-8", "replace")
            raise ModelError("%s fails with %d, %s" % (name, code, words))

    def use(self):
        """For the calling thread, which may be another each time."""
        self._ask("cuCtxSetCurrent", self._context)

    def stream(self):
        stream = ctypes.c_void_p()
        self._ask("cuStreamCreate", ctypes.byref(stream), 1)
        return stream.value

    def end_stream(self, stream):
        self._ask("cuStreamDestroy_v2", ctypes.c_void_p(stream))

    def wait(self, stream):
        self._ask("cuStreamSynchronize", ctypes.c_void_p(stream))

    def allocate(self, nbytes):
        address = ctypes.c_uint64()
        self._ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        return address.value

    def free(self, address):
        self._ask("cuMemFree_v2", ctypes.c_uint64(address))

    def copy_in(self, address, array, stream):
        size = ctypes.c_size_t(array.nbytes)
        source = ctypes.c_void_p(array.ctypes.data)
        self._ask("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), source, size, ctypes.c_void_p(stream))

    def copy_out(self, array, address, stream):
        size = ctypes.c_size_t(array.nbytes)
        target = ctypes.c_void_p(array.ctypes.data)
        self._ask("cuMemcpyDtoHAsync_v2", target, ctypes.c_uint64(address), size, ctypes.c_void_p(stream))


def _mark_all(trt, network):
    for place in range(network.num_layers):
        layer = network.get_layer(place)
        if layer.type in (trt.LayerType.CONSTANT, trt.LayerType.SHAPE):
            continue
        for number in range(layer.num_outputs):
            value = layer.get_output(number)
            if value is not None and not value.is_network_output and not value.is_shape_tensor:
                network.mark_output(value)


def _logger(trt):
    """(logger, what it heard that was an error)."""
    complaints = []

    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)

        def log(self, severity, message):
            if severity in (trt.ILogger.ERROR, trt.ILogger.INTERNAL_ERROR):
                complaints.append(message.strip())

    return Logger(), complaints
