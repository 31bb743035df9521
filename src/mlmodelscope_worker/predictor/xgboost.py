"""XGBoost: boosted trees in its own formats (.ubj, .json). A row of features is a sample; NaN stands for missing."""

import json

from ..parameters import Flag, Integer
from .build import tells_build
from .predictor import ModelError, Predictor, Tensor, predictor


@predictor(packages=("xgboost", "xgboost-cpu"))
def xgboost(
    files,
    *,
    threads: Integer("Threads that walk the trees.", at_least=1, at_most=4096) = 1,
    margin: Flag("Whether answers are sums of leaves, without the objective's last step to probabilities.") = False,
):
    """XGBoost models (.ubj or .json)."""
    import xgboost as framework

    version = "xgboost %s" % framework.__version__
    try:
        with open(files["graph"], "rb") as file:
            content = file.read()
        _check(content)
        booster = framework.Booster({"nthread": threads})
        booster.load_model(bytearray(content))
        settings = json.loads(booster.save_config())
        booster.set_param({"nthread": threads})
        return Xgboost(booster, settings["learner"], margin, framework.DMatrix)
    except (OSError, ValueError, KeyError, TypeError) as error:  # XGBoostError is a ValueError
        raise ModelError("%s cannot load the model: %s" % (version, str(error).strip().split("\n")[0]))


class Xgboost(Predictor):
    concurrent = True  # predicting in place is thread-safe, for trees

    def __init__(self, booster, learner, margin, matrix):
        self._booster = booster
        self._kind = "margin" if margin else "value"
        self._matrix = matrix
        if learner["gradient_booster"]["name"] == "gblinear":
            raise ValueError("linear boosters are not supported, only trees")
        told = learner["learner_model_param"]
        features = int(told["num_feature"]) or None
        columns = max(int(told["num_class"]), int(told.get("num_target", 1)))
        if learner["objective"]["name"] == "multi:softmax" and not margin:
            columns = 1  # the best class itself
        self.inputs = [Tensor("features", "float32", [None, features])]
        self.outputs = [
            Tensor("margin" if margin else "prediction", "float32", [None, columns] if columns > 1 else [None])
        ]

    def run(self, tensors):
        return [self._booster.inplace_predict(tensors[0], predict_type=self._kind, validate_features=False)]

    def intermediates(self, tensors):
        """Which leaf of each tree a sample ends in, the leaves' sum, and what the objective makes of it."""
        matrix = self._matrix(tensors[0])
        matrix.feature_names, matrix.feature_types = self._booster.feature_names, self._booster.feature_types
        return {
            "leaf": self._booster.predict(matrix, pred_leaf=True),
            "margin": self._booster.predict(matrix, output_margin=True),
            "prediction": self._booster.predict(matrix),
        }

    def close(self):
        self._booster = None


def _check(content):
    """XGBoost's reader of binary JSON trusts sizes: a file that ends too soon must not reach it."""
    if not content.lstrip().startswith(b"{"):
        raise ValueError("it is neither JSON nor UBJSON; XGBoost's old binary form must be saved anew as .ubj")
    if content[1:2] in (b"L", b"l", b"U", b"i", b"I"):
        end = _skip(content, 0)
        if end != len(content):
            raise ValueError("%d bytes follow the model's end" % (len(content) - end))
    else:
        json.loads(content.decode("utf-8"))


_SIZES = {b"i": 1, b"U": 1, b"C": 1, b"I": 2, b"l": 4, b"d": 4, b"L": 8, b"D": 8, b"T": 0, b"F": 0, b"Z": 0, b"N": 0}
_CLOSING = {b"{": b"}", b"[": b"]"}


def _skip(data, position, depth=0):
    """The end of the UBJSON value at a position."""
    mark, position = data[position : position + 1], position + 1
    if mark in _SIZES:
        return _within(data, position + _SIZES[mark])
    if mark in (b"S", b"H"):
        size, position = _integer(data, position)
        return _within(data, position + size)
    if mark not in _CLOSING or depth > 64:
        raise ValueError("its UBJSON is malformed at byte %d" % position)
    kind = count = None
    if data[position : position + 1] == b"$":  # all of one kind, without marks of their own
        kind, position = data[position + 1 : position + 2], position + 2
    if data[position : position + 1] == b"#":
        count, position = _integer(data, position + 1)
    if kind is not None:
        if kind not in _SIZES or count is None:
            raise ValueError("its UBJSON is malformed at byte %d" % position)
        return _within(data, position + count * _SIZES[kind])
    while count != 0:
        if count is None and data[position : position + 1] == _CLOSING[mark]:
            return position + 1
        if mark == b"{":
            size, position = _integer(data, position)
            position = _within(data, position + size)
        position = _skip(data, position, depth + 1)
        count = None if count is None else count - 1
    return position


def _within(data, position):
    if position > len(data):
        raise ValueError("it is cut off")
    return position


def _integer(data, position):
    mark = data[position : position + 1]
    if mark not in (b"i", b"U", b"I", b"l", b"L"):
        raise ValueError("its UBJSON is malformed at byte %d" % position)
    size = _SIZES[mark]
    taken = data[position + 1 : position + 1 + size]
    value = int.from_bytes(taken, "big", signed=mark != b"U")
    if len(taken) < size or value < 0:
        raise ValueError("its UBJSON is cut off or malformed at byte %d" % position)
    return value, position + 1 + size


@tells_build("xgboost", "xgboost")
def _build():
    import xgboost as framework

    told = framework.build_info() if hasattr(framework, "build_info") else {}  # since 1.6
    compiler = [(name, told[name]) for name in ("GCC_VERSION", "CLANG_VERSION") if told.get(name)]
    cuda = told.get("CUDA_VERSION")
    return {
        "version": framework.__version__,
        "compiler": ", ".join("%s %s" % (name, ".".join(map(str, number))) for name, number in compiler),
        "openmp": "on" if told.get("USE_OPENMP") else None,
        "cuda": ".".join(map(str, cuda)) if cuda else None,
        "options": [name for name, value in sorted(told.items()) if value is True],
    }
