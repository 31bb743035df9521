"""One call of a TensorRT engine: copy there, compute, copy back."""

from .predictor import ModelError, NotSupported, Tensor

_TYPES = {
    "FLOAT": "float32",
    "HALF": "float16",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
}


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
        """All three, in turn on the stream, with one wait at the end."""
        self.send(tensors)
        return self.fetch(self.compute())

    def send(self, tensors):
        """Copy the inputs there."""
        import numpy as np

        self._cuda.use()
        for tensor, value in zip(self.inputs, tensors):
            value = np.ascontiguousarray(value)
            if not self._set_shape(tensor.name, value.shape):
                raise ModelError("TensorRT was not built for `%s` of the shape %s" % (tensor.name, list(value.shape)))
            self._cuda.copy_in(self._place(tensor.name, value.nbytes), value, self._stream)

    def compute(self):
        """Run the engine on what was sent; what comes out has these shapes."""
        import numpy as np

        shapes = [self._get_shape(tensor.name) for tensor in self.outputs]
        for tensor, shape in zip(self.outputs, shapes):
            if any(size < 0 for size in shape):
                raise NotSupported("the size of `%s` is known only when it is computed" % tensor.name)
            count = int(np.prod(shape, dtype=np.int64))
            self._place(tensor.name, count * np.dtype(tensor.element_type).itemsize)
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
        return shapes

    def fetch(self, shapes):
        """Copy the outputs back, and wait until they are here."""
        import numpy as np

        answers = [np.empty(shape, tensor.element_type) for tensor, shape in zip(self.outputs, shapes)]
        for tensor, answer in zip(self.outputs, answers):
            self._cuda.copy_out(answer, self._memory[tensor.name][0], self._stream)
        self.wait()
        return answers

    def wait(self):
        self._cuda.wait(self._stream)

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
