"""What the loop asks of a model, whatever it is written in. This file is for models of plain NumPy.

A state is plain data that can be pickled: it becomes part of a checkpoint. `restored` gets a model and an optimizer
that were just made, and gives them back as they were.
"""

import random
from collections import OrderedDict

import numpy as np

from ..functions import FunctionError


class Adapter(object):
    framework = "numpy"

    def __init__(self, code):
        self.code = code

    # Beginning.

    def prepare(self, threads):
        """Called once, when the module is loaded."""

    def seed(self, number):
        """Every source of random numbers that functions may use without being given one."""
        random.seed(number)
        np.random.seed(number % (1 << 32))

    def build(self, seed):
        return self.code.call("model", seed)

    def start(self, model):
        """The optimizer, or whatever else a step hands to the next one."""
        return self.code.call("optimizer", model) if "optimizer" in self.code else None

    # A step, and a look at how good it is.

    def tensor(self, array):
        return array

    def tensors(self, value):
        if isinstance(value, dict):
            return {key: self.tensors(each) for key, each in value.items()}
        if isinstance(value, tuple):
            return tuple(self.tensors(each) for each in value)
        return self.tensor(value)

    def step(self, model, state, inputs, targets):
        """(model, state, loss) after one step."""
        found = self.code.call("training_step", model, state, self.tensors(inputs), self.tensors(targets))
        if not isinstance(found, (tuple, list)) or len(found) != 3:
            name = self.code.name("training_step")
            raise FunctionError(
                "`%s` must return (model, state, loss), it returned %.100r" % (name, type(found).__name__)
            )
        return found[0], found[1], self.number(found[2], self.code.name("training_step"))

    def number(self, value, name):
        array = self.array(value)
        if array is None or array.size != 1:
            raise FunctionError("`%s` returned no single number as the loss" % name)
        return float(array.reshape(()))

    def array(self, value):
        """A framework's tensor as an array of its own; None where it is no numbers."""
        try:
            found = np.array(value)
        except Exception:
            return None
        return found if found.dtype.kind in "biuf" else None

    def forward(self, model, inputs):
        """The model's outputs for a batch, as the framework has them."""
        if "forward" in self.code:
            return self.code.call("forward", model, self.tensors(inputs))
        if not callable(model):
            raise FunctionError("the training has no `%s`, and its model cannot be called" % self.code.name("forward"))
        return self.called(model, self.tensors(inputs))

    def features(self, model, inputs):
        """What the head of the model gets, by the manifest's own function."""
        return self.code.call("features", model, self.tensors(inputs))

    def called(self, model, tensors):
        return model(*tensors) if isinstance(tensors, tuple) else model(tensors)

    def evaluating(self, model):
        """Before and after the model is looked at: what only trainings do is off."""

    def training(self, model):
        pass

    # What a checkpoint keeps.

    def state_of(self, model, state):
        return {"model": model, "state": state}

    def restored(self, model, state, kept):
        return kept["model"], kept["state"]

    def randomness(self):
        return {"python": random.getstate(), "numpy": np.random.get_state()}

    def restore_randomness(self, kept):
        random.setstate(kept["python"])
        np.random.set_state(kept["numpy"])

    # What is left in the end.

    def weights(self, model):
        """Named arrays that a new model can be filled with."""
        found = self._live(model)
        return OrderedDict((name, np.array(value)) for name, value in found.items())

    def filled(self, model, weights):
        """A new model with the weights of another one."""
        found = self._live(model)
        self.refuse_others({name: each.shape for name, each in found.items()}, weights)
        for name, value in weights.items():
            found[name][...] = value
        return model

    def refuse_others(self, own, weights):
        theirs = {name: tuple(each.shape) for name, each in weights.items()}
        odd = sorted(name for name in set(own) | set(theirs) if tuple(own.get(name) or ()) != (theirs.get(name) or ()))
        if odd or set(own) != set(theirs):
            odd = odd or sorted(set(own) ^ set(theirs))
            raise FunctionError("the file of weights is not of this model: `%s` differs" % odd[0])

    def _live(self, model):
        found = self.code.call("parameters", model) if "parameters" in self.code else model
        if not isinstance(found, dict):
            found = getattr(model, "parameters", None)
        if not isinstance(found, dict) or not all(isinstance(each, np.ndarray) for each in found.values()):
            raise FunctionError(
                "the model is no mapping of arrays: `%s(model)` must return one, whose arrays are the model's own"
                % self.code.name("parameters")
            )
        return found

    def without_head(self, model, head):
        """The model with what stands before the layers that are named as its head."""
        raise FunctionError(
            "a model without its head is run by the function `%s(model, inputs)`, which the training does not have"
            % self.code.name("features")
        )
