"""Models of JAX: parameters are a tree of arrays, and functions of the module take them."""

import sys
from collections import OrderedDict

import numpy as np

from .adapter import Adapter, alone
from .arrays import keep, kept
from .verdict import Skipped


class JaxAdapter(Adapter):
    def __init__(self, code):
        Adapter.__init__(self, code)
        self._jax = sys.modules.get("jax")
        if self._jax is None:
            raise Skipped("%s does not import jax" % (code.name or "no code"))

    def tensor(self, array):
        return self._jax.numpy.asarray(array)

    def parameters(self, model):
        """By the path in the tree, such as `dense.0.weights`."""
        found = self._jax.tree_util.tree_flatten_with_path(model)[0]
        return OrderedDict((_spelled(path), np.array(value)) for path, value in found)

    def with_parameters(self, model, values):
        leaves, tree = self._jax.tree_util.tree_flatten(model)
        names = list(self.parameters(model))
        new = [self.tensor(values[name]) if name in values else leaf for name, leaf in zip(names, leaves)]
        return self._jax.tree_util.tree_unflatten(tree, new)

    def gradients(self, model, inputs, targets):
        if "gradients" in self.code:
            return Adapter.gradients(self, model, inputs, targets)

        def loss(parameters):
            outputs = self.run(parameters, self.tensors(inputs))
            several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            return self.code.call("loss", alone(several), self.tensor(targets))

        found = self.code.guarded("the gradient of the loss", self._jax.grad(loss), model)
        return dict(self.parameters(found))

    def save(self, model, path):
        if "save" in self.code:
            Adapter.save(self, model, path)
        else:
            keep(path, self.parameters(model))

    def load(self, path, seed):
        if "load" in self.code:
            return Adapter.load(self, path, seed)
        return self.with_parameters(self.build(seed + 1), kept(path))


def _spelled(path):
    return ".".join(str(getattr(each, "key", getattr(each, "idx", getattr(each, "name", each)))) for each in path)
