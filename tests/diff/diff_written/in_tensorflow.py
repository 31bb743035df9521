"""A program as TensorFlow has it, pictures channels last: a SavedModel, and TensorFlow Lite by its own converter."""

import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from diff_written.program import NotWritten, pads_of


class Graph:
    """Tensors by name, and which of them are channels last where the program has channels first."""

    def __init__(self, program, pictures):
        self.program = program
        self.known = {name: value for name, value in program.weights.items()}
        self.turned = set()
        for (name, shape, _), value in zip(program.inputs, pictures, strict=True):
            self.known[name] = value
            if len(shape) == 4:
                self.turned.add(name)

    def run(self):
        for node in self.program.nodes:
            make = OPERATORS.get(node.kind)
            if make is None:
                raise NotWritten(f"TensorFlow's writer knows no {node.kind}")
            with tf.name_scope(re.sub(r"[^\w.]", "_", node.name)):
                made = make(self, node)
            for name, value in zip(node.outputs, made if isinstance(made, list) else [made], strict=True):
                self.known[name] = value
        return {name: tf.identity(self.value(name), name=name) for name in self.program.outputs}

    def taken(self, node):
        """Inputs as they are held; all in one layout, which the answer has, too. Weights follow it."""
        is_turned = any(name in self.turned for name in node.inputs)
        found = []
        for name in node.inputs:
            value = self.known[name] if name else None
            is_weight = name in self.program.weights
            if is_turned and name not in self.turned and value is not None:
                if is_weight and value.ndim == 4:
                    value = value.transpose(0, 2, 3, 1)
                elif is_weight and value.ndim == 3:
                    value = value.transpose(1, 2, 0)
                elif not is_weight:
                    value = tf.transpose(value, [0, 2, 3, 1])
            found.append(value)
        if is_turned:
            self.turned.update(node.outputs)
        return found, is_turned

    def value(self, name):
        """Channels first, as the program has it."""
        value = self.known[name]
        return tf.transpose(value, [0, 3, 1, 2]) if name in self.turned else value

    def picture(self, node, place=0):
        """An input that has channels, which are last; so are those of the answer."""
        name = node.inputs[place]
        self.turned.update(node.outputs)
        return self.known[name] if name in self.turned else tf.transpose(self.known[name], [0, 2, 3, 1])

    def weight(self, node, place):
        return self.program.weights[node.inputs[place]]


def _conv(graph, node):
    x, weight = graph.picture(node), graph.weight(node, 1)
    strides, dilations, group = node.get("strides", [1, 1]), node.get("dilations", [1, 1]), node.get("group", 1)
    (top, bottom), (left, right) = pads_of(node)
    if top or bottom or left or right:
        x = tf.pad(x, [[0, 0], [top, bottom], [left, right], [0, 0]])
    if group == weight.shape[0] and weight.shape[1] == 1 and group > 1:
        if strides[0] != strides[1]:
            raise NotWritten("a depthwise convolution with two strides")
        filters = np.ascontiguousarray(weight.transpose(2, 3, 0, 1))
        x = tf.nn.depthwise_conv2d(x, filters, [1] + strides + [1], "VALID", dilations=dilations)
    elif group > 1:  # groups of TensorFlow Lite and of CPUs are convolutions side by side
        parts = zip(tf.split(x, group, axis=3), np.split(weight, group, axis=0), strict=True)
        made = [tf.nn.conv2d(a, w.transpose(2, 3, 1, 0), strides, "VALID", dilations=dilations) for a, w in parts]
        x = tf.concat(made, axis=3)
    else:
        filters = np.ascontiguousarray(weight.transpose(2, 3, 1, 0))
        x = tf.nn.conv2d(x, filters, strides, "VALID", dilations=dilations)
    return tf.nn.bias_add(x, graph.weight(node, 2)) if len(node.inputs) > 2 else x


def _deconv(graph, node):
    x, weight = graph.picture(node), graph.weight(node, 1)
    strides, kernel = node.get("strides", [1, 1]), weight.shape[2:]
    if any(node.get("pads", [0])) or node.get("group", 1) != 1 or node.get("dilations", [1, 1]) != [1, 1]:
        raise NotWritten("a transposed convolution that is padded, grouped or dilated")
    sizes = [(size - 1) * stride + width for size, stride, width in zip(x.shape[1:3], strides, kernel, strict=True)]
    filters = np.ascontiguousarray(weight.transpose(2, 3, 1, 0))
    x = tf.nn.conv2d_transpose(x, filters, [1] + sizes + [weight.shape[1]], strides, "VALID")
    return tf.nn.bias_add(x, graph.weight(node, 2)) if len(node.inputs) > 2 else x


def _batch_norm(graph, node):
    x = graph.picture(node)
    scale, shift, mean, variance = (graph.weight(node, place) for place in (1, 2, 3, 4))
    epsilon = node.get("epsilon", 1e-5)
    return tf.compat.v1.nn.fused_batch_norm(x, scale, shift, mean, variance, epsilon, is_training=False)[0]


def _normalized(x, axes, epsilon, scale, shift):
    mean = tf.reduce_mean(x, axes, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), axes, keepdims=True)
    x = (x - mean) * tf.math.rsqrt(variance + epsilon) * scale
    return x if shift is None else x + shift


def _layer_norm(graph, node):
    (x, scale, *shift), _ = graph.taken(node)
    return _normalized(x, [-1], node.get("epsilon", 1e-5), scale, shift[0] if shift else None)


def _instance_norm(graph, node):
    x = graph.picture(node)
    return _normalized(x, [1, 2], node.get("epsilon", 1e-5), graph.weight(node, 1), graph.weight(node, 2))


def _pool(graph, node):
    x = graph.picture(node)
    is_max = node.kind == "MaxPool"
    (top, bottom), (left, right) = pads_of(node)
    kernel, strides = node.get("kernel_shape", None), node.get("strides", [1, 1])
    if node.get("ceil_mode", 0):
        raise NotWritten("a pooling that rounds up")
    padding = [[0, 0], [top, bottom], [left, right], [0, 0]]
    dilations = node.get("dilations", [1, 1])
    if is_max:
        if any(map(any, padding)):
            x = tf.pad(x, padding, constant_values=-3e38)
        return tf.nn.pool(x, kernel, "MAX", strides, "VALID", dilations=dilations)
    if not any(map(any, padding)):
        return tf.nn.avg_pool2d(x, kernel, strides, "VALID")
    total = tf.nn.avg_pool2d(tf.pad(x, padding), kernel, strides, "VALID")
    if node.get("count_include_pad", 0):
        return total
    ones = np.pad(np.ones((1,) + tuple(x.shape[1:3]) + (1,), "float32"), padding)
    share = np.mean(
        np.lib.stride_tricks.sliding_window_view(ones[0, :, :, 0], kernel)[:: strides[0], :: strides[1]], axis=(2, 3)
    )
    return total / share[None, :, :, None]


def _gemm(graph, node):
    x, weight = graph.value(node.inputs[0]), graph.weight(node, 1)
    product = tf.matmul(x, weight, transpose_a=bool(node.get("transA", 0)), transpose_b=bool(node.get("transB", 0)))
    if node.get("alpha", 1.0) != 1.0:
        product = product * node.get("alpha", 1.0)
    return product + graph.weight(node, 2) * node.get("beta", 1.0) if len(node.inputs) > 2 else product


def _flatten(graph, node):
    x, axis = graph.value(node.inputs[0]), node.get("axis", 1)
    rows = int(np.prod(x.shape[:axis])) if axis else 1
    return tf.reshape(x, [rows, -1])


def _reshape(graph, node):
    return tf.reshape(graph.value(node.inputs[0]), graph.weight(node, 1))


def _transpose(graph, node):
    perm = node.get("perm", None)
    if node.inputs[0] in graph.turned and perm == [0, 2, 3, 1]:
        return tf.identity(graph.known[node.inputs[0]])
    return tf.transpose(graph.value(node.inputs[0]), perm)


def _axis(node, is_turned, default):
    axis = node.get("axis", default)
    return [0, 3, 1, 2][axis] if is_turned else axis


def _concat(graph, node):
    values, is_turned = graph.taken(node)
    return tf.concat(values, _axis(node, is_turned, 0))


def _softmax(graph, node):
    (x,), is_turned = graph.taken(node)
    function = tf.nn.softmax if node.kind == "Softmax" else tf.nn.log_softmax
    return function(x, axis=_axis(node, is_turned, -1))


def _split(graph, node):
    axis = node.get("axis", 0)
    sizes = graph.weight(node, 1).tolist() if len(node.inputs) > 1 else len(node.outputs)
    return list(tf.split(graph.value(node.inputs[0]), sizes, axis))


def _slice(graph, node):
    x = graph.value(node.inputs[0])
    starts, ends = graph.weight(node, 1).tolist(), graph.weight(node, 2).tolist()
    axes = graph.weight(node, 3).tolist() if len(node.inputs) > 3 else range(len(starts))
    steps = graph.weight(node, 4).tolist() if len(node.inputs) > 4 else [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        x = x[(slice(None),) * (axis % len(x.shape)) + (slice(start, end, step),)]
    return x


def _gather(graph, node):
    return tf.gather(graph.value(node.inputs[0]), graph.value(node.inputs[1]), axis=node.get("axis", 0))


def _resize(graph, node):
    x = graph.picture(node)
    scales = graph.weight(node, 2)[2:]
    sizes = [int(size * scale) for size, scale in zip(x.shape[1:3], scales, strict=True)]
    mode, rule = node.get("mode", "nearest"), node.get("coordinate_transformation_mode", "half_pixel")
    raw, v1 = tf.raw_ops, tf.compat.v1.image
    if mode == "linear" and rule in ("half_pixel", "align_corners", "asymmetric"):
        corners, half = rule == "align_corners", rule == "half_pixel"
        return raw.ResizeBilinear(images=x, size=sizes, align_corners=corners, half_pixel_centers=half)
    if mode == "nearest" and rule == "asymmetric" and node.get("nearest_mode", "round_prefer_floor") == "floor":
        return v1.resize_nearest_neighbor(x, sizes)
    raise NotWritten(f"a resize by {mode} and {rule}")


def _bounded(graph, node):
    values, _ = graph.taken(node)
    low, high = (values[1:] + [None, None])[:2]
    return tf.clip_by_value(values[0], -3.4e38 if low is None else low, 3.4e38 if high is None else high)


def _whole(function):
    def make(graph, node):
        return function(graph.picture(node), axis=[1, 2], keepdims=True)

    return make


def _mean(graph, node):
    axes = node.get("axes", None) or graph.weight(node, 1).tolist()
    return tf.reduce_mean(graph.value(node.inputs[0]), axes, keepdims=bool(node.get("keepdims", 1)))


def _plain(function):
    def make(graph, node):
        return function(*graph.taken(node)[0])

    return make


OPERATORS = {
    "Conv": _conv,
    "ConvTranspose": _deconv,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "MaxPool": _pool,
    "AveragePool": _pool,
    "GlobalAveragePool": _whole(tf.reduce_mean),
    "GlobalMaxPool": _whole(tf.reduce_max),
    "Relu": _plain(tf.nn.relu),
    "LeakyRelu": lambda graph, node: tf.nn.leaky_relu(graph.taken(node)[0][0], node.get("alpha", 0.01)),
    "Elu": _plain(tf.nn.elu),
    "HardSwish": _plain(lambda x: x * tf.nn.relu6(x + 3.0) * (1.0 / 6)),
    "HardSigmoid": lambda graph, node: tf.clip_by_value(
        graph.taken(node)[0][0] * node.get("alpha", 0.2) + node.get("beta", 0.5), 0.0, 1.0
    ),
    "Sigmoid": _plain(tf.sigmoid),
    "Tanh": _plain(tf.tanh),
    "Erf": _plain(tf.math.erf),
    "Exp": _plain(tf.exp),
    "Sqrt": _plain(tf.sqrt),
    "Neg": _plain(tf.negative),
    "Identity": _plain(tf.identity),
    "Clip": _bounded,
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "Add": _plain(tf.add),
    "Sub": _plain(tf.subtract),
    "Mul": _plain(tf.multiply),
    "Div": _plain(tf.divide),
    "MatMul": _plain(tf.matmul),
    "Gemm": _gemm,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Gather": _gather,
    "Resize": _resize,
    "ReduceMean": _mean,
}


def _function(program):
    specs = []
    for name, shape, kind in program.inputs:
        shape = [shape[0], *shape[2:], shape[1]] if len(shape) == 4 else shape
        specs.append(tf.TensorSpec(shape, getattr(tf, kind), name=name))
    module = tf.Module()
    module.call = tf.function(lambda *pictures: Graph(program, pictures).run(), input_signature=specs)
    return module


def write_saved_model(program, target):
    module = _function(program)
    tf.saved_model.save(module, target, signatures=module.call.get_concrete_function())


def write_tflite(program, target):
    module = _function(program)
    concrete = module.call.get_concrete_function()
    content = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module).convert()
    with open(target, "wb") as file:
        file.write(content)
