"""ncnn: a text and a row of numbers. A blob that several layers take is split by a layer of its own."""

from collections import Counter
from pathlib import Path
from typing import Dict, List

from worker_package.predictor.nets.network import Files, Layer, Network

_FLOAT32_FOLLOWS = b"\0\0\0\0"


def write(network: Network, folder: Path) -> Files:
    channels, height, width = network.shape
    takers = Counter(name for layer in network.layers for name in layer.inputs)
    lines = [_line("Input", "input", [], ["input"], "0=%d 1=%d 2=%d" % (width, height, channels))]
    content = b""
    taken = Counter()  # type: Counter
    lines += _split("input", takers)
    for layer in network.layers:
        inputs = []
        for name in layer.inputs:
            inputs.append("%s_%d" % (name, taken[name]) if takers[name] > 1 else name)
            taken[name] += 1
        kind, parameters = _said(layer)
        lines.append(_line(kind, layer.name, inputs, [layer.name], parameters))
        lines += _split(layer.name, takers)
        if layer.weight is not None:
            content += _FLOAT32_FOLLOWS + layer.weight.tobytes() + layer.bias.tobytes()
    return save(folder, text(lines), content)


def text(lines: List[str]) -> str:
    blobs = sum(int(line.split()[3]) for line in lines)
    return "7767517\n%d %d\n%s\n" % (len(lines), blobs, "\n".join(lines))


def save(folder: Path, network: str, content: bytes) -> Files:
    (folder / "model.param").write_text(network)
    (folder / "model.bin").write_bytes(content)
    return {"graph": str(folder / "model.param"), "weights": str(folder / "model.bin")}


def _line(kind: str, name: str, inputs: List[str], outputs: List[str], parameters: str = "") -> str:
    return " ".join([kind, name, str(len(inputs)), str(len(outputs))] + inputs + outputs + [parameters]).strip()


def _split(name: str, takers: Dict[str, int]) -> List[str]:
    if takers[name] < 2:
        return []
    return [_line("Split", name + "_split", [name], ["%s_%d" % (name, place) for place in range(takers[name])])]


def _said(layer: Layer) -> tuple:
    if layer.kind == "convolution":
        (rows, columns), (top, left, bottom, right) = layer.kernel, layer.pads
        sizes = "0=%d 1=%d 11=%d 3=%d" % (layer.weight.shape[0], columns, rows, layer.stride)
        sizes += " 4=%d 14=%d 15=%d 16=%d 5=1 6=%d" % (left, top, right, bottom, layer.weight.size)
        if layer.groups == 1:
            return "Convolution", sizes
        return "ConvolutionDepthWise", "%s 7=%d" % (sizes, layer.groups)
    if layer.kind == "dense":
        return "InnerProduct", "0=%d 1=1 2=%d" % (layer.weight.shape[0], layer.weight.size)
    return {
        "relu": ("ReLU", ""),
        "relu6": ("Clip", "0=0.0 1=6.0"),
        "max_pool": ("Pooling", "0=0 1=2 2=2"),
        "average": ("Pooling", "0=1 4=1"),
        "softmax": ("Softmax", "0=0"),
        "add": ("BinaryOp", "0=0"),
    }[layer.kind]
