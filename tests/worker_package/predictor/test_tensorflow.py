"""TensorFlow, for real: from 1.12 on."""

import base64
import json
import shutil
import zipfile
import zlib
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pytest

from worker_package.predictor.conformance import Conformance, Files, batch, generator

tf = pytest.importorskip("tensorflow")

from mlmodelscope_worker.messages import PredictorTask  # noqa: E402
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor  # noqa: E402
from mlmodelscope_worker.predictor.predictor import pick  # noqa: E402
from mlmodelscope_worker.session import open_predictor  # noqa: E402

v1 = getattr(tf.compat, "v1", tf)
VERSION = [int(part) for part in tf.__version__.split(".")[:2]]
pytestmark = pytest.mark.filterwarnings("ignore")  # its own imports warn, release by release


def weights(seed: int) -> dict:
    random = generator(seed)
    return {
        "filter": random.normal(size=(3, 3, 3, 6)).astype("float32"),
        "bias": random.normal(size=6).astype("float32"),
        "last": random.normal(size=(6, 10)).astype("float32"),
    }


def layers(x: Any, values: dict, **last: str) -> Any:
    """Convolution, ReLU, mean over the picture, ten scores."""
    pixels = tf.transpose(x, [0, 2, 3, 1], name="pixels")  # on a CPU it convolves NHWC only
    maps = tf.nn.bias_add(
        v1.nn.conv2d(pixels, values["filter"], strides=[1, 1, 1, 1], padding="SAME", name="maps"), values["bias"]
    )
    active = tf.nn.relu(maps, name="active")
    pooled = tf.reduce_mean(active, axis=[1, 2], name="pooled")
    return tf.matmul(pooled, values["last"], **last)


def reference(seed: int, x: np.ndarray) -> dict:
    """The same with numpy, in double precision."""
    values = {name: value.astype("float64") for name, value in weights(seed).items()}
    padded = np.pad(x.transpose(0, 2, 3, 1).astype("float64"), [(0, 0), (1, 1), (1, 1), (0, 0)], "constant")
    maps = sum(
        padded[:, row : row + 8, column : column + 8] @ values["filter"][row, column]
        for row in range(3)
        for column in range(3)
    )
    active = np.maximum(maps + values["bias"], 0)
    pooled = active.mean((1, 2))
    return {"maps": maps, "active": active, "pooled": pooled, "scores": pooled @ values["last"]}


def frozen(folder: Path, seed: int = 0, shape: Any = (None, 3, 8, 8), name: str = "model.pb") -> Files:
    with tf.Graph().as_default() as graph:
        layers(v1.placeholder(tf.float32, shape, name="input"), weights(seed), name="scores")
    return write(folder, graph, name)


def write(folder: Path, graph: Any, name: str = "model.pb") -> Files:
    (folder / name).write_bytes(graph.as_graph_def().SerializeToString())
    return {"graph": str(folder / name)}


class FromTensorFlow(Conformance):
    """What is true of every kind of TensorFlow model."""

    exact = False

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        """If it is aligned to 64 bytes: TensorFlow copies other memory, and numpy's is aligned to 16."""
        program = (
            "memory = np.ones((96 << 20) + 64, 'uint8'); start = -memory.ctypes.data % 64\n"
            "x = memory[start:start + (96 << 20)].view('float32').reshape(32, 3, 512, 512)\n"
            "subject = predictor(); subject.run([x[:1]]); before = peak_mib()\n"
            "subject.run([x]); print(json.dumps(peak_mib() - before))"
        )
        assert self.elsewhere(program, self.save_wide(tmp_path)) < 48

    def test_memory_comes_back(self, tmp_path: Path) -> None:
        """TensorFlow lets go of an input a moment late: two of these, 24 MiB each, may be there, but not thirty."""
        program = (
            "x, peaks = np.ones((8, 3, 512, 512), 'float32'), []\n"
            "for life in range(30):\n"
            "    with predictor() as subject: subject.run([x])\n"
            "    del subject; peaks.append(peak_mib())\n"
            "print(json.dumps(peaks[-1] - peaks[9]))"
        )
        assert self.elsewhere(program, self.save_wide(tmp_path)) < 56


class TestTensorFlow(FromTensorFlow):
    name = "tensorflow"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return frozen(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [None, 3, 512, 512], name="input")
            tf.reduce_max(x, axis=[2, 3], name="scores")
        return write(folder, graph)


def saved_model(folder: Path, seed: int = 0, side: int = 8) -> Files:
    """As TensorFlow 2 writes it where it is 2, as TensorFlow 1 wrote it otherwise."""
    place = folder / "saved"
    shutil.rmtree(str(place), ignore_errors=True)

    def answer(x: Any, values: Any) -> Any:
        return layers(x, values) if side == 8 else tf.reduce_max(x, axis=[2, 3])

    if VERSION[0] >= 2:
        module = tf.Module()
        module.values = {name: tf.Variable(value) for name, value in weights(seed).items()}
        spec = tf.TensorSpec([None, 3, side, side], tf.float32, name="input")
        module.call = tf.function(lambda input: {"scores": answer(input, module.values)}, input_signature=[spec])
        tf.saved_model.save(module, str(place), signatures=module.call.get_concrete_function())
        return {"graph": str(place)}
    saved_model_1(place, answer, seed, side)
    return {"graph": str(place)}


def saved_model_1(place: Path, answer: Any = layers, seed: int = 0, side: int = 8) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        values = {name: v1.get_variable(name, initializer=value) for name, value in weights(seed).items()}
        x = v1.placeholder(tf.float32, [None, 3, side, side], name="x")
        scores = answer(x, values)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(place), {"input": x}, {"scores": scores})


class TestSavedModel(FromTensorFlow):
    name = "tensorflow"

    def save(self, folder: Path, seed: int = 0) -> Files:
        return saved_model(folder, seed)

    def save_wide(self, folder: Path) -> Files:
        return saved_model(folder, side=512)

    # A SavedModel is a folder.

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        (Path(files["graph"]) / "saved_model.pb").unlink()
        with pytest.raises(ModelError, match="the folder saved is no SavedModel: it has no saved_model.pb"):
            self.open(files)

    @pytest.mark.parametrize("content", [b"", b"garbage", bytes(range(256)) * 16, b"[1, 2]"])
    def test_a_file_that_is_no_model_is_refused(self, tmp_path: Path, content: bytes) -> None:
        files = self.save(tmp_path)
        (Path(files["graph"]) / "saved_model.pb").write_bytes(content)
        with pytest.raises(ModelError):
            self.open(files)

    @pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
    @pytest.mark.parametrize("part", ["saved_model.pb", "variables/variables.data-00000-of-00001"])
    def test_half_a_model_is_refused(self, tmp_path: Path, kept: float, part: str) -> None:
        files = self.save(tmp_path)
        path = Path(files["graph"]) / part
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
        with pytest.raises(ModelError):
            self.open(files)


def load(files: Files, **options: object) -> Predictor:
    resolved = PREDICTORS["tensorflow"].resolve(options)
    return open_predictor(PredictorTask("tensorflow", files, resolved))


def refusal(files: Files, **options: object) -> str:
    with pytest.raises(ModelError) as refused:
        load(files, **options)
    return str(refused.value)


def near(left: np.ndarray, right: np.ndarray) -> bool:
    return np.shape(left) == np.shape(right) and np.allclose(left, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("save", [frozen, saved_model])
def test_the_answer_is_that_of_the_arithmetic(tmp_path: Path, save: Any) -> None:
    with load(save(tmp_path)) as predictor:
        assert near(predictor.run([batch(5)])[0], reference(0, batch(5))["scores"])


def test_threads_are_taken_once_for_a_process(tmp_path: Path) -> None:
    files = frozen(tmp_path)
    load(files, inter_op_threads=2).close()
    message = refusal(files, threads=2)
    assert message.endswith("computes with 1 threads in this process already, and takes no other number")


def test_threads_change_no_answer(tmp_path: Path) -> None:
    files = frozen(tmp_path)
    program = (
        "options = declaration.resolve({'threads': 2})\n"
        "x = getattr(np.random, 'default_rng', np.random.RandomState)(0).uniform(size=(7, 3, 8, 8))\n"
        "x = x[:3].astype('float32')\n"
        "print(json.dumps(declaration.function(files, **options).run([x])[0].tolist()))"
    )
    with load(files) as predictor:
        assert near(TestTensorFlow().elsewhere(program, files), predictor.run([batch(3)])[0])


def test_a_missing_device_is_refused(tmp_path: Path) -> None:
    if tf.test.is_gpu_available():
        pytest.skip("there is one here")
    assert "has no device `cuda` here; it has cpu" in refusal(frozen(tmp_path), device="cuda")


# Frozen graphs


def test_any_tensor_of_the_graph_may_be_asked_for(tmp_path: Path) -> None:
    with load(frozen(tmp_path), outputs="pooled, scores:0") as predictor:
        assert [tensor.describe()["shape"] for tensor in predictor.outputs] == [[None, 6], [None, 10]]
        answers = predictor.run([batch(2)])
        assert pick(predictor.outputs, "pooled", "output") == 0
    assert near(answers[0], reference(0, batch(2))["pooled"]) and near(answers[1], reference(0, batch(2))["scores"])
    assert refusal(frozen(tmp_path), outputs="pulled") == "the model's graph has no tensor `pulled`"


def test_inputs_that_the_outputs_do_not_need_are_not_asked_for(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        v1.placeholder_with_default(np.float32(1), [], name="rate")
        other = v1.placeholder(tf.bool, [], name="training")
        tf.negative(x, name="scores")
        tf.logical_not(other, name="unused")
    with load(write(tmp_path, graph), outputs="scores") as predictor:
        assert [tensor.name for tensor in predictor.inputs] == ["x"]
        assert predictor.run([np.ones((1, 3), np.float32)])[0].tolist() == [[-1, -1, -1]]


def test_every_loose_end_is_an_output(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, None, name="x")
        tf.negative(x, name="minus")
        tf.nn.top_k(tf.identity(x), 2, name="best")
        tf.constant(3.0, name="left_over")
    with load(write(tmp_path, graph)) as predictor:
        assert [tensor.name for tensor in predictor.outputs] == ["minus", "best", "best:1"]
        assert predictor.inputs[0].shape is None
        assert predictor.run([np.float32([1, 5, 3])])[2].tolist() == [1, 2]


def test_an_input_of_words_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(v1.placeholder(tf.string, [None], name="words"))
    assert refusal(write(tmp_path, graph)) == "input `words` is a string, which is not a tensor of numbers"


def test_a_graph_that_is_not_frozen_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        tf.add(x, v1.get_variable("weight", [3]), name="scores")
    assert "the graph has variables (`weight`) and the file no values for them: freeze it" in refusal(
        write(tmp_path, graph)
    )


def test_a_graph_that_reaches_for_files_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        with tf.control_dependencies([tf.io.write_file(str(tmp_path / "stolen"), "x")]):
            tf.identity(x, name="scores")
    assert "is a WriteFile, which reaches out of the model: refused" in refusal(write(tmp_path, graph))


def reaching_out(tmp_path: Path) -> Dict[str, Callable[[], Any]]:
    """What makes an operator that opens files, by its name."""
    place = str(tmp_path / "stolen")
    raw = tf.raw_ops if hasattr(tf, "raw_ops") else None
    saved = {"tensor_names": ["a"], "shape_and_slices": [""]}
    made = {
        "ReadFile": lambda: tf.io.read_file(place),
        "MatchingFiles": lambda: tf.io.matching_files(place + "*"),
        "SaveV2": lambda: raw.SaveV2(prefix=place, tensors=[tf.zeros(1)], **saved),
        "RestoreV2": lambda: raw.RestoreV2(prefix=place, dtypes=[tf.float32], **saved)[0],
        "SaveV2 of a path that no constant holds": lambda: raw.SaveV2(
            prefix=tf.strings.unicode_encode([ord(each) for each in place], "UTF-8"), tensors=[tf.zeros(1)], **saved
        ),
        "InitializeTableFromTextFileV2": lambda: raw.InitializeTableFromTextFileV2(
            table_handle=raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64),
            filename=place,
            key_index=-2,
            value_index=-1,
        ),
        "WholeFileReaderV2": lambda: raw.WholeFileReaderV2(),
        "TextLineDataset": lambda: raw.TextLineDataset(
            filenames=place, compression_type="", buffer_size=tf.constant(1, tf.int64)
        ),
        "DebugIdentity": lambda: raw.DebugIdentity(input=tf.zeros(1), debug_urls=["file://" + place]),
    }
    there = [name for name in made if hasattr(tf.io, name) or hasattr(raw, name.split(" ")[0])]  # not all by 1.15
    return {name: made[name] for name in there or ("ReadFile", "MatchingFiles")}


def test_whatever_opens_files_is_refused(tmp_path: Path) -> None:
    for name, make in reaching_out(tmp_path).items():
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [None, 3], name="x")
            operation = make()
            with tf.control_dependencies([operation]):
                tf.identity(x, name="scores")
        told = refusal(write(tmp_path, graph), outputs="scores")
        assert "which reaches out of the model: refused" in told and name.split(" ")[0] in told, (name, told)
    assert not list(tmp_path.glob("stolen*"))


@pytest.mark.skipif(VERSION[0] < 2, reason="functions in a SavedModel came with TensorFlow 2")
@pytest.mark.parametrize("way", ["plainly", "in a branch", "handed on"])
def test_a_function_that_saves_is_refused_where_the_model_names_the_file(tmp_path: Path, way: str) -> None:
    place = str(tmp_path / "stolen")

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def save(name: Any) -> Any:
        tf.raw_ops.SaveV2(prefix=name, tensor_names=["a"], shape_and_slices=[""], tensors=[tf.zeros(1)])
        return tf.constant(1.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def hand_on(name: Any) -> Any:
        return save(name)

    def call(input: Any) -> Any:
        if way == "in a branch":
            one = tf.cond(tf.reduce_sum(input) > 0, lambda: save(tf.constant(place)), lambda: tf.constant(1.0))
        else:
            one = (hand_on if way == "handed on" else save)(tf.constant(place))
        return {"scores": tf.reduce_max(input, axis=[2, 3]) * one}

    module = tf.Module()
    module.call = tf.function(call, input_signature=[tf.TensorSpec([None, 3, 8, 8], tf.float32, name="input")])
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=module.call.get_concrete_function())
    assert "which reaches out of the model: refused" in refusal({"graph": str(tmp_path / "saved")})
    assert not list(tmp_path.glob("stolen*"))


def test_a_graph_of_another_release_is_refused_with_a_guess(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(v1.placeholder(tf.float32, [None, 3], name="x"), name="scores")
    definition = graph.as_graph_def()
    definition.node[1].op = "WarpDrive"
    (tmp_path / "model.pb").write_bytes(definition.SerializeToString())
    message = refusal({"graph": str(tmp_path / "model.pb")})
    assert message.startswith("TensorFlow %s cannot load the model: " % tf.__version__)
    assert "WarpDrive" in message and "a newer TensorFlow, or an add-on to it, wrote this graph" in message


# convert_variables_to_constants of TensorFlow 1.15.5: convolution, ReLU, mean, ten classes, softmax.
FROM_1_15 = (
    "eNrtlD9v00AYxm3HcezXKk1f/pQedIlAqrwUMVZChKQSVBCESlRG6/Bd2hOObdnnKN06gZj5ImyMMPAtkJj5FnB27DgtZWBg45Q3id6znvd5"
    "7pcLPIa2iJJcovsipAE/iUPGU+8OtLMTmnC8tbeFrv2zXjoadkuVXZTnQpvJU/WUcU+HjzqYIc0ktodxlMlzm94HHdozGuYc3+uDt7qto10p"
    "QW+uaf0vmqapOvuslevsoXrrq1f/X+7BA3AKx7sppwztA8YjKeQpKWN4HdDHpfdNsPxAtTJcAxedMA72+sUT8K4F1kSEkqeXZv5h1Jm/G4Nv"
    "hsrcrTIvq/fVuNzk/97f9GAI7gLERZQVH29ryXAd1tAtGVZbNWd4CldkSqMsiTO+m/B0WlO9W3O8PSCKm6nImb1uYaGg11Klq1qF31KOnKUY"
    "OuP6K1lcNnJhUvNjUyLjcnYh8kldqSlNMrSUkdn9fdJoktXA3lXoZDIVjGdog0VMXS3vOriMSupP4nRKJVpoPn/yatiMQugklDERHWMH20eP"
    "nh3sezegm2fcD3IWRX4c+cdJjsZOoeUwEVIp1IGsjNiEDT5PQhEI6VdaGRqgwTZYNJBixtE85GFOyhjNUY/gZhLHIWfKPsuDQtYXEROBCvD7"
    "VWp52zWBawOsCBg9W68IwBFYCzk0R5xGpJpN/jjEAzDHgs1L8XVw3nCe+ExMlfkdrbF5CNaIylEeYvVJqjmk+d9oznMD3CUe/3WpdK5Fixb0"
    "wMqCOFVBOy/jiZzSOanEl0qo/QJtmjyb"
)


def test_a_graph_that_tensorflow_1_froze_runs_on_every_release(tmp_path: Path) -> None:
    (tmp_path / "model.pb").write_bytes(zlib.decompress(base64.b64decode(FROM_1_15)))
    last = (np.arange(30).reshape(3, 10) % 7 - 3).astype("float64")
    filters = (np.arange(81).reshape(3, 3, 3, 3) % 5 - 2).astype("float64")
    pixels = batch(4).transpose(0, 2, 3, 1).astype("float64")
    maps = sum(
        pixels[:, row : row + 6, column : column + 6] @ filters[row, column] for row in range(3) for column in range(3)
    )
    logits = np.exp(np.maximum(maps, 0).mean((1, 2)) @ last)
    with load({"graph": str(tmp_path / "model.pb")}) as predictor:
        assert [tensor.name for tensor in predictor.inputs + predictor.outputs] == ["input", "scores"]
        assert predictor.inputs[0].shape == (None, 3, 8, 8)
        assert near(predictor.run([batch(4)])[0], logits / logits.sum(1, keepdims=True))
        assert near(predictor.intermediates([batch(4)])["maps"], maps)


# SavedModels


def test_a_saved_model_of_tensorflow_1_runs(tmp_path: Path) -> None:
    saved_model_1(tmp_path / "old")
    with load({"graph": str(tmp_path / "old")}) as predictor:
        assert near(predictor.run([batch(3)])[0], reference(0, batch(3))["scores"])
        inside = predictor.intermediates([batch(3)])
    assert near(inside["active"], reference(0, batch(3))["active"])


def test_a_signature_is_chosen_by_name(tmp_path: Path) -> None:
    files = saved_model(tmp_path)
    with load(files, signature="serving_default") as predictor:
        assert [tensor.name for tensor in predictor.inputs] == ["input"]
    assert refusal(files, signature="train") == "the SavedModel has no signature `train`; it has serving_default"
    assert "train" in refusal(files, tag="train")


def test_a_saved_model_is_not_its_one_file(tmp_path: Path) -> None:
    files = saved_model(tmp_path)
    message = refusal({"graph": files["graph"] + "/saved_model.pb"})
    assert "a SavedModel is given by its folder, not by its saved_model.pb" in message


# Keras


def keras_model(seed: int = 0, lambda_: bool = False) -> Any:
    keras = tf.keras
    made = [
        keras.layers.Permute((2, 3, 1), input_shape=(3, 8, 8), name="pixels")
        if VERSION < [2, 16]
        else keras.layers.Permute((2, 3, 1), name="pixels"),
        keras.layers.Conv2D(6, 3, padding="same", activation="relu", name="active"),
        keras.layers.GlobalAveragePooling2D(name="pooled"),
        keras.layers.Dense(10, use_bias=False, name="scores"),
    ]
    if lambda_:
        made.append(keras.layers.Lambda(lambda x: x, name="evil"))
    model = keras.Sequential(made if VERSION < [2, 16] else [keras.Input((3, 8, 8), name="input")] + made)
    values = weights(seed)
    model.set_weights([values["filter"], values["bias"], values["last"]])
    return model


def save_keras(folder: Path, ending: str, **options: Any) -> Files:
    path = folder / ("model" + ending)
    if VERSION[0] >= 2:
        keras_model(**options).save(str(path))
    else:
        with tf.Graph().as_default(), v1.Session().as_default():
            keras_model(**options).save(str(path))
    return {"graph": str(path)}


ENDINGS = [
    ".h5",
    pytest.param(".keras", marks=pytest.mark.skipif(VERSION < [2, 13], reason="this TensorFlow writes .h5 only")),
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_keras_file_runs(tmp_path: Path, ending: str) -> None:
    with load(save_keras(tmp_path, ending)) as predictor:
        assert predictor.inputs[0].shape == (None, 3, 8, 8) and predictor.outputs[0].shape == (None, 10)
        assert predictor.outputs[0].name == "scores"
        for samples in (1, 5):
            assert near(predictor.run([batch(samples)])[0], reference(0, batch(samples))["scores"])
        inside = predictor.intermediates([batch(2)])
        assert any(near(value, reference(0, batch(2))["active"]) for value in inside.values())
        assert predictor.profile([batch(2)])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_keras_file_needs_no_ending(tmp_path: Path, ending: str) -> None:
    files = save_keras(tmp_path, ending)
    shutil.move(files["graph"], str(tmp_path / "cached"))
    with load({"graph": str(tmp_path / "cached")}) as predictor:
        assert near(predictor.run([batch(2)])[0], reference(0, batch(2))["scores"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_keras_file_with_code_is_refused(tmp_path: Path, ending: str) -> None:
    assert "has a Lambda layer, which is Python code: refused" in refusal(save_keras(tmp_path, ending, lambda_=True))


def test_a_keras_file_cannot_ask_for_any_module(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(str(path), "w") as archive:
        archive.writestr("config.json", json.dumps({"module": "os", "class_name": "system", "config": {}}))
    assert refusal({"graph": str(path)}) == "the model needs os.system, which is not Keras's own: refused"


def test_a_keras_layer_cannot_read_a_file_of_words(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    layer = {"module": "keras.layers", "class_name": "StringLookup", "config": {"vocabulary": "/etc/passwd"}}
    with zipfile.ZipFile(str(path), "w") as archive:
        archive.writestr("config.json", json.dumps({"class_name": "Sequential", "config": {"layers": [layer]}}))
    assert refusal({"graph": str(path)}) == "the model's StringLookup reads words from a file: refused"


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("ending", ENDINGS)
def test_half_a_keras_file_is_refused(tmp_path: Path, ending: str, kept: float) -> None:
    files = save_keras(tmp_path, ending)
    content = Path(files["graph"]).read_bytes()
    Path(files["graph"]).write_bytes(content[: int(len(content) * kept)])
    assert refusal(files)


def test_keras_weights_alone_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "model.weights.h5")
    if VERSION[0] >= 2:
        keras_model().save_weights(path)
    else:
        with tf.Graph().as_default(), v1.Session().as_default():
            keras_model().save_weights(path)
    assert refusal({"graph": path}) == "the file holds weights and no model: save it with model.save()"


# Inside the model


@pytest.mark.parametrize("save", [frozen, saved_model])
def test_layers_are_nodes_of_the_graph(tmp_path: Path, save: Any) -> None:
    with load(save(tmp_path)) as predictor:
        profiled = predictor.profile([batch(2)])
    assert any("Conv2D" in layer.kind for layer in profiled) and any("MatMul" in layer.kind for layer in profiled)
    assert any(layer.shapes and layer.shapes[0] == [2, 10] for layer in profiled)
    assert [layer.start_ns for layer in profiled] == sorted(layer.start_ns for layer in profiled)


@pytest.mark.parametrize("save", [frozen, saved_model])
def test_layers_tell_their_kinds_and_what_they_were_told(tmp_path: Path, save: Any) -> None:
    with load(save(tmp_path)) as predictor:
        layers = list(predictor.layers([batch(2)]))
    (convolution,) = (each for each in layers if each.kind == "Conv2D")
    assert convolution.attributes["strides"] == [1, 1, 1, 1] and convolution.attributes["data_format"] == "NHWC"
    assert "T" not in convolution.attributes and "MatMul" in {each.kind for each in layers}


@pytest.mark.parametrize("save", [frozen, saved_model])
def test_intermediate_outputs_are_what_the_layers_give(tmp_path: Path, save: Any) -> None:
    with load(save(tmp_path)) as predictor:
        inside = predictor.intermediates([batch(2)])
    truth = reference(0, batch(2))
    found = {name: [key for key, value in inside.items() if near(value, truth[name])] for name in truth}
    assert all(found.values()), found
    if save is frozen:
        assert all(name in found[name] for name in found)
