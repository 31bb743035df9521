"""XGBoost, for real."""

import json
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import Files
from worker_package.predictor.tables import TabularConformance, table

xgb = pytest.importorskip("xgboost")


def train(objective: str = "multi:softprob", seed: int = 0, classes: int = 10) -> "xgb.Booster":
    random = np.random.default_rng(seed)
    rows = random.random((200, 192)).astype(np.float32)
    settings = {"objective": objective, "max_depth": 3, "seed": seed, "nthread": 1}
    if objective.startswith("multi"):
        settings["num_class"] = classes
    return xgb.train(settings, xgb.DMatrix(rows, random.integers(0, classes, 200)), 4)


def save(folder: Path, booster: "xgb.Booster", suffix: str = "ubj") -> Files:
    booster.save_model(str(folder / ("model." + suffix)))
    return {"graph": str(folder / ("model." + suffix))}


class TestUbj(TabularConformance):
    name = "xgboost"
    output_name = "prediction"
    suffix = "ubj"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return save(folder, train(seed=seed), self.suffix)

    save_wide = save


class TestJson(TestUbj):
    suffix = "json"


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["xgboost"].resolve(options)
    return open_predictor(PredictorTask("xgboost", files, resolved))


def test_answers_are_those_of_xgboost_itself(tmp_path: Path) -> None:
    booster = train()
    with load(save(tmp_path, booster)) as predictor:
        assert np.allclose(predictor.run([table(5)])[0], booster.predict(xgb.DMatrix(table(5))), atol=1e-6)


@pytest.mark.parametrize(
    "objective, classes, shape",
    [("binary:logistic", 2, [None]), ("reg:squarederror", 9, [None]), ("multi:softmax", 5, [None])],
)
def test_shapes_follow_the_objective(tmp_path: Path, objective: str, classes: int, shape: list) -> None:
    with load(save(tmp_path, train(objective, classes=classes))) as predictor:
        assert predictor.outputs[0].describe()["shape"] == shape
        assert predictor.run([table(3)])[0].shape == (3,)


def test_margins_are_what_probabilities_are_made_of(tmp_path: Path) -> None:
    files = save(tmp_path, train())
    with load(files) as plain, load(files, margin=True) as margins:
        assert margins.outputs[0].name == "margin"
        sums = np.exp(margins.run([table(3)])[0].astype(np.float64))
        assert np.allclose(sums / sums.sum(1, keepdims=True), plain.run([table(3)])[0], atol=1e-6)


def test_threads_change_no_answer(tmp_path: Path) -> None:
    files = save(tmp_path, train())
    with load(files) as one, load(files, threads=4) as many:
        assert np.array_equal(one.run([table(7)])[0], many.run([table(7)])[0])


def test_what_is_missing_is_not_a_number(tmp_path: Path) -> None:
    rows = table(2)
    rows[:, ::2] = np.nan
    with load(save(tmp_path, train())) as predictor:
        assert np.isfinite(predictor.run([rows])[0]).all()


def test_trees_end_in_leaves(tmp_path: Path) -> None:
    with load(save(tmp_path, train())) as predictor:
        inside = predictor.intermediates([table(3)])
        assert inside["leaf"].shape == (3, 40)  # four rounds, a tree for each of ten classes
        assert np.allclose(inside["prediction"], predictor.run([table(3)])[0], atol=1e-6)


def test_features_with_names_are_rows_all_the_same(tmp_path: Path) -> None:
    booster = train()
    booster.feature_names = ["f%d" % number for number in range(192)]
    with load(save(tmp_path, booster)) as predictor:
        assert predictor.run([table(3)])[0].shape == (3, 10)
        assert "leaf" in predictor.intermediates([table(3)])


def test_another_json_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"learner": {}, "version": [3, 2, 0]}))
    with pytest.raises(ModelError, match=r"xgboost \S+ cannot load the model"):
        load({"graph": str(tmp_path / "model.json")})
