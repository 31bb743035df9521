"""The adapter of each framework, imported when a training is written in it."""

from .adapter import Adapter


def adapter_for(framework, code):
    if framework == "pytorch":
        from .pytorch_adapter import PyTorchAdapter

        return PyTorchAdapter(code)
    if framework == "keras":
        from .keras_adapter import KerasAdapter

        return KerasAdapter(code)
    if framework == "jax":
        from .jax_adapter import JaxAdapter

        return JaxAdapter(code)
    return Adapter(code)
