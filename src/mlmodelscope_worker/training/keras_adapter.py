"""Trainings in Keras, as a package of its own or as TensorFlow's: models and optimizers know their variables."""

import sys
from collections import OrderedDict

import numpy as np

from ..functions import FunctionError
from .adapter import Adapter


class KerasAdapter(Adapter):
    framework = "keras"

    def __init__(self, code):
        Adapter.__init__(self, code)
        self._tensorflow = sys.modules.get("tensorflow")
        self._keras = sys.modules.get("keras") or getattr(self._tensorflow, "keras", None)
        if self._keras is None:
            raise FunctionError("the training is written in keras, and its code imports neither keras nor tensorflow")

    def prepare(self, threads):
        if self._tensorflow is not None:
            try:
                self._tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
                self._tensorflow.config.experimental.enable_op_determinism()
            except (RuntimeError, AttributeError):  # the module has computed something already; or it is old
                pass

    def seed(self, number):
        Adapter.seed(self, number)
        self._keras.utils.set_random_seed(number % (1 << 32))

    def build(self, seed):
        self._keras.backend.clear_session()  # layers without a name are numbered anew: two models have the same names
        model = Adapter.build(self, seed)
        if not getattr(model, "variables", None):
            name = self.code.name("model")
            raise FunctionError("`%s` returned a model without variables: build its layers there" % name)
        return model

    def start(self, model):
        """Optimizers make their variables at their first step, unless they are told to: checkpoints need them."""
        state = Adapter.start(self, model)
        for each in _optimizers(state):
            if hasattr(each, "build") and not getattr(each, "built", False):
                each.build(model.trainable_variables)
        return state

    def tensor(self, array):
        if self._tensorflow is not None:
            return self._tensorflow.convert_to_tensor(array)
        return self._keras.ops.convert_to_tensor(array)

    def array(self, value):
        ops = getattr(self._keras, "ops", None)
        try:
            return Adapter.array(self, ops.convert_to_numpy(value) if ops is not None else value)
        except Exception:
            return None

    def called(self, model, tensors):
        return model(tensors, training=False)

    def state_of(self, model, state):
        return {"model": _values(model.variables), "state": self._packed(state)}

    def restored(self, model, state, kept):
        _assign(model.variables, kept["model"])
        return model, self._unpacked(state, kept["state"])

    def _packed(self, value):
        if _is_optimizer(value):
            return {"variables": _values(_variables(value))}
        if isinstance(value, dict):
            return {key: self._packed(each) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self._packed(each) for each in value)
        return value

    def _unpacked(self, made, kept):
        if _is_optimizer(made):
            _assign(_variables(made), kept["variables"])
            return made
        if isinstance(kept, dict):
            return {key: self._unpacked((made or {}).get(key), each) for key, each in kept.items()}
        if type(kept) in (list, tuple):
            parts = made if made is not None else [None] * len(kept)
            return type(kept)(self._unpacked(one, each) for one, each in zip(parts, kept))
        return kept

    def weights(self, model):
        return OrderedDict(zip(_names(model.weights), _values(model.weights)))

    def filled(self, model, weights):
        own = self.weights(model)
        self.refuse_others({name: each.shape for name, each in own.items()}, weights)
        _assign(model.weights, [weights[name] for name in own])
        return model

    def without_head(self, model, head):
        """A model of Keras's own graph that ends where its head begins."""
        layers = [each for each in model.layers if any(each.name.startswith(name) for name in head)]
        if not layers or not getattr(model, "inputs", None):
            raise FunctionError("the model has no layer `%s` that could be left out as its head" % head[0])
        return self._keras.Model(model.inputs, layers[0].input)


def _is_optimizer(value):
    return hasattr(value, "apply_gradients") and hasattr(value, "variables")


def _optimizers(state):
    if _is_optimizer(state):
        return [state]
    parts = state.values() if isinstance(state, dict) else state if isinstance(state, (list, tuple)) else ()
    return [found for each in parts for found in _optimizers(each)]


def _variables(optimizer):
    found = optimizer.variables
    return found() if callable(found) else found


def _values(variables):
    return [np.array(each) for each in variables]


def _assign(variables, values):
    if len(variables) != len(values):
        raise FunctionError("a checkpoint has %d variables, the model %d" % (len(values), len(variables)))
    for variable, value in zip(variables, values):
        variable.assign(value)


def _names(variables):
    """Their paths; versions before Keras 3 repeat a name, so that its place follows."""
    found = []
    for each in variables:
        name = getattr(each, "path", None) or each.name
        found.append(name if name not in found else "%s#%d" % (name, len(found)))
    return found
