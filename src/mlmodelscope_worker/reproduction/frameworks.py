"""The adapter of each framework, imported when a module is written in it."""

from .adapter import Adapter


def adapter_for(framework, code):
    """The adapter of a framework; the module has imported the framework itself, or is not written in it."""
    if framework == "pytorch":
        from .pytorch_adapter import PyTorchAdapter

        return PyTorchAdapter(code)
    if framework == "jax":
        from .jax_adapter import JaxAdapter

        return JaxAdapter(code)
    if framework == "tensorflow":
        from .tensorflow_adapter import TensorFlowAdapter

        return TensorFlowAdapter(code)
    return Adapter(code)
