"""LightGBM: boosted trees in its own text form. A row of features is a sample; NaN stands for missing."""

from ..parameters import Choice, Flag, Integer
from .build import tells_build
from .lightgbm_file import check_model
from .predictor import ModelError, Predictor, Tensor, predictor


@predictor(packages=("lightgbm",))
def lightgbm(
    files,
    *,
    threads: Integer("Threads that walk the trees.", at_least=1, at_most=4096) = 1,
    margin: Flag("Whether answers are sums of leaves, without the objective's last step to probabilities.") = False,
    element_type: Choice("The type of the features.", "float64", "float32") = "float64",
):
    """LightGBM models (.txt, as `save_model` writes them)."""
    import lightgbm as framework

    version = "lightgbm %s" % framework.__version__
    try:
        with open(files["graph"], "rb") as file:
            text = file.read().decode("utf-8")
        features = check_model(text)
        booster = framework.Booster(model_str=text)
        return Lightgbm(booster, features, margin, element_type, threads)
    except (OSError, ValueError, KeyError, TypeError, framework.basic.LightGBMError) as error:
        raise ModelError("%s cannot load the model: %s" % (version, str(error).strip().split("\n")[0]))


class Lightgbm(Predictor):
    concurrent = True  # predicting changes nothing in a booster

    def __init__(self, booster, features, margin, element_type, threads):
        self._booster = booster
        self._margin = margin
        self._threads = threads
        columns = booster.num_model_per_iteration()
        self.inputs = [Tensor("features", element_type, [None, features])]
        shape = [None, columns] if columns > 1 else [None]
        self.outputs = [Tensor("margin" if margin else "prediction", "float64", shape)]

    def run(self, tensors):
        return [self._ask(tensors[0], raw_score=self._margin)]

    def intermediates(self, tensors):
        """Which leaf of each tree a sample ends in, the leaves' sum, and what the objective makes of it."""
        return {
            "leaf": self._ask(tensors[0], pred_leaf=True),
            "margin": self._ask(tensors[0], raw_score=True),
            "prediction": self._ask(tensors[0]),
        }

    def close(self):
        self._booster = None

    def _ask(self, rows, **how):
        return self._booster.predict(rows, num_threads=self._threads, **how)


@tells_build("lightgbm", "lightgbm")
def _build():
    import lightgbm as framework

    return {"version": framework.__version__}
