"""Trainings in JAX: models and optimizers are trees of arrays, which functions take and return."""

import sys
from collections import OrderedDict

import numpy as np

from ..functions import FunctionError
from .adapter import Adapter

_KEY = "typed key of random numbers"


class JaxAdapter(Adapter):
    framework = "jax"

    def __init__(self, code):
        Adapter.__init__(self, code)
        self._jax = sys.modules.get("jax")
        if self._jax is None:
            raise FunctionError("the training is written in jax, and its code does not import jax")

    def tensor(self, array):
        return self._jax.numpy.asarray(array)

    def state_of(self, model, state):
        """As arrays of NumPy: a checkpoint is of no device."""
        return {"model": self._leaves(model), "state": self._leaves(state)}

    def restored(self, model, state, kept):
        return self._tree(model, kept["model"]), self._tree(state, kept["state"])

    def _leaves(self, tree):
        return [self._kept(each) for each in self._jax.tree_util.tree_leaves(tree)]

    def _kept(self, leaf):
        if not isinstance(leaf, self._jax.Array):
            return leaf
        if self._jax.numpy.issubdtype(leaf.dtype, self._jax.dtypes.prng_key):
            return {_KEY: np.asarray(self._jax.random.key_data(leaf)), "impl": str(self._jax.random.key_impl(leaf))}
        return np.asarray(leaf)

    def _tree(self, made, leaves):
        """The tree of a state that was just made, with the leaves of the one that was kept."""
        own, shape = self._jax.tree_util.tree_flatten(made)
        if len(own) != len(leaves):
            raise FunctionError("the state of a checkpoint has %d arrays, a new one %d" % (len(leaves), len(own)))
        return self._jax.tree_util.tree_unflatten(shape, [self._made(one, each) for one, each in zip(own, leaves)])

    def _made(self, own, leaf):
        if isinstance(leaf, dict) and _KEY in leaf:
            return self._jax.random.wrap_key_data(self.tensor(leaf[_KEY]), impl=leaf["impl"])
        if isinstance(own, self._jax.Array) or isinstance(leaf, np.ndarray):
            return self._jax.numpy.asarray(leaf) if isinstance(own, self._jax.Array) else leaf
        return leaf

    def weights(self, model):
        """By the path in the tree, such as `dense.0.weights`."""
        found = self._jax.tree_util.tree_flatten_with_path(model)[0]
        return OrderedDict((_spelled(path), np.asarray(value)) for path, value in found)

    def filled(self, model, weights):
        own = self.weights(model)
        self.refuse_others({name: each.shape for name, each in own.items()}, weights)
        shape = self._jax.tree_util.tree_flatten(model)[1]
        return self._jax.tree_util.tree_unflatten(shape, [self.tensor(weights[name]) for name in own])


def _spelled(path):
    parts = [getattr(each, "key", getattr(each, "idx", getattr(each, "name", each))) for each in path]
    return ".".join(map(str, parts)) or "model"
