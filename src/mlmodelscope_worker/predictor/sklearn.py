"""scikit-learn: estimators and pipelines of its own kinds, from skops files; pickles only for those who trust them.

A row of features is a sample. Class numbers are the places in the estimator's `classes_`.
"""

import warnings

from ..clock import nanoseconds
from ..parameters import Choice, Flag, Integer, Text
from .build import tells_build
from .predictor import Layer, ModelError, NotSupported, Predictor, Tensor, predictor

_METHODS = ("predict_proba", "decision_function", "predict")


@predictor(packages=("scikit-learn",))
def sklearn(
    files,
    *,
    threads: Integer("Threads of estimators that take `n_jobs`, and of BLAS and OpenMP.", at_least=1) = 1,
    method: Choice("What is asked of the estimator; `auto` is the first of these that it has.", "auto", *_METHODS) = (
        "auto"
    ),
    element_type: Choice("The type of the features.", "float32", "float64") = "float64",
    trust_pickle: Flag(
        "Whether a joblib or pickle file may be loaded: that runs whatever code is in it.", needs_trust=True
    ) = False,
    trust_types: Text(
        "Types beyond those of skops's own list that may be loaded, separated by commas.", needs_trust=True
    ) = "",
    any_version: Flag("Whether a model that another scikit-learn saved may be loaded all the same.") = False,
):
    """scikit-learn models from skops files (and, if trusted, from joblib or pickle files)."""
    import sklearn as framework
    import threadpoolctl

    version = "scikit-learn %s" % framework.__version__
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = _load(files["graph"], trust_pickle, trust_types, version)
    foreign = [str(each.message) for each in said if "InconsistentVersion" in each.category.__name__]
    if foreign and not any_version:
        raise ModelError(
            "%s cannot vouch for this model (`any_version: true` loads it all the same): %s" % (version, foreign[0])
        )
    if not hasattr(model, "predict"):
        raise ModelError("%s: a %s does not predict" % (version, type(model).__name__))
    if method == "auto":
        method = next(name for name in _METHODS if hasattr(model, name))
    if not hasattr(model, method):
        raise ModelError("%s: this %s has no `%s`" % (version, type(model).__name__, method))
    for name in model.get_params() if hasattr(model, "get_params") else ():
        if name == "n_jobs" or name.endswith("__n_jobs"):
            model.set_params(**{name: threads})
    try:
        features = int(model.n_features_in_)
    except (AttributeError, TypeError):
        features = None  # it was not fitted to numbers of a fixed count, or not fitted
    limit = threadpoolctl.threadpool_limits(threads)
    try:
        return Sklearn(model, method, element_type, features, limit)
    except Exception as error:
        limit.restore_original_limits()
        raise ModelError("%s: the model is not fitted: %s" % (version, error))


class Sklearn(Predictor):
    concurrent = True  # predicting changes nothing in an estimator

    def __init__(self, model, method, element_type, features, limit):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
        self._model = model
        self._method = method
        self._ask = getattr(model, method)
        self._limit = limit
        self.inputs = [Tensor("features", element_type, [None, features])]
        shape = [None]
        classes = getattr(model, "classes_", None)
        if method == "predict_proba" or (method == "decision_function" and len(classes) > 2):
            shape = [None, len(classes)]
        self.outputs = [Tensor(method, _answers(model, method, classes, element_type), shape)]

    def run(self, tensors):
        return [self._ask(tensors[0])]

    def profile(self, tensors):
        return self._walk(tensors)[0]

    def intermediates(self, tensors):
        """What the steps of a pipeline pass on."""
        return self._walk(tensors)[1]

    def close(self):
        if self._limit is not None:
            self._limit.restore_original_limits()
        self._model = self._ask = self._limit = None

    def _walk(self, tensors):
        """A pipeline's steps one by one, as the pipeline itself goes through them."""
        steps = getattr(self._model, "steps", None)
        if steps is None:
            raise NotSupported("only pipelines have steps to look into, this is a %s" % type(self._model).__name__)
        value, layers, inside = tensors[0], [], {}
        for place, (name, step) in enumerate(steps):
            if step is None or step == "passthrough":
                continue
            call = getattr(step, self._method if place == len(steps) - 1 else "transform")
            start = nanoseconds()
            value = call(value)
            spent = nanoseconds() - start
            inside[name] = value.toarray() if hasattr(value, "toarray") else value
            layers.append(Layer(name, type(step).__name__, spent, [inside[name].shape]))
        return layers, inside


def _answers(model, method, classes, element_type):
    """The type of the answers, from asking about one row of zeros: estimators do not tell."""
    import numpy as np

    features = getattr(model, "n_features_in_", None)
    if features is None:
        return element_type
    kind = getattr(model, method)(np.zeros((1, int(features)), element_type)).dtype
    if kind.kind not in "fiub":
        raise ValueError("it answers with words; ask it for `predict_proba` or `decision_function`")
    return kind.name


def _load(path, trust_pickle, trust_types, version):
    try:
        with open(path, "rb") as file:
            start = file.read(4)
        if start == b"PK\x03\x04":
            return _load_skops(path, trust_types, version)
        if not trust_pickle:
            raise ModelError(
                "%s: this is no skops file. Loading a joblib or pickle file runs the code in it: "
                "save the model with skops.io.dump, or say `trust_pickle: true`" % version
            )
        import joblib

        return joblib.load(path)
    except (ModelError, ImportError):
        raise
    except Exception as error:  # unpickling may raise anything
        raise ModelError("%s cannot load the model: %s: %s" % (version, type(error).__name__, error))


def _load_skops(path, trust_types, version):
    import skops.io

    trusted = [name.strip() for name in trust_types.split(",") if name.strip()]
    strange = sorted(set(skops.io.get_untrusted_types(file=path)) - set(trusted))
    if strange:
        raise ModelError(
            "%s: the model holds what skops does not trust by itself, so it is not loaded; "
            "if you do, say `trust_types: %s`" % (version, ", ".join(strange))
        )
    return skops.io.load(path, trusted=trusted)


@tells_build("sklearn", "scikit-learn")
def _build():
    import sklearn as framework
    import threadpoolctl

    pools = threadpoolctl.threadpool_info()
    spelled = {"blas": [], "openmp": []}
    for pool in pools:
        words = [pool.get(name) for name in ("internal_api", "version", "architecture", "threading_layer")]
        spelled.setdefault(pool.get("user_api"), []).append(" ".join(str(each) for each in words if each))
    return {
        "version": framework.__version__,
        "blas": "; ".join(sorted(set(spelled["blas"]))),
        "openmp": "; ".join(sorted(set(spelled["openmp"]))),
    }
