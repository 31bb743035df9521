"""One predictor beside its framework's own call, inside a stack: Python 3.6 or newer, numpy, and nothing else of ours
but the worker's source and the tests' writers of models.

    python predictor_calls.py PREDICTOR FORM NETWORK.npz FOLDER SECONDS

The last line that it prints is JSON. With no seconds to measure it only writes the model. `predictor_overhead.py`
starts it.
"""

import contextlib
import gc
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS
from mlmodelscope_worker.session import aligned, open_predictor

BLOCK_S = 0.0003  # so short that most blocks pass undisturbed on a busy machine


# The framework's own call, as lean as its Python interface has it: a numpy array in, a numpy array out. What a loop
# would do once is done once; where it would stand inside a context, that is the second thing that comes back.


def bare_onnxruntime(files):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(files["graph"], options, providers=["CPUExecutionProvider"])
    (given,), (answer,) = session.get_inputs(), session.get_outputs()
    name, names = given.name, [answer.name]
    return lambda x: session.run(names, {name: x})[0]


def bare_pytorch(files):
    import torch

    torch.set_num_threads(1)
    if files["graph"].endswith(".pt2"):
        program = torch.export.load(files["graph"])
        try:
            module = program.module(check_guards=False)
        except TypeError:  # before 2.9 there were none
            module = program.module()
    else:
        module = torch.jit.load(files["graph"]).eval()
    from_numpy = torch.from_numpy
    return lambda x: module(from_numpy(x)).numpy(), getattr(torch, "inference_mode", torch.no_grad)


def bare_tensorflow(files):
    """A callable of a session, in every release: a signature or a Keras model costs several times as much to call."""
    import tensorflow as tf

    v1, path, graph = tf.compat.v1, files["graph"], tf.Graph()
    session = v1.Session(graph=graph, config=v1.ConfigProto(intra_op_parallelism_threads=1))
    if path.endswith((".keras", ".h5")):
        return bare_keras(tf, path)
    with graph.as_default():
        if os.path.isdir(path):
            loaded = v1.saved_model.loader.load(session, ["serve"], path)
            signature = loaded.signature_def["serving_default"]
            ((_, given),), ((_, answer),) = signature.inputs.items(), signature.outputs.items()
            names = given.name, answer.name
        else:
            definition = v1.GraphDef()
            definition.ParseFromString(Path(path).read_bytes())
            v1.import_graph_def(definition, name="")
            names = "input:0", "probabilities:0"
    given, answer = [graph.get_tensor_by_name(name) for name in names]
    return session.make_callable(answer, feed_list=[given])


def bare_keras(tf, path):
    if tf.__version__.startswith("1."):
        backend = tf.keras.backend
        backend.set_learning_phase(0)
        model = tf.keras.models.load_model(path, compile=False)
        return backend.get_session().make_callable(model.output, feed_list=[model.input])
    model = tf.keras.models.load_model(path, compile=False)
    specification = tf.TensorSpec(model.inputs[0].shape, tf.float32)
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(specification)
    return lambda x: function(tf.constant(x)).numpy()


def bare_tflite(files):
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        from tflite_runtime.interpreter import Interpreter
    interpreter = Interpreter(model_path=files["graph"], num_threads=1)
    interpreter.allocate_tensors()
    (given,), (answer,) = interpreter.get_input_details(), interpreter.get_output_details()
    into, out = given["index"], answer["index"]

    def call(x):
        interpreter.set_tensor(into, x)
        interpreter.invoke()
        return interpreter.get_tensor(out)

    return call


def bare_mxnet(files):
    import mxnet as mx

    os.environ.pop("MXNET_SUBGRAPH_BACKEND", None)  # MXNet 1.5 binds nothing where it says NONE
    symbol = mx.sym.load(files["graph"])
    weights = {name.split(":", 1)[-1]: value for name, value in mx.nd.load(files["weights"]).items()}
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", input=(1, 3, 8, 8))
    executor.copy_params_from(weights)
    held = executor.arg_dict["input"]

    def call(x):
        held[:] = x
        return executor.forward(is_train=False)[0].asnumpy()

    return call


def bare_caffe(files):
    import caffe

    net = caffe.Net(files["graph"], caffe.TEST, weights=files["weights"])
    held, (answer,) = net.blobs["input"].data, net.outputs

    def call(x):
        held[...] = x
        return net.forward()[answer]

    return call


def bare_caffe2(files):
    from caffe2.python import workspace

    predictor = workspace.Predictor(Path(files["weights"]).read_bytes(), Path(files["graph"]).read_bytes())
    return lambda x: predictor.run({"input": x})[0]


def bare_cntk(files):
    import cntk

    function = cntk.Function.load(files["graph"], device=cntk.device.cpu())
    (argument,) = function.arguments
    return lambda x: function.eval({argument: x})


def bare_openvino(files):
    import openvino

    settings = {"NUM_STREAMS": "1", "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    request = openvino.Core().compile_model(files["graph"], "CPU", settings).create_infer_request()
    return lambda x: request.infer({0: x}, share_inputs=True)[0]


def bare_opencv(files):
    import cv2

    cv2.setNumThreads(1)
    net = cv2.dnn.readNetFromONNX(files["graph"])
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)

    def call(x):
        net.setInput(x)
        return net.forward()

    return call


def bare_ncnn(files):
    import ncnn

    net = ncnn.Net()
    net.opt.num_threads = 1
    net.load_param(files["graph"])
    net.load_model(files["weights"])
    matrix = ncnn.Mat

    def call(x):
        extractor = net.create_extractor()
        extractor.input("input", matrix(x[0]))
        return np.array(extractor.extract("probabilities")[1])

    return call


def bare_jax(files):
    import jax
    from jax import export

    function = jax.jit(export.deserialize(bytearray(Path(files["graph"]).read_bytes())).call)
    return lambda x: np.asarray(function(x)["probabilities"])


def bare_sklearn(files):
    import skops.io

    return skops.io.load(files["graph"]).predict_proba


def bare_lightgbm(files):
    import lightgbm

    booster = lightgbm.Booster(model_file=files["graph"])
    return lambda x: booster.predict(x, num_threads=1)


def bare_xgboost(files):
    import xgboost

    booster = xgboost.Booster({"nthread": 1}, model_file=files["graph"])
    return lambda x: booster.inplace_predict(x, validate_features=False)


def bare_fake(files):
    """It is its own framework; what is left is `check`."""
    predictor = open_ours("fake", files)
    return lambda x: predictor.run([x])[0]


def bare_remote(files):
    import remote

    return remote.bare(files["url"], files["model"], "input", "scores")


# Models of tables, which the tests' writers do not make.


def write_sklearn(folder):
    import skops.io
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=20).fit(np.random.RandomState(0).rand(40, 16), np.arange(40) % 10)
    skops.io.dump(model, str(folder / "model.skops"))
    return {"graph": str(folder / "model.skops")}


def write_lightgbm(folder):
    import lightgbm

    table = lightgbm.Dataset(np.random.RandomState(0).rand(40, 16), np.arange(40) % 10)
    settings = {"objective": "multiclass", "num_class": 10, "num_leaves": 4, "num_threads": 1, "verbosity": -1}
    lightgbm.train(settings, table, 2).save_model(str(folder / "model.txt"))
    return {"graph": str(folder / "model.txt")}


def write_xgboost(folder):
    import xgboost

    table = xgboost.DMatrix(np.random.RandomState(0).rand(40, 16), np.arange(40) % 10)
    settings = {"objective": "multi:softprob", "num_class": 10, "max_depth": 2, "nthread": 1}
    xgboost.train(settings, table, 2).save_model(str(folder / "model.json"))
    return {"graph": str(folder / "model.json")}


def write_fake(folder):
    (folder / "model.json").write_text(json.dumps({"shape": [None, 3, 8, 8]}))
    return {"graph": str(folder / "model.json")}


def files_of(predictor, form, network, folder):
    """Where the model is. It is written by a child: what writing does to a framework's state ends with it."""
    said = folder / "files.json"
    if not said.exists():
        child = os.fork()
        if child == 0:
            status = 1
            try:
                own = globals().get("write_" + predictor)
                said.write_text(json.dumps(own(folder) if own else write_network(form, network, folder)))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit("the model could not be written")
    return json.loads(said.read_text())


def write_network(form, network, folder):
    from worker_package.predictor import nets

    return nets.write(form, nets.Network.load(Path(network)), folder)


def open_ours(name, files):
    options = PREDICTORS[name].resolve(files if name == "remote" else {})
    return open_predictor(PredictorTask(name, files, options))


def question(predictor):
    """One sample as the worker would stack it."""
    (expected,) = predictor.inputs
    shape = expected.shape or (1, 3, 8, 8)
    tensor = aligned([size or 1 for size in shape], expected.element_type)
    tensor[...] = np.random.RandomState(0).uniform(-1, 1, tensor.shape)
    return tensor


def blocks_of(call, around=contextlib.suppress):
    """A function that makes a number of calls and says how many seconds they took."""

    def block(calls):
        with around():
            start = time.perf_counter()
            for _ in range(calls):
                call()
            return time.perf_counter() - start

    return block


def count_calls(block, warm_up_s):
    """How many calls make a block, after a warm-up."""
    shortest, deadline = block(1), time.perf_counter() + warm_up_s
    while time.perf_counter() < deadline:
        shortest = min(shortest, block(1))
    return max(1, int(BLOCK_S / shortest))


def take_turns(contenders, budget_s):
    """Microseconds per call of each block, the contenders in turns."""
    calls = min(count_calls(block, budget_s / 10) for block in contenders.values())
    seen = {name: [] for name in contenders}
    gc.collect()
    gc.disable()  # as the worker does while it measures
    deadline, order = time.perf_counter() + budget_s, list(contenders)
    while time.perf_counter() < deadline:
        for name in order:
            seen[name].append(1e6 * contenders[name](calls) / calls)
        order.reverse()  # who comes first finds other caches than who comes last
    gc.enable()
    return seen, calls


def contenders_of(predictor, tensor, bare, around):
    tensors = [tensor]
    check, run = predictor.check, predictor.run

    def worker():
        check(tensors)
        run(tensors)

    return {
        "bare": blocks_of(lambda: bare(tensor), around),
        "run": blocks_of(lambda: run(tensors)),
        "worker": blocks_of(worker),
    }


def main():
    name, form, network, folder, budget_s = sys.argv[1:]
    files = files_of(name, form, network, Path(folder))
    if not float(budget_s):
        return
    predictor = open_ours(name, files)
    tensor = question(predictor)
    made = globals()["bare_" + name](files)
    bare, around = made if isinstance(made, tuple) else (made, contextlib.suppress)
    with around():
        expected = np.array(bare(tensor))
    answer = predictor.run([tensor])[0]
    seen, calls = take_turns(contenders_of(predictor, tensor, bare, around), float(budget_s))
    agrees = bool(np.allclose(np.squeeze(answer), np.squeeze(expected), atol=1e-5))
    print(json.dumps({"agrees": agrees, "calls": calls, "us": seen}), flush=True)
    os._exit(0)  # frameworks with threads of their own may hang or crash in an orderly exit


if __name__ == "__main__":
    main()
