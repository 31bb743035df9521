"""A model that a library builds (timm, torchvision, transformers), as a predictor."""

import importlib

from ..builder.built import read_build
from .predictor import Tensor
from .pytorch_module import PyTorch


def open_built(torch, files, device, names):
    """The module that the files describe, on its device."""
    build = read_build(files)
    make = importlib.import_module("mlmodelscope_worker.builder.%s" % build.builder).build
    return BuiltModel(torch, make(torch, build), device, names)


class BuiltModel(PyTorch):
    def __init__(self, torch, built, device, names):
        PyTorch.__init__(self, torch, device)
        self._module = built.module.to(self._device)
        self._wait()
        self.inputs = list(built.inputs)
        self.outputs = [Tensor(name, None, None) for name in names] if names else list(built.outputs)
