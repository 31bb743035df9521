"""A program as a module of PyTorch: TorchScript, or an exported program. Each node is a module by its own name."""

import re
import warnings

import torch
from torch.nn import functional

from diff_written.program import NotWritten, pads_of


class Layer(torch.nn.Module):
    """One node; `known` are its inputs that are weights."""

    def __init__(self, node, known):
        super().__init__()
        self.node = node
        self.places = [name in known for name in node.inputs]
        self.plain = {name: value.tolist() for name, value in known.items() if value.size <= 8}
        for place, name in enumerate(node.inputs):
            if name in known:
                self.register_buffer(f"weight{place}", torch.from_numpy(known[name].copy()))

    def forward(self, *taken):
        taken = list(taken)
        inputs = [
            getattr(self, f"weight{place}") if is_weight else taken.pop(0) if name else None
            for place, (is_weight, name) in enumerate(zip(self.places, self.node.inputs, strict=True))
        ]
        return OPERATORS.get(self.node.kind, _none)(self, self.node, inputs)

    def numbers(self, place):
        """A small weight as a list, or as one number."""
        return self.plain[self.node.inputs[place]]


class Whole(torch.nn.Module):
    def __init__(self, program):
        super().__init__()
        self.program = program
        for node in program.nodes:
            known = {name: program.weights[name] for name in node.inputs if name in program.weights}
            self.add_module(_name(node), Layer(node, known))

    def forward(self, *inputs):
        known = {name: value for (name, _, _), value in zip(self.program.inputs, inputs, strict=True)}
        for node in self.program.nodes:
            taken = [known[name] for name in node.inputs if name and name not in self.program.weights]
            made = getattr(self, _name(node))(*taken)
            known.update(zip(node.outputs, made if isinstance(made, (tuple, list)) else [made], strict=True))
        found = tuple(known[name] for name in self.program.outputs)
        return found if len(found) > 1 else found[0]


def _name(node):
    return re.sub(r"\W", "_", node.name) + "_"  # `pool` and the like may be names that a module has


def _none(layer, node, inputs):
    raise NotWritten(f"PyTorch's writer knows no {node.kind}")


def _padded(x, node, value=0.0):
    """(the tensor, padding that is left): what differs at both ends is put around it first."""
    (top, bottom), (left, right) = pads_of(node)
    if (top, left) == (bottom, right):
        return x, (top, left)
    return functional.pad(x, [left, right, top, bottom], value=value), (0, 0)


def _conv(layer, node, inputs):
    x, padding = _padded(inputs[0], node)
    bias = inputs[2] if len(inputs) > 2 else None
    more = {"dilation": node.get("dilations", [1, 1]), "groups": node.get("group", 1)}
    return functional.conv2d(x, inputs[1], bias, stride=node.get("strides", [1, 1]), padding=padding, **more)


def _deconv(layer, node, inputs):
    bias = inputs[2] if len(inputs) > 2 else None
    padding = pads_of(node)
    if any(one != other for one, other in padding):
        raise NotWritten("a transposed convolution that is padded on one side")
    return functional.conv_transpose2d(
        inputs[0],
        inputs[1],
        bias,
        stride=node.get("strides", [1, 1]),
        padding=[one for one, _ in padding],
        output_padding=node.get("output_padding", [0, 0]),
        groups=node.get("group", 1),
        dilation=node.get("dilations", [1, 1]),
    )


def _batch_norm(layer, node, inputs):
    x, scale, shift, mean, variance = inputs
    return functional.batch_norm(x, mean, variance, scale, shift, eps=node.get("epsilon", 1e-5))


def _layer_norm(layer, node, inputs):
    if node.get("axis", -1) not in (-1, inputs[0].dim() - 1):
        raise NotWritten("a layer normalization over another axis than the last")
    bias = inputs[2] if len(inputs) > 2 else None
    return functional.layer_norm(inputs[0], [inputs[0].shape[-1]], inputs[1], bias, eps=node.get("epsilon", 1e-5))


def _max_pool(layer, node, inputs):
    x, padding = _padded(inputs[0], node, float("-inf"))
    more = {"dilation": node.get("dilations", [1, 1]), "ceil_mode": bool(node.get("ceil_mode", 0))}
    return functional.max_pool2d(x, node.get("kernel_shape", None), node.get("strides", [1, 1]), padding, **more)


def _average_pool(layer, node, inputs):
    (top, bottom), (left, right) = pads_of(node)
    if (top, left) != (bottom, right):
        raise NotWritten("an average whose padding differs at both ends")
    return functional.avg_pool2d(
        inputs[0],
        node.get("kernel_shape", None),
        node.get("strides", [1, 1]),
        (top, left),
        bool(node.get("ceil_mode", 0)),
        bool(node.get("count_include_pad", 0)),
    )


def _gemm(layer, node, inputs):
    x = inputs[0].transpose(0, 1) if node.get("transA", 0) else inputs[0]
    weight = inputs[1] if node.get("transB", 0) else inputs[1].transpose(0, 1)
    x = x * node.get("alpha", 1.0) if node.get("alpha", 1.0) != 1.0 else x
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None and node.get("beta", 1.0) != 1.0:
        bias = bias * node.get("beta", 1.0)
    return functional.linear(x, weight, bias)


def _flatten(layer, node, inputs):
    axis = node.get("axis", 1)
    x = inputs[0]
    if axis == 1:
        return torch.flatten(x, 1)
    rows = 1
    for size in x.shape[:axis]:
        rows *= size
    return x.reshape(rows, -1)


def _reshape(layer, node, inputs):
    return inputs[0].reshape(layer.numbers(1))


def _split(layer, node, inputs):
    axis, sizes = node.get("axis", 0), layer.numbers(1) if len(inputs) > 1 else None
    return torch.split(inputs[0], sizes or inputs[0].shape[axis] // len(node.outputs), axis)


def _slice(layer, node, inputs):
    x, count = inputs[0], len(layer.numbers(1))
    axes = layer.numbers(3) if len(inputs) > 3 else list(range(count))
    steps = layer.numbers(4) if len(inputs) > 4 else [1] * count
    for start, end, axis, step in zip(layer.numbers(1), layer.numbers(2), axes, steps, strict=True):
        if step < 0:
            raise NotWritten("a slice from the end")
        x = x[(slice(None),) * (axis % x.dim()) + (slice(start, end, step),)]
    return x


def _gather(layer, node, inputs):
    axis = node.get("axis", 0)
    if layer.places[1]:
        found = layer.numbers(1)
        return inputs[0].select(axis, found) if isinstance(found, int) else inputs[0].index_select(axis, inputs[1])
    if axis or not layer.places[0]:
        raise NotWritten("a choice by numbers that are computed")
    return functional.embedding(inputs[1], inputs[0])


def _resize(layer, node, inputs):
    if len(inputs) < 3 or inputs[2] is None:
        raise NotWritten("a resize to a size")
    scales = layer.numbers(2)[2:]
    mode, rule = node.get("mode", "nearest"), node.get("coordinate_transformation_mode", "half_pixel")
    if mode == "linear" and rule in ("half_pixel", "align_corners"):
        corners = rule == "align_corners"
        return functional.interpolate(inputs[0], scale_factor=scales, mode="bilinear", align_corners=corners)
    if mode == "cubic" and rule in ("half_pixel", "align_corners") and node.get("cubic_coeff_a", -0.75) == -0.75:
        corners = rule == "align_corners"
        return functional.interpolate(inputs[0], scale_factor=scales, mode="bicubic", align_corners=corners)
    if mode == "nearest" and rule == "asymmetric" and node.get("nearest_mode", "round_prefer_floor") == "floor":
        return functional.interpolate(inputs[0], scale_factor=scales, mode="nearest")
    raise NotWritten(f"a resize by {mode} and {rule}")


def _bounded(layer, node, inputs):
    low, high = ([layer.numbers(place) if name else None for place, name in enumerate(node.inputs)][1:] + [None] * 2)[
        :2
    ]
    return torch.clamp(inputs[0], low, high)


def _mean(layer, node, inputs):
    axes = node.get("axes", None) or layer.numbers(1)
    return inputs[0].mean(axes, keepdim=bool(node.get("keepdims", 1)))


def _plain(function):
    return lambda layer, node, inputs: function(*inputs)


OPERATORS = {
    "Conv": _conv,
    "ConvTranspose": _deconv,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": lambda layer, node, inputs: functional.instance_norm(
        inputs[0], weight=inputs[1], bias=inputs[2], eps=node.get("epsilon", 1e-5)
    ),
    "LayerNormalization": _layer_norm,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": lambda layer, node, inputs: functional.adaptive_avg_pool2d(inputs[0], 1),
    "GlobalMaxPool": lambda layer, node, inputs: functional.adaptive_max_pool2d(inputs[0], 1),
    "Relu": _plain(functional.relu),
    "LeakyRelu": lambda layer, node, inputs: functional.leaky_relu(inputs[0], node.get("alpha", 0.01)),
    "Elu": lambda layer, node, inputs: functional.elu(inputs[0], node.get("alpha", 1.0)),
    "HardSwish": _plain(functional.hardswish),
    "HardSigmoid": lambda layer, node, inputs: torch.clamp(
        inputs[0] * node.get("alpha", 0.2) + node.get("beta", 0.5), 0.0, 1.0
    ),
    "Sigmoid": _plain(torch.sigmoid),
    "Tanh": _plain(torch.tanh),
    "Erf": _plain(torch.erf),
    "Exp": _plain(torch.exp),
    "Sqrt": _plain(torch.sqrt),
    "Neg": _plain(torch.neg),
    "Identity": _plain(torch.clone),
    "Clip": _bounded,
    "Softmax": lambda layer, node, inputs: functional.softmax(inputs[0], dim=node.get("axis", -1)),
    "LogSoftmax": lambda layer, node, inputs: functional.log_softmax(inputs[0], dim=node.get("axis", -1)),
    "Add": _plain(torch.add),
    "Sub": _plain(torch.sub),
    "Mul": _plain(torch.mul),
    "Div": _plain(torch.div),
    "MatMul": _plain(torch.matmul),
    "Gemm": _gemm,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Transpose": lambda layer, node, inputs: inputs[0].permute(node.get("perm", None)),
    "Concat": lambda layer, node, inputs: torch.cat(inputs, node.get("axis", 0)),
    "Split": _split,
    "Slice": _slice,
    "Gather": _gather,
    "Resize": _resize,
    "ReduceMean": _mean,
}


def _examples(program):
    return tuple(torch.zeros(shape, dtype=getattr(torch, kind)) for _, shape, kind in program.inputs)


def write_script(program, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # new releases would rather export
        traced = torch.jit.trace(Whole(program).eval(), _examples(program), check_trace=False)
        torch.jit.save(traced, target)


def write_program(program, target):
    torch.export.save(torch.export.export(Whole(program).eval(), _examples(program)), target)
