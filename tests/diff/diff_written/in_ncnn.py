"""A program as ncnn reads it: a text and a row of numbers. Only what pictures need."""

from collections import Counter

from diff_written.program import NotWritten, pads_of

_FLOAT32_FOLLOWS = b"\0\0\0\0"


def write(program, target):
    if len(program.inputs) != 1 or len(program.inputs[0][1]) != 4:
        raise NotWritten("ncnn's writer takes one picture")
    weights, lines, content = program.weights, [], b""
    (name, shape, _), taken = program.inputs[0], Counter()
    takers = Counter(each for node in program.nodes for each in node.inputs if each and each not in weights)
    lines.append(_line("Input", name, [], [name], {0: shape[3], 1: shape[2], 2: shape[1]}))
    lines += _split(name, takers)
    for node in program.nodes:
        if node.kind not in WRITERS:
            raise NotWritten(f"ncnn's writer knows no {node.kind}")
        inputs = []
        for each in node.inputs:
            if each and each not in weights:
                inputs.append(f"{each}_{taken[each]}" if takers[each] > 1 else each)
                taken[each] += 1
        kind, parameters, numbers = WRITERS[node.kind](node, [weights.get(each) for each in node.inputs])
        lines.append(_line(kind, node.name, inputs, node.outputs, parameters))
        content += numbers
        for each in node.outputs:
            lines += _split(each, takers)
    blobs = sum(int(line.split()[3]) for line in lines)
    with open(target, "w") as file:
        file.write("\n".join(["7767517", f"{len(lines)} {blobs}", *lines, ""]))
    with open(target[: -len(".param")] + ".bin", "wb") as file:
        file.write(content)


def _line(kind, name, inputs, outputs, parameters):
    said = [f"{key}={value!r}" for key, value in sorted(parameters.items())]
    return " ".join([kind, name, str(len(inputs)), str(len(outputs))] + list(inputs) + list(outputs) + said)


def _split(name, takers):
    if takers[name] < 2:
        return []
    return [_line("Split", name + "_split", [name], [f"{name}_{each}" for each in range(takers[name])], {})]


def _conv(node, weights):
    weight, bias = weights[1], weights[2] if len(weights) > 2 else None
    group = node.get("group", 1)
    rows, columns = weight.shape[2:]
    strides, dilations = node.get("strides", [1, 1]), node.get("dilations", [1, 1])
    (top, bottom), (left, right) = pads_of(node)
    said = {0: weight.shape[0], 1: columns, 11: rows, 2: dilations[1], 12: dilations[0], 3: strides[1], 13: strides[0]}
    said.update({4: left, 14: top, 15: right, 16: bottom, 5: int(bias is not None), 6: weight.size})
    if group > 1:
        said[7] = group
    numbers = _FLOAT32_FOLLOWS + weight.astype("<f4").tobytes()
    numbers += b"" if bias is None else bias.astype("<f4").tobytes()
    return "ConvolutionDepthWise" if group > 1 else "Convolution", said, numbers


def _batch_norm(node, weights):
    scale, shift, mean, variance = (each.astype("<f4") for each in weights[1:])
    numbers = scale.tobytes() + mean.tobytes() + variance.tobytes() + shift.tobytes()
    return "BatchNorm", {0: len(scale), 1: float(node.get("epsilon", 1e-5))}, numbers


def _pool(node, weights):
    (top, bottom), (left, right) = pads_of(node)
    if node.get("dilations", [1, 1]) != [1, 1]:
        raise NotWritten("a pooling with holes")
    (rows, columns), strides = node.get("kernel_shape", None), node.get("strides", [1, 1])
    said = {0: int(node.kind == "AveragePool"), 1: columns, 11: rows, 2: strides[1], 12: strides[0]}
    said.update({3: left, 13: top, 14: right, 15: bottom, 5: 0 if node.get("ceil_mode", 0) else 1})
    if node.kind == "AveragePool":
        said[6] = int(node.get("count_include_pad", 0))
    return "Pooling", said, b""


def _gemm(node, weights):
    if node.get("alpha", 1.0) != 1.0 or node.get("transA", 0):
        raise NotWritten("a product with a factor, or turned")
    weight = weights[1] if node.get("transB", 0) else weights[1].T
    numbers = _FLOAT32_FOLLOWS + weight.astype("<f4").tobytes()
    numbers += weights[2].astype("<f4").tobytes() if len(weights) > 2 else b""
    return "InnerProduct", {0: weight.shape[0], 1: int(len(weights) > 2), 2: weight.size}, numbers


def _two(operation):
    def make(node, weights):
        if any(each is not None for each in weights):
            raise NotWritten("arithmetic with a weight")
        return "BinaryOp", {0: operation}, b""

    return make


def _bounded(node, weights):
    low, high = (list(weights[1:]) + [None, None])[:2]
    said = {0: -3.4e38 if low is None else float(low), 1: 3.4e38 if high is None else float(high)}
    return "Clip", said, b""


def _softmax(node, weights):
    if node.get("axis", -1) not in (1, -1):
        raise NotWritten("a softmax over the batch")
    return "Softmax", {0: 0, 1: 1}, b""


def _plain(kind, said=None):
    return lambda node, weights: (kind, dict(said or {}), b"")


WRITERS = {
    "Conv": _conv,
    "BatchNormalization": _batch_norm,
    "MaxPool": _pool,
    "AveragePool": _pool,
    "GlobalAveragePool": _plain("Pooling", {0: 1, 4: 1}),
    "GlobalMaxPool": _plain("Pooling", {0: 0, 4: 1}),
    "Gemm": _gemm,
    "Flatten": _plain("Flatten"),
    "Relu": _plain("ReLU"),
    "LeakyRelu": lambda node, weights: ("ReLU", {0: float(node.get("alpha", 0.01))}, b""),
    "Elu": lambda node, weights: ("ELU", {0: float(node.get("alpha", 1.0))}, b""),
    "HardSwish": _plain("HardSwish", {0: 1 / 6.0, 1: 0.5}),
    "HardSigmoid": lambda node, weights: (
        "HardSigmoid",
        {0: float(node.get("alpha", 0.2)), 1: float(node.get("beta", 0.5))},
        b"",
    ),
    "Sigmoid": _plain("Sigmoid"),
    "Tanh": _plain("TanH"),
    "Clip": _bounded,
    "Softmax": _softmax,
    "Add": _two(0),
    "Sub": _two(1),
    "Mul": _two(2),
}
