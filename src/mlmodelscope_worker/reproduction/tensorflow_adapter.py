"""Models of TensorFlow: Keras models, whose variables and layers Keras knows itself."""

import sys
from collections import OrderedDict

import numpy as np

from .adapter import Adapter, alone
from .arrays import array_of, keep, kept
from .verdict import Failed, Skipped


class TensorFlowAdapter(Adapter):
    def __init__(self, code):
        Adapter.__init__(self, code)
        self._tensorflow = sys.modules.get("tensorflow")
        if self._tensorflow is None:
            raise Skipped("%s does not import tensorflow" % (code.name or "no code"))

    def tensor(self, array):
        return self._tensorflow.constant(array)

    def build(self, seed):
        keras = self._tensorflow.keras
        keras.backend.clear_session()  # layers without a name are numbered from the beginning: two models have the same
        getattr(keras.utils, "set_random_seed", self._tensorflow.random.set_seed)(seed)
        return Adapter.build(self, seed)

    def parameters(self, model):
        return _values(model.trainable_variables)

    def weights(self, model):
        return _values(model.variables)

    def with_parameters(self, model, values):
        known = dict(zip(_names(model.variables), model.variables))
        for name, value in values.items():
            known[name].assign(value)
        return model

    def gradients(self, model, inputs, targets):
        if "gradients" in self.code:
            return Adapter.gradients(self, model, inputs, targets)
        variables = model.trainable_variables
        with self._tensorflow.GradientTape() as tape:
            outputs = self.run(model, self.tensors(inputs))
            several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            loss = self.code.call("loss", alone(several), self.tensor(targets))
        found = self.code.guarded("the gradient of the loss", tape.gradient, loss, variables)
        return {
            name: None if each is None else np.array(self._tensorflow.convert_to_tensor(each))
            for name, each in zip(_names(variables), found)
        }

    def layers(self, model, inputs):
        """Of a model that Keras knows the graph of."""
        if "layers" in self.code or not getattr(model, "inputs", None):
            return Adapter.layers(self, model, inputs)
        layers = [each for each in model.layers if type(each).__name__ != "InputLayer"]
        look = self._tensorflow.keras.Model(model.inputs, [each.output for each in layers])
        found = look(alone(self.tensors(inputs)), training=False)
        several = found if isinstance(found, (list, tuple)) else [found]
        return [(each.name, type(each).__name__, array_of(value)) for each, value in zip(layers, several)]

    def save(self, model, path):
        if "save" in self.code:
            Adapter.save(self, model, path)
        else:
            keep(path, self.weights(model))

    def load(self, path, seed):
        if "load" in self.code:
            return Adapter.load(self, path, seed)
        model = self.build(seed + 1)
        if not model.variables:
            raise Failed("the model has no variables before it is called: `build` must build its layers")
        return self.with_parameters(model, kept(path))


def _names(variables):
    """Their paths; versions before Keras 3 repeat a name, so that its place follows."""
    found = []
    for each in variables:
        name = getattr(each, "path", None) or each.name
        found.append(name if name not in found else "%s#%d" % (name, len(found)))
    return found


def _values(variables):
    return OrderedDict((name, np.array(each)) for name, each in zip(_names(variables), variables))
