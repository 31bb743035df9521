"""TensorFlow from 1.13 on: a frozen graph, a SavedModel, a Keras file; and TensorFlow Lite by its own converter.

Pictures are NHWC: on a CPU TensorFlow convolves nothing else.
"""

import os
import shutil
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from worker_package.predictor.nets.network import Files, Layer, Network
from worker_package.predictor.nets.tflite import same

v1 = tf.compat.v1
VERSION = [int(part) for part in tf.__version__.split(".")[:2]]


def _answer(network: Network, pictures: Any, output: str) -> Any:
    shapes = dict(network.shapes(), input=network.shape)
    known = {"input": pictures}
    for layer in network.layers:
        name = output if layer.name == network.output else layer.name
        known[layer.name] = _layer(layer, [known[each] for each in layer.inputs], shapes[layer.inputs[0]], name)
    return known[network.output]


def _layer(layer: Layer, inputs: Any, shape: Any, name: str) -> Any:
    x = inputs[0]
    if layer.kind == "convolution":
        padding = "SAME" if layer.pads == same(shape, layer) else "VALID"
        if padding == "VALID" and any(layer.pads):
            top, left, bottom, right = layer.pads
            x = tf.pad(x, [[0, 0], [top, bottom], [left, right], [0, 0]], name=name + "_padded")
        strides = [1, layer.stride, layer.stride, 1]
        if layer.groups == 1:
            filters = np.ascontiguousarray(layer.weight.transpose(2, 3, 1, 0))
            maps = v1.nn.conv2d(x, filters, strides=strides, padding=padding, name=name + "_maps")
        else:
            filters = np.ascontiguousarray(layer.weight.transpose(2, 3, 0, 1))
            maps = v1.nn.depthwise_conv2d(x, filters, strides, padding, name=name + "_maps")
        return tf.nn.bias_add(maps, layer.bias, name=name)
    if layer.kind == "dense":
        product = tf.matmul(x, np.ascontiguousarray(layer.weight.T), name=name + "_product")
        return tf.nn.bias_add(product, layer.bias, name=name)
    if layer.kind == "max_pool":
        return v1.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", name=name)
    if layer.kind == "average":
        return tf.reduce_mean(x, axis=[1, 2], name=name)
    if layer.kind == "add":
        return tf.add(inputs[0], inputs[1], name=name)
    return {"relu": tf.nn.relu, "relu6": tf.nn.relu6, "softmax": tf.nn.softmax}[layer.kind](x, name=name)


def _shape(network: Network) -> Any:
    channels, height, width = network.shape
    return [None, height, width, channels]


def write_frozen(network: Network, folder: Path) -> Files:
    with tf.Graph().as_default() as graph:
        _answer(network, v1.placeholder(tf.float32, _shape(network), name="input"), network.output)
    (folder / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    return {"graph": str(folder / "model.pb")}


def _function(network: Network) -> Any:
    specification = tf.TensorSpec(_shape(network), tf.float32, name="input")
    return tf.function(
        lambda input: {network.output: _answer(network, input, "answer")}, input_signature=[specification]
    )


def write_saved_model(network: Network, folder: Path) -> Files:
    """As TensorFlow 2 writes it where it is 2, as TensorFlow 1 wrote it otherwise."""
    place = str(folder / "saved_model")
    shutil.rmtree(place, ignore_errors=True)
    if VERSION[0] >= 2:
        module = tf.Module()
        module.call = _function(network)
        tf.saved_model.save(module, place, signatures=module.call.get_concrete_function())
        return {"graph": place}
    with tf.Graph().as_default(), v1.Session() as session:
        pictures = v1.placeholder(tf.float32, _shape(network), name="pictures")
        answer = _answer(network, pictures, "answer")
        v1.saved_model.simple_save(session, place, {"input": pictures}, {network.output: answer})
    return {"graph": place}


def write_tflite(network: Network, folder: Path) -> Files:
    """One picture at a time, as most published files are."""
    specification = tf.TensorSpec([1] + _shape(network)[1:], tf.float32, name="input")
    module = tf.Module()
    module.call = tf.function(lambda input: {network.output: _answer(network, input, "answer")})
    concrete = module.call.get_concrete_function(specification)
    content = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module).convert()
    (folder / "model.tflite").write_bytes(content)
    return {"graph": str(folder / "model.tflite")}


def write_keras(network: Network, folder: Path, ending: str = ".keras") -> Files:
    path = str(folder / ("model" + ending))
    if VERSION[0] >= 2:
        _keras(network).save(path)
    else:
        with tf.Graph().as_default(), v1.Session().as_default():
            _keras(network).save(path)
    return {"graph": path}


def write_h5(network: Network, folder: Path) -> Files:
    return write_keras(network, folder, ".h5")


def _keras(network: Network) -> Any:
    layers = tf.keras.layers
    first = tf.keras.Input(tuple(_shape(network)[1:]), name="input")
    known, weights = {"input": first}, {}
    for layer in network.layers:
        x, name = [known[each] for each in layer.inputs], layer.name
        if layer.kind == "convolution":
            x, filters = _keras_convolution(layer, x[0])
            weights[name] = [filters, layer.bias]
        elif layer.kind == "dense":
            x = layers.Dense(layer.weight.shape[0], name=name)(x[0])
            weights[name] = [layer.weight.T, layer.bias]
        elif layer.kind == "add":
            x = layers.Add(name=name)(x)
        else:
            make = {
                "relu": lambda name: layers.ReLU(name=name),
                "relu6": lambda name: layers.ReLU(6.0, name=name),
                "max_pool": lambda name: layers.MaxPooling2D(2, name=name),
                "average": lambda name: layers.GlobalAveragePooling2D(name=name),
                "softmax": lambda name: layers.Softmax(name=name),
            }[layer.kind]
            x = make(name)(x[0])
        known[name] = x
    model = tf.keras.Model(first, known[network.output])
    for name, values in weights.items():
        model.get_layer(name).set_weights(values)
    return model


def _keras_convolution(layer: Layer, x: Any) -> Any:
    layers = tf.keras.layers
    if any(layer.pads):
        top, left, bottom, right = layer.pads
        x = layers.ZeroPadding2D(((top, bottom), (left, right)), name=layer.name + "_padded")(x)
    if layer.groups == 1:
        made = layers.Conv2D(layer.weight.shape[0], layer.kernel, strides=layer.stride, name=layer.name)
        return made(x), layer.weight.transpose(2, 3, 1, 0)
    made = layers.DepthwiseConv2D(layer.kernel, strides=layer.stride, name=layer.name)
    return made(x), layer.weight.transpose(2, 3, 0, 1)
