"""From a file to a TensorRT engine: engines as they are, ONNX models built into one."""

from .onnx_places import refuse_outside
from .predictor import ModelError, NotSupported

_ENGINE_ENDS = (".engine", ".plan", ".trt")
_ENGINE_STARTS = (b"ptrt", b"ftrt")


class Builder(object):
    """From a file to an engine, with TensorRT's own words when that fails."""

    def __init__(self, trt, cuda, path, precision, max_batch, workspace_mib):
        self._trt, self._cuda = trt, cuda
        self._path, self._precision, self._max_batch = path, precision, max_batch
        self._workspace_bytes = workspace_mib << 20
        self._logger, self.complaints = _listen(trt)
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
        refuse_outside(self._path)
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


def _mark_all(trt, network):
    for place in range(network.num_layers):
        layer = network.get_layer(place)
        if layer.type in (trt.LayerType.CONSTANT, trt.LayerType.SHAPE):
            continue
        for number in range(layer.num_outputs):
            value = layer.get_output(number)
            if value is not None and not value.is_network_output and not value.is_shape_tensor:
                network.mark_output(value)


def _listen(trt):
    """(logger, what it heard that was an error)."""
    complaints = []

    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)

        def log(self, severity, message):
            if severity in (trt.ILogger.ERROR, trt.ILogger.INTERNAL_ERROR):
                complaints.append(message.strip())

    return Logger(), complaints
