"""Trainings in PyTorch. The manifest's module imports it; it is found where Python keeps what was imported."""

import sys
from collections import OrderedDict

from ..functions import FunctionError
from .adapter import Adapter

_STATE = "state_dict of this place"


class PyTorchAdapter(Adapter):
    framework = "pytorch"

    def __init__(self, code):
        Adapter.__init__(self, code)
        self._torch = sys.modules.get("torch")
        if self._torch is None:
            raise FunctionError("the training is written in pytorch, and its code does not import torch")

    def prepare(self, threads):
        self._torch.set_num_threads(threads)

    def seed(self, number):
        Adapter.seed(self, number)
        self._torch.manual_seed(number)

    def build(self, seed):
        model = Adapter.build(self, seed)
        if not isinstance(model, self._torch.nn.Module):
            words = (self.code.name("model"), type(model).__name__)
            raise FunctionError("`%s` returned %s, not a torch.nn.Module" % words)
        return model

    def tensor(self, array):
        return self._torch.as_tensor(array)

    def array(self, value):
        if isinstance(value, self._torch.Tensor):
            value = value.detach().cpu()
            value = value.float() if value.dtype == self._torch.bfloat16 else value
        return Adapter.array(self, value)

    def forward(self, model, inputs):
        with self._torch.no_grad():
            return Adapter.forward(self, model, inputs)

    def features(self, model, inputs):
        with self._torch.no_grad():
            return Adapter.features(self, model, inputs)

    def evaluating(self, model):
        model.eval()

    def training(self, model):
        model.train()

    def state_of(self, model, state):
        return {"model": _copied(model.state_dict()), "state": self._packed(state)}

    def restored(self, model, state, kept):
        model.load_state_dict(kept["model"])
        return model, self._unpacked(state, kept["state"])

    def _packed(self, value):
        """Optimizers, schedulers and the like by their own state; what holds them part by part."""
        if hasattr(value, "state_dict"):
            return {_STATE: value.state_dict()}
        if isinstance(value, dict):
            return {key: self._packed(each) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self._packed(each) for each in value)
        return value

    def _unpacked(self, made, kept):
        if isinstance(kept, dict) and set(kept) == {_STATE}:
            made.load_state_dict(kept[_STATE])
            return made
        if isinstance(kept, dict):
            return {key: self._unpacked(made.get(key) if made else None, each) for key, each in kept.items()}
        if type(kept) in (list, tuple):
            parts = made if made is not None else [None] * len(kept)
            return type(kept)(self._unpacked(one, each) for one, each in zip(parts, kept))
        return kept

    def randomness(self):
        found = dict(Adapter.randomness(self), torch=self._torch.get_rng_state())
        if self._torch.cuda.is_available():
            found["cuda"] = self._torch.cuda.get_rng_state_all()
        return found

    def restore_randomness(self, kept):
        Adapter.restore_randomness(self, kept)
        self._torch.set_rng_state(kept["torch"])
        if "cuda" in kept:
            self._torch.cuda.set_rng_state_all(kept["cuda"])

    def weights(self, model):
        """With what normalization layers have counted."""
        return OrderedDict((name, self.array(value)) for name, value in model.state_dict().items())

    def filled(self, model, weights):
        own = model.state_dict()
        self.refuse_others({name: tuple(each.shape) for name, each in own.items()}, weights)
        model.load_state_dict({name: self._torch.as_tensor(weights[name]).to(own[name].dtype) for name in own})
        return model

    def without_head(self, model, head):
        """The layers of the head pass on what they get."""
        for name in head:
            parent, _, last = name.rpartition(".")
            try:
                model.get_submodule(name)
                setattr(model.get_submodule(parent), last, self._torch.nn.Identity())
            except AttributeError:
                raise FunctionError("the model has no layer `%s` that could be left out as its head" % name)
        return model


def _copied(state):
    """Tensors that the next steps do not change."""
    return {name: value.detach().clone() if hasattr(value, "detach") else value for name, value in state.items()}
