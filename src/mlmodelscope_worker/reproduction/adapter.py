"""What a check asks of a model, whatever it is written in. This file is for models of plain NumPy.

The module's functions come first everywhere; what it leaves out, the framework's own way does.
"""

from collections import OrderedDict

import numpy as np

from .arrays import array_of, spread_out
from .verdict import CodeError, Failed, Skipped


def alone(values):
    """One tensor by itself, several as a list: this is how functions get them."""
    values = list(values)
    return values[0] if len(values) == 1 else values


class Adapter(object):
    def __init__(self, code):
        self.code = code

    def tensor(self, array):
        """An array as the framework has it; of its own, because functions may write into what they get."""
        return np.array(array)

    def tensors(self, arrays):
        return [self.tensor(each) for each in arrays]

    def build(self, seed):
        return self.code.call("build", seed)

    def forward(self, model, inputs):
        """The outputs as arrays."""
        return self.as_arrays(self.run(model, self.tensors(inputs)))

    def as_arrays(self, outputs):
        several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        found = [array_of(each) for each in several]
        if not found or any(each is None for each in found):
            raise Failed("`forward` returns %s, which is no tensor" % type(outputs).__name__)
        return found

    def run(self, model, tensors):
        if "forward" in self.code:
            return self.code.call("forward", model, alone(tensors))
        if not callable(model):
            raise Skipped("%s has no `forward`, and its model cannot be called" % self.code.name)
        return self.code.guarded("the model", model, *tensors)

    def parameters(self, model):
        """Copies of what is trained, by name."""
        return OrderedDict((name, np.array(value)) for name, value in self.live(model).items())

    def live(self, model):
        if "parameters" in self.code:
            found = self.code.call("parameters", model)
        else:
            found = model if isinstance(model, dict) else getattr(model, "parameters", None)
        if not isinstance(found, dict) or not all(isinstance(each, np.ndarray) for each in found.values()):
            raise Skipped("the model has no parameters: `parameters(model)` returns a mapping of arrays")
        return found

    def with_parameters(self, model, values):
        """The model with other values of some parameters."""
        found = self.live(model)
        for name, value in values.items():
            found[name][...] = value
        again = self.live(model)
        if any(not np.array_equal(again[name], found[name]) for name in values):
            raise Failed("`parameters` returns copies: what is written into them does not reach the model")
        return model

    def weights(self, model):
        """Whatever another implementation needs to give the same answers."""
        return self.parameters(model)

    def with_weights(self, model, weights):
        """The model with the weights of another implementation."""
        if "load_weights" in self.code:
            changed = self.code.call("load_weights", model, OrderedDict(weights))
            return model if changed is None else changed
        own = self.parameters(model)
        if {name: value.shape for name, value in own.items()} != {name: each.shape for name, each in weights.items()}:
            raise Skipped(
                "%s has no `load_weights(model, weights)`, and its parameters are not called as the original's"
                % self.code.name
            )
        return self.with_parameters(model, weights)

    def loss(self, outputs, targets):
        """The loss of arrays, as an array."""
        found = array_of(self.code.call("loss", alone(self.tensors(outputs)), self.tensor(targets)))
        if found is None:
            raise Failed("`loss` returns no number")
        return found

    def loss_of(self, model, inputs, targets):
        found = self.loss(self.forward(model, inputs), targets)
        if found.size != 1:
            raise Failed("`loss` returns the shape %s, where one number can be trained with" % list(found.shape))
        return float(found.reshape(()))

    def gradients(self, model, inputs, targets):
        """Of the loss, by parameter; None for one that gets no gradient."""
        found = self.code.call("gradients", model, alone(self.tensors(inputs)), self.tensor(targets))
        if not isinstance(found, dict):
            raise Failed("`gradients` returns %s, not a mapping by parameter" % type(found).__name__)
        return {name: None if value is None else np.asarray(value) for name, value in found.items()}

    def layers(self, model, inputs):
        """[(name, kind, array)] in the order of execution."""
        if "layers" not in self.code:
            return []
        found = self.code.call("layers", model, alone(self.tensors(inputs)))
        pairs = found.items() if isinstance(found, dict) else found
        try:
            return [
                (str(name), "", array) for name, value in pairs for _, array in spread_out(value) if array is not None
            ]
        except (TypeError, ValueError):
            raise CodeError("`layers` returns neither a mapping nor a list of (name, tensor)")

    def save(self, model, path):
        self.code.call("save", model, path)

    def load(self, path, seed):
        return self.code.call("load", path)

    def start(self, model):
        """The state of the optimizer."""
        return self.code.call("start", model) if "start" in self.code else None

    def train_step(self, model, state, inputs, targets):
        """(model, state, loss) after one step."""
        found = self.code.call("train_step", model, state, alone(self.tensors(inputs)), self.tensor(targets))
        if not isinstance(found, (tuple, list)) or len(found) != 3:
            raise Failed("`train_step` must return (model, state, loss)")
        loss = array_of(found[2])
        if loss is None or loss.size != 1:
            raise Failed("the loss that `train_step` returns is no number")
        return found[0], found[1], float(loss.reshape(()))
