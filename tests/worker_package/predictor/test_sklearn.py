"""scikit-learn, for real."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, NotSupported, Predictor
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import Files
from worker_package.predictor.tables import TabularConformance, table

pytest.importorskip("sklearn")
skops_io = pytest.importorskip("skops.io")

import joblib  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.svm import SVC, LinearSVC  # noqa: E402


def examples(seed: int = 0, classes: int = 10) -> tuple:
    random = np.random.default_rng(seed)
    return random.random((100, 192)), np.arange(100) % classes


def save(folder: Path, estimator: object, name: str = "model.skops") -> Files:
    (skops_io if name.endswith(".skops") else joblib).dump(estimator, str(folder / name))
    return {"graph": str(folder / name)}


class TestSklearn(TabularConformance):
    name = "sklearn"
    element_type = "float64"
    output_name = "predict_proba"

    def save(self, folder: Path, seed: int = 0) -> Files:
        estimator = make_pipeline(StandardScaler(), LogisticRegression(max_iter=50, tol=0.01))
        return save(folder, estimator.fit(*examples(seed)))

    def save_wide(self, folder: Path) -> Files:
        return save(folder, LogisticRegression(max_iter=50, tol=0.01).fit(*examples()))


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["sklearn"].resolve(options)
    return open_predictor(PredictorTask("sklearn", files, resolved))


def rows(samples: int) -> np.ndarray:
    return table(samples, element_type="float64")


def test_answers_are_those_of_the_estimator(tmp_path: Path) -> None:
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(*examples())
    files = save(tmp_path, forest)
    with pytest.raises(ModelError, match=r"say `trust_types: sklearn\.tree\._tree\.Tree`"):
        load(files)  # a tree's numbers are places in memory, which nobody checks
    trust = {"trust_types": "sklearn.tree._tree.Tree"}
    with load(files, **trust) as predictor, load(files, threads=2, **trust) as other:
        assert np.array_equal(predictor.run([rows(7)])[0], forest.predict_proba(rows(7)))
        assert np.allclose(predictor.run([rows(7)])[0], other.run([rows(7)])[0])


@pytest.mark.parametrize(
    "estimator, classes, method, shape",
    [
        (LogisticRegression(max_iter=50, tol=0.01), 2, "predict_proba", (None, 2)),
        (LinearSVC(max_iter=20, tol=1), 10, "decision_function", (None, 10)),
        (SVC(), 2, "decision_function", (None,)),
        (LinearRegression(), 10, "predict", (None,)),
    ],
    ids=["probabilities", "margins", "two classes", "regression"],
)
def test_an_estimator_is_asked_for_the_most_it_tells(
    tmp_path: Path, estimator: object, classes: int, method: str, shape: tuple
) -> None:
    fitted = estimator.fit(*examples(classes=classes))  # type: ignore[attr-defined]
    with load(save(tmp_path, fitted)) as predictor:
        assert (predictor.outputs[0].name, predictor.outputs[0].shape) == (method, shape)
        answer = predictor.run([rows(3)])[0]
    assert answer.shape == (3,) + shape[1:] and np.array_equal(answer, getattr(fitted, method)(rows(3)))


def test_features_may_be_float32(tmp_path: Path) -> None:
    with load(TestSklearn().save(tmp_path), element_type="float32") as predictor:
        predictor.check([table(2)])
        assert predictor.run([table(2)])[0].shape == (2, 10)


def test_a_method_that_it_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="this LinearRegression has no `predict_proba`"):
        load(save(tmp_path, LinearRegression().fit(*examples())), method="predict_proba")


def test_an_estimator_that_has_learned_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not fitted"):
        load(save(tmp_path, LogisticRegression()))


def test_a_scaler_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="a StandardScaler does not predict"):
        load(save(tmp_path, StandardScaler().fit(examples()[0])))


def test_labels_that_are_words_are_refused_as_answers(tmp_path: Path) -> None:
    pictures, labels = examples(classes=2)
    fitted = LogisticRegression(max_iter=50, tol=0.01).fit(pictures, np.array(["cat", "dog"])[labels])
    with load(save(tmp_path, fitted)) as predictor:
        assert predictor.run([rows(2)])[0].shape == (2, 2)
    with pytest.raises(ModelError, match="it answers with words"):
        load(save(tmp_path, fitted), method="predict")


class Marker:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


def test_a_pickle_is_not_loaded_unless_trusted(tmp_path: Path) -> None:
    files = save(tmp_path, Marker(tmp_path / "was here"), "model.joblib")
    with pytest.raises(ModelError, match="save the model with skops.io.dump, or say `trust_pickle: true`"):
        load(files)
    assert not (tmp_path / "was here").exists()
    with pytest.raises(ModelError, match="a NoneType does not predict"):
        load(files, trust_pickle=True)
    assert (tmp_path / "was here").exists()


def test_a_trusted_pickle_is_a_model(tmp_path: Path) -> None:
    fitted = LinearRegression().fit(*examples())
    with load(save(tmp_path, fitted, "model.joblib"), trust_pickle=True) as predictor:
        assert np.array_equal(predictor.run([rows(3)])[0], fitted.predict(rows(3)))


def test_what_skops_does_not_know_is_named_and_not_loaded(tmp_path: Path) -> None:
    strange = make_pipeline(FunctionTransformer(json.dumps), LinearRegression())
    with pytest.raises(ModelError, match=r"say `trust_types: json\.dumps`"):
        load(save(tmp_path, strange))


def test_a_model_of_another_release_is_refused_unless_wanted(tmp_path: Path) -> None:
    files = save(tmp_path, LinearRegression().fit(*examples()))
    with zipfile.ZipFile(files["graph"]) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    import sklearn

    text = members["schema.json"].decode()
    assert sklearn.__version__ in text
    members["schema.json"] = text.replace(sklearn.__version__, "0.0.1").encode()
    with zipfile.ZipFile(files["graph"], "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ModelError, match=r"cannot vouch for this model .*0\.0\.1"):
        load(files)
    with load(files, any_version=True) as predictor:
        assert predictor.run([rows(2)])[0].shape == (2,)


def test_a_pipelines_steps_are_its_layers(tmp_path: Path) -> None:
    with load(TestSklearn().save(tmp_path)) as predictor:
        layers = predictor.profile([rows(3)])
        inside = predictor.intermediates([rows(3)])
    assert [(layer.name, layer.kind) for layer in layers] == [
        ("standardscaler", "StandardScaler"),
        ("logisticregression", "LogisticRegression"),
    ]
    assert inside["standardscaler"].shape == (3, 192)


def test_an_estimator_without_steps_has_no_layers(tmp_path: Path) -> None:
    with load(save(tmp_path, LinearRegression().fit(*examples()))) as predictor:
        with pytest.raises(NotSupported, match="only pipelines have steps"):
            predictor.profile([rows(1)])
