"""LightGBM, for real."""

from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import Files
from worker_package.predictor.tables import TabularConformance, table

lgb = pytest.importorskip("lightgbm")


def train(objective: str = "multiclass", seed: int = 0, classes: int = 10, **more: object) -> "lgb.Booster":
    random = np.random.default_rng(seed)
    rows = random.random((200, 192))
    if "categorical_feature" in more:
        rows[:, 0] = random.integers(0, 40, 200)
    settings = {"objective": objective, "num_leaves": 5, "seed": seed, "num_threads": 1, "verbosity": -1}
    settings["min_data_per_group"] = settings["cat_smooth"] = 1
    if objective == "multiclass":
        settings["num_class"] = classes
    labels = rows[:, 0] % 3 if "categorical_feature" in more else random.integers(0, classes, 200)
    return lgb.train(settings, lgb.Dataset(rows, labels, **more), 4)


def save(folder: Path, booster: "lgb.Booster") -> Files:
    booster.save_model(str(folder / "model.txt"))
    return {"graph": str(folder / "model.txt")}


class TestLightgbm(TabularConformance):
    name = "lightgbm"
    element_type = "float64"
    output_name = "prediction"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return save(folder, train(seed=seed))

    save_wide = save


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["lightgbm"].resolve(options)
    return open_predictor(PredictorTask("lightgbm", files, resolved))


def rows(samples: int) -> np.ndarray:
    return table(samples, element_type="float64")


def test_answers_are_those_of_lightgbm_itself(tmp_path: Path) -> None:
    booster = train()
    with load(save(tmp_path, booster)) as predictor:
        assert np.array_equal(predictor.run([rows(5)])[0], booster.predict(rows(5)))


@pytest.mark.parametrize("objective, classes", [("binary", 2), ("regression", 9)])
def test_one_number_for_each_row_unless_there_are_classes(tmp_path: Path, objective: str, classes: int) -> None:
    with load(save(tmp_path, train(objective, classes=classes))) as predictor:
        assert predictor.outputs[0].describe()["shape"] == [None]
        assert predictor.run([rows(3)])[0].shape == (3,)


def test_margins_are_what_probabilities_are_made_of(tmp_path: Path) -> None:
    files = save(tmp_path, train())
    with load(files) as plain, load(files, margin=True) as margins:
        assert margins.outputs[0].name == "margin"
        sums = np.exp(margins.run([rows(3)])[0])
        assert np.allclose(sums / sums.sum(1, keepdims=True), plain.run([rows(3)])[0], atol=1e-12)


def test_threads_change_no_answer(tmp_path: Path) -> None:
    files = save(tmp_path, train())
    with load(files) as one, load(files, threads=4) as many:
        assert np.array_equal(one.run([rows(7)])[0], many.run([rows(7)])[0])


def test_features_may_be_float32(tmp_path: Path) -> None:
    with load(save(tmp_path, train()), element_type="float32") as predictor:
        predictor.check([table(2)])
        assert predictor.run([table(2)])[0].shape == (2, 10)


def test_what_is_missing_is_not_a_number(tmp_path: Path) -> None:
    holes = rows(2)
    holes[:, ::2] = np.nan
    with load(save(tmp_path, train())) as predictor:
        assert np.isfinite(predictor.run([holes])[0]).all()


def test_trees_end_in_leaves(tmp_path: Path) -> None:
    with load(save(tmp_path, train())) as predictor:
        inside = predictor.intermediates([rows(3)])
        assert inside["leaf"].shape == (3, 40)  # four rounds, a tree for each of ten classes
        assert np.array_equal(inside["prediction"], predictor.run([rows(3)])[0])


def test_categories_are_asked_for_by_their_codes(tmp_path: Path) -> None:
    booster = train("regression", categorical_feature=[0])
    files = save(tmp_path, booster)
    assert "num_cat=0" not in Path(files["graph"]).read_text().split("Tree=1")[0]
    codes = rows(5)
    codes[:, 0] = [0, 3, 17, 39, 1000]
    with load(files) as predictor:
        assert np.array_equal(predictor.run([codes])[0], booster.predict(codes))


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("left_child", "0 1 2 3", "`left_child` of node 0 is 0, neither a later node nor a leaf"),
        ("right_child", "99 -2 -3 -4", "neither a later node nor a leaf"),
        ("right_child", "-9 -2 -3 -4", "neither a later node nor a leaf"),
        ("split_feature", "500 1 2 3", "a node asks for a feature that is not there"),
        ("split_feature", "1", "`split_feature` has 1 numbers, not 4"),
        ("decision_type", "1 0 0 0", "a node asks for categories that are not there"),
        ("num_leaves", "1000000000", "`num_leaves` is 1000000000"),
        ("num_cat", "2", "`cat_boundaries` has 0 numbers, not 3"),
        ("is_linear", "1", "linear trees are not supported"),
    ],
)
def test_a_tree_that_leads_out_of_the_model_is_refused(tmp_path: Path, key: str, value: str, message: str) -> None:
    files = save(tmp_path, train())
    lines = Path(files["graph"]).read_text().split("\n")
    place = next(at for at, line in enumerate(lines) if line.startswith(key + "="))
    lines[place] = "%s=%s" % (key, value)
    Path(files["graph"]).write_text("\n".join(lines))
    with pytest.raises(ModelError, match="lightgbm .* cannot load the model: tree 0: .*%s" % message):
        load(files)
