"""Caffe: a network as text (prototxt), and the same with its weights as a message (caffemodel)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mlmodelscope.model_file.caffe_message import OLD_KINDS, PARAMETERS, Blob, blobs_of_message, net_of_message
from mlmodelscope.model_file.caffe_text import Tree, parse_text
from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_RANK, MAX_TENSORS, clean, damaged, listed, quote
from mlmodelscope.model_file.model_file import ModelFile, TensorInfo
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Shape, Value, Weight

_SOURCES = ("Input", "Data", "ImageData", "HDF5Data", "WindowData", "MemoryData", "DummyData", "AnnotatedData")
_NOT_OUTPUTS = ("Silence", "HDF5Output", "Accuracy")
_CHANNELS_SECOND = ("Convolution", "Deconvolution", "Pooling", "BatchNorm", "LRN", "ConvolutionDepthwise")
_MARK = re.compile(rb"(^|[\s}])(layers?|input|input_param)\s*[:{]")


def is_prototxt(data: memoryview) -> bool:
    """Whether it is text that has a layer of Caffe's: other messages are written in this form, too."""
    start = bytes(data[: 1 << 14])
    return b"\0" not in start and _MARK.search(start) is not None and re.search(rb"[{]", start) is not None


def describe_caffe(data: memoryview) -> ModelFile:
    return read_caffe_network(data).file


def read_caffe_network(data: memoryview, weights: memoryview | None = None) -> Network:
    """A prototxt, with the weights of a caffemodel where there is one; a caffemodel alone has its layers as well."""
    is_text = is_prototxt(data)
    tree = parse_text(data) if is_text else net_of_message(data)
    found = [_layer(layer) for layer in (*_old(tree), *tree.trees("layer")) if _is_used(layer)]
    if not found:
        raise damaged("it has no layers")
    blobs = (
        dict(blobs_of_message(weights if weights is not None else data)) if weights is not None or not is_text else {}
    )
    named: dict[str, Weight] = {}
    layers = [_with_weights(layer, blobs.get(layer.name, ()), named) for layer in found]
    inputs = _inputs(tree)
    layers = [layer for layer in layers if layer.kind not in _SOURCES]
    notes = _notes(tree, layers, blobs, is_text and weights is None)
    file = _described(tree, found, inputs, is_text, notes)
    tensors = {tensor.name: Known("float32", tensor.shape) for tensor in file.inputs}
    return Network(file, tuple(layers), named, tensors)


def _described(
    tree: Tree, found: list[Layer], inputs: dict[str, Shape | None], is_text: bool, notes: list[str]
) -> ModelFile:
    graph = Graph(_nodes(found))
    taken = {name for layer in found for name in layer.inputs}
    made = dict.fromkeys(name for layer in found for name in layer.outputs if layer.kind not in _NOT_OUTPUTS)
    given = dict(inputs)
    for layer in found:
        if layer.kind in _SOURCES and layer.outputs:
            given.setdefault(layer.outputs[0], None)
    sources = {name for layer in found if layer.kind in _SOURCES for name in layer.outputs}
    # In place, a layer takes what it makes: only what another layer takes is no output.
    used_by_others = {name for layer in found for name in layer.inputs if name not in layer.outputs}
    outputs = [name for name in made if name not in used_by_others and name not in sources]
    if len(given) > MAX_TENSORS or len(outputs) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    if not given and taken - set(made):
        given = dict.fromkeys(sorted(taken - set(made)))
    last = _last_names(found)
    return ModelFile(
        format="caffe",
        framework="caffe",
        inputs=tuple(
            TensorInfo(name, "float32", shape, graph.input_layout(f"{name}#0", len(shape) if shape else 4))
            for name, shape in given.items()
        ),
        outputs=tuple(TensorInfo(name, "float32", None) for name in outputs),
        producer=None,
        version="prototxt" if is_text else "caffemodel",
        ends_in_softmax=graph.ends_in_softmax(last.get(outputs[0], "")) if outputs else None,
        labels=(),
        metadata={"name": clean(tree.text("name"))} if tree.text("name") else {},
        notes=tuple(notes),
    )


def _last_names(layers: list[Layer]) -> dict[str, str]:
    counts: dict[str, int] = {}
    for layer in layers:
        for name in layer.outputs:
            counts[name] = counts.get(name, 0) + 1
    return {name: f"{name}#{count}" for name, count in counts.items()}


def _nodes(layers: list[Layer]) -> Iterator[Node]:
    """Blobs that are overwritten get a number, so that each name is made once."""
    version: dict[str, int] = {}
    for layer in layers:
        if layer.kind in _SOURCES:
            continue
        inputs = tuple(f"{name}#{version.get(name, 0)}" for name in layer.inputs)
        for name in layer.outputs:
            version[name] = version.get(name, 0) + 1
        outputs = tuple(f"{name}#{version[name]}" for name in layer.outputs)
        layout = "NCHW" if layer.kind in _CHANNELS_SECOND else None
        yield Node(layer.kind, inputs, outputs, None, layout)


def _old(tree: Tree) -> Iterator[Tree]:
    """Layers as they were written until 2014, whose kinds are in capitals."""
    for layer in tree.trees("layers"):
        kind = layer.text("type")
        names = {name.upper().replace("_", ""): name for name in OLD_KINDS.values()}
        layer.fields["type"] = [
            names.get(kind.upper().replace("_", "").replace("SOFTMAXLOSS", "SOFTMAXWITHLOSS"), kind)
        ]
        yield layer


def _is_used(layer: Tree) -> bool:
    """Whether the layer is there when the network answers, rather than while it is trained."""
    rules = layer.trees("include")
    if rules and not any(rule.text("phase", "TEST") in ("TEST", "1") for rule in rules):
        return False
    return not any(rule.text("phase") in ("TEST", "1") for rule in layer.trees("exclude"))


def _layer(layer: Tree) -> Layer:
    kind, name = layer.text("type"), layer.text("name")
    if not kind:
        raise damaged(f"the layer {quote(name)} has no kind")
    attributes: dict[str, Value] = {}
    for parameters in PARAMETERS:
        for one, values in layer.tree(parameters).fields.items():
            texts = [value for value in values if isinstance(value, str)]
            if texts and all(re.fullmatch(r"[-+]?\d{1,12}", text) for text in texts):
                attributes[one] = tuple(map(int, texts)) if len(texts) > 1 else int(texts[0])
            elif texts:
                attributes[one] = texts[-1]
    shapes = layer.tree("reshape_param").trees("shape")
    if shapes:
        attributes["shape"] = tuple(shapes[-1].integers("dim"))
    return Layer(name, kind, tuple(layer.texts("bottom")), tuple(layer.texts("top")), attributes)


def _inputs(tree: Tree) -> dict[str, Shape | None]:
    """Of an Input layer, or of the fields that came before it."""
    names = tree.texts("input")
    shapes: list[list[int]] = [shape.integers("dim") for shape in tree.trees("input_shape")]
    flat = tree.integers("input_dim")
    if not shapes:
        shapes = [flat[start : start + 4] for start in range(0, len(flat), 4)]
    found: dict[str, Shape | None] = {
        name: _checked(shapes[place]) if place < len(shapes) else None for place, name in enumerate(names)
    }
    for layer in tree.trees("layer"):
        if layer.text("type") != "Input" or not _is_used(layer):
            continue
        told = [shape.integers("dim") for shape in layer.tree("input_param").trees("shape")]
        for place, name in enumerate(layer.texts("top")):
            found[name] = _checked(told[min(place, len(told) - 1)]) if told else None
    return found


def _checked(sizes: list[int]) -> Shape:
    if len(sizes) > MAX_RANK or any(size < 0 for size in sizes):
        raise damaged("an input has a size that is none")
    return tuple(sizes)


# What each kind's blobs are called, in order, as other formats call them.
_BLOB_NAMES: dict[str, tuple[tuple[str, Role], ...]] = {
    "BatchNorm": (("mean", "statistic"), ("variance", "statistic"), ("factor", "constant")),
    "PReLU": (("slope", "parameter"),),
    "Normalize": (("scale", "parameter"),),
}
_WEIGHT_AND_BIAS: tuple[tuple[str, Role], ...] = (("weight", "parameter"), ("bias", "parameter"))


def _with_weights(layer: Layer, blobs: tuple[Blob, ...], named: dict[str, Weight]) -> Layer:
    names = _BLOB_NAMES.get(layer.kind, _WEIGHT_AND_BIAS)
    taken = []
    for place, (shape, kind, data) in enumerate(blobs):
        what, role = names[place] if place < len(names) else (f"blob{place}", names[-1][1])
        # Before 2015 a bias was [1, 1, 1, n], and a matrix [1, 1, rows, columns].
        if len(shape) == 4 and shape[:2] == (1, 1) and layer.kind not in ("Convolution", "Deconvolution"):
            shape = shape[2:] if what == "weight" else shape[3:]
        elif len(shape) == 4 and shape[:3] == (1, 1, 1) and what == "bias":
            shape = shape[3:]
        name = f"{layer.name}/{what}"
        named[name] = Weight(name, kind, shape, role, data)
        taken.append(name)
    return Layer(layer.name, layer.kind, (*layer.inputs, *taken), layer.outputs, layer.attributes)


def _notes(tree: Tree, layers: list[Layer], blobs: Mapping[str, object], alone: bool) -> list[str]:
    if alone:
        return ["its weights are in a .caffemodel file, which must lie beside it"]
    known = {layer.name for layer in layers}
    strange = [name for name in blobs if name not in known]
    return (
        [f"the caffemodel has weights of layers that the network does not have: {listed(strange)}"] if strange else []
    )
