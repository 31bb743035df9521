"""A trained model where it is evaluated: built by the training's own code, filled with the weights that were kept."""

from ..functions import FunctionError, Functions
from ..reproduction.arrays import kept
from ..reproduction.verdict import Undecided
from .code import Code
from .frameworks import adapter_for

_KEPT = "the trained model"


def answer(ctx, data, found, framework, functions, head=()):
    """Outputs of the model for a batch; `found` are the globals of the manifest's functions, and `head` what is left
    out of the model."""
    model = ctx.get(_KEPT)
    if model is None:
        model = ctx[_KEPT] = Trained(found, ctx, framework, functions, head)
    return model(data)


class Trained(object):
    def __init__(self, found, ctx, framework, names, head):
        code = Code(Functions.around(found), names, ctx["hyperparameters"], required=("model",))
        self._code, self._adapter = code, adapter_for(framework, code)
        self._adapter.prepare(int(ctx["options"].get("threads", 1)))
        self._adapter.seed(0)
        try:
            weights = kept(ctx["files"]["weights"])
        except Undecided as error:
            raise FunctionError(str(error))
        self._model = self._adapter.filled(self._adapter.build(0), weights)
        self._by_features = bool(head) and "features" in code
        if head and not self._by_features:
            self._model = self._adapter.without_head(self._model, head)
        self._adapter.evaluating(self._model)

    def __call__(self, data):
        """A list of arrays, one for each output."""
        inputs = data[0] if isinstance(data, (list, tuple)) and len(data) == 1 else data
        inputs = tuple(inputs) if isinstance(inputs, list) else inputs
        if self._by_features:
            found = self._adapter.features(self._model, inputs)
        else:
            found = self._adapter.forward(self._model, inputs)
        arrays = [self._adapter.array(each) for each in (found if isinstance(found, (list, tuple)) else [found])]
        if any(each is None for each in arrays):
            raise FunctionError("the model answered with %s, which is no tensor" % type(found).__name__)
        return arrays
