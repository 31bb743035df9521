"""A predictor: a linear model in a JSON file, `{"shape": [1, 8, 8], "weights": [[…], …]}`.

There is a row of weights for each value of a sample, and a column for each class; values without a row do not count.
"""

import json

from mlmodelscope_worker.parameters import Integer
from mlmodelscope_worker.predictor import ModelError, Predictor, Tensor, predictor
from mlmodelscope_worker.predictor.build import tells_build


@predictor(packages=("numpy",))
def toylinear(files, *, threads: Integer("Ignored: a product of matrices is quick.", at_least=1) = 1):
    """A linear model, in NumPy."""
    return ToyLinear(_read(files["graph"]))


@tells_build("toylinear", "toy library")  # the predictor's name, and what its library is called in records
def build():
    return {"version": "1.0", "compiler": "gcc 13.2", "flags": "-O2", "options": ["WITH_TOYS=1"]}


def _read(path):
    try:
        with open(path, "rb") as file:
            model = json.loads(file.read().decode("utf-8"))
    except OSError as error:
        raise ModelError("the model cannot be read: %s" % error)
    except ValueError as error:
        raise ModelError("the model is not JSON: %s" % error)
    if not isinstance(model, dict) or not {"shape", "weights"} <= set(model):
        raise ModelError("the model needs `shape` and `weights`")
    return model


class ToyLinear(Predictor):
    concurrent = True

    def __init__(self, model):
        import numpy as np

        self._weights = np.array(model["weights"], np.float32)
        self.inputs = [Tensor("input", "float32", [None] + model["shape"])]
        self.outputs = [Tensor("scores", "float32", [None, self._weights.shape[1]])]

    def run(self, tensors):
        import numpy as np

        (batch,) = tensors
        # A row at a time: a product of a whole batch is summed up in another order, and differs in the last digit.
        return [np.stack([row.reshape(-1)[: len(self._weights)] @ self._weights for row in batch])]
