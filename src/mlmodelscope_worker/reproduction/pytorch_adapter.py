"""Models of PyTorch: modules whose parameters, hooks and state PyTorch knows itself.

The module under test imports PyTorch; it is found where Python keeps what was imported.
"""

import sys
from collections import OrderedDict

from .adapter import Adapter, alone
from .arrays import array_of
from .verdict import Failed, Skipped


class PyTorchAdapter(Adapter):
    def __init__(self, code):
        Adapter.__init__(self, code)
        self._torch = sys.modules.get("torch")
        if self._torch is None:
            raise Skipped("%s does not import torch" % (code.name or "no code"))

    def tensor(self, array):
        return self._torch.tensor(array)

    def build(self, seed):
        self._torch.manual_seed(seed)
        model = Adapter.build(self, seed)
        if not isinstance(model, self._torch.nn.Module):
            raise Failed("`build` returns %s, not a torch.nn.Module" % type(model).__name__)
        return model

    def forward(self, model, inputs):
        model.eval()
        with self._torch.no_grad():
            return self.as_arrays(self.run(model, self.tensors(inputs)))

    def parameters(self, model):
        return OrderedDict((name, array_of(each).copy()) for name, each in model.named_parameters())

    def with_parameters(self, model, values):
        known = dict(model.state_dict(keep_vars=True))
        with self._torch.no_grad():
            for name, value in values.items():
                known[name].copy_(self._torch.tensor(value))
        return model

    def weights(self, model):
        """With what normalization layers have counted."""
        found = OrderedDict((name, array_of(each)) for name, each in model.state_dict().items())
        return OrderedDict((name, each.copy()) for name, each in found.items() if each is not None)

    def with_weights(self, model, weights):
        if "load_weights" not in self.code:
            own = self.weights(model)
            if {name: each.shape for name, each in own.items()} == {name: each.shape for name, each in weights.items()}:
                return self.with_parameters(model, weights)
        return Adapter.with_weights(self, model, weights)

    def gradients(self, model, inputs, targets):
        if "gradients" in self.code:
            return Adapter.gradients(self, model, inputs, targets)
        model.eval()
        model.zero_grad()
        outputs = self.run(model, self.tensors(inputs))
        loss = self.code.call(
            "loss", alone(outputs if isinstance(outputs, (list, tuple)) else [outputs]), self.tensor(targets)
        )
        if not getattr(loss, "requires_grad", False):
            raise Failed("no gradient reaches the loss: a part of the model or of the loss is not differentiable")
        self.code.guarded("the gradient of the loss", loss.backward)
        return {
            name: None if each.grad is None else array_of(each.grad).copy() for name, each in model.named_parameters()
        }

    def layers(self, model, inputs):
        if "layers" in self.code:
            return Adapter.layers(self, model, inputs)
        found, hooks = [], []

        def remember(name, module):
            def hook(_module, _inputs, output):
                several = output if isinstance(output, (list, tuple)) else [output]
                for each in several:
                    array = array_of(each)
                    if array is not None and array.ndim:
                        found.append((name, type(module).__name__, array.copy()))

            return hook

        for name, module in model.named_modules():
            if name and not list(module.children()):
                hooks.append(module.register_forward_hook(remember(name, module)))
        try:
            self.forward(model, inputs)
        finally:
            for hook in hooks:
                hook.remove()
        return found

    def save(self, model, path):
        if "save" in self.code:
            Adapter.save(self, model, path)
        else:
            self.code.guarded("torch.save", self._torch.save, model.state_dict(), path)

    def load(self, path, seed):
        if "load" in self.code:
            return Adapter.load(self, path, seed)
        model = self.build(seed + 1)
        self.code.guarded("load_state_dict", model.load_state_dict, self._torch.load(path))
        return model

    def start(self, model):
        model.train()
        return Adapter.start(self, model)
