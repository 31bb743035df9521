"""NVIDIA TensorRT 8 to 10: engines as they are, ONNX models built into one when they are opened.

TensorRT ends the process (8.6 with a segmentation fault) where there is no driver, so the driver is asked first. Memory
and copies go through the driver's own library; nothing but `tensorrt` has to be installed.
"""

import json

from ..parameters import Choice, Integer
from .build import tells_build
from .cuda import Cuda
from .device import Device
from .predictor import COPY_IN, COPY_OUT, RUN, Layer, NotSupported, Predictor, predictor
from .tensorrt_build import Builder
from .tensorrt_call import Call


@predictor(
    packages=("tensorrt", "tensorrt-cu12", "tensorrt-cu13", "tensorrt-cu11", "nvidia-tensorrt"), versions=">=8.5 <99"
)
def tensorrt(
    files,
    *,
    threads: Integer("Ignored, the work is the GPU's; here so that plans look alike.", at_least=1) = 1,
    device: Device("Which GPU runs the model; there is no other kind of device.", families=("cuda",)) = "cuda",
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
    cuda = Cuda("TensorRT", device)
    import tensorrt as trt

    model = Builder(trt, cuda, files["graph"], precision, max_batch, workspace_mib)
    return TensorRT(trt, cuda, model.engine(), model)


class TensorRT(Predictor):
    def __init__(self, trt, cuda, engine, model):
        self._trt, self._cuda, self._engine, self._model = trt, cuda, engine, model
        self._call = Call(trt, cuda, engine, model.complaints)
        self.inputs, self.outputs = self._call.inputs, self._call.outputs

    def run(self, tensors):
        return self._call(tensors)

    def parts(self):
        return [(COPY_IN, self._copy_in), (RUN, self._compute), (COPY_OUT, self._call.fetch)]

    def _copy_in(self, tensors):
        self._call.send(tensors)
        self._call.wait()

    def _compute(self, _):
        shapes = self._call.compute()
        self._call.wait()
        return shapes

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


@tells_build("tensorrt", "tensorrt")
def _build():
    import tensorrt as trt

    return {"version": trt.__version__}
