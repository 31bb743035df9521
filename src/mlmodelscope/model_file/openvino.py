"""OpenVINO IR: an XML file of layers and edges; the weights are in a .bin file beside it."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from mlmodelscope.model_file.graph import LAYOUTS, Graph, Node
from mlmodelscope.model_file.labels import labels_of
from mlmodelscope.model_file.limit import (
    MAX_LABELS,
    MAX_METADATA,
    MAX_NAME_BYTES,
    MAX_RANK,
    MAX_TENSORS,
    MAX_TEXT_BYTES,
    Budget,
    clean,
    damaged,
    listed,
)
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo

# Language models of many billions of weights have graphs of some ten megabytes.
_MAX_BYTES = 1 << 26
_MAX_DEPTH = 64

ELEMENT_TYPES = {
    "fp32": "float32",
    "fp16": "float16",
    "fp64": "float64",
    "bf16": "bfloat16",
    "boolean": "bool",
    "bool": "bool",
    "string": "string",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (4, 8, 16, 32, 64)},
}
_CHANNELS_SECOND = ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "MaxPool", "AvgPool")
_OWN_OPERATOR_SET = re.compile(r"opset\d+|experimental|ie_internal_opset|")


def describe_openvino(data: memoryview) -> ModelFile:
    net = parse_ir(data)
    if net.tag != "net":
        raise ModelFileError("it is an XML file, but none of OpenVINO's: its outermost element is not <net>")
    layers = net.findall("layers/layer")
    by_id = {layer.get("id", ""): layer for layer in layers}
    edges = [
        tuple(edge.get(key, "") for key in ("from-layer", "from-port", "to-layer", "to-port"))
        for edge in net.findall("edges/edge")
    ]
    graph = Graph(_nodes(layers, edges, by_id))
    parameters = [layer for layer in layers if layer.get("type") in ("Parameter", "Input")]
    ends = _ends(layers, edges, by_id)
    if len(parameters) > MAX_TENSORS or len(ends) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    metadata = _metadata(net)
    strange = {f"{one.get('version')}.{one.get('type')}" for one in layers if not _is_own(one)}
    notes = ["its weights are in the .bin file of the same name, which must lie beside it"]
    if strange:
        notes.append(f"it uses operators that are not OpenVINO's own: {listed(sorted(strange))}")
    return ModelFile(
        format="openvino",
        framework="openvino",
        inputs=tuple(_tensor(layer, layer.find("output/port"), graph) for layer in parameters),
        outputs=tuple(_tensor(layer, port) for layer, port in ends),
        producer=_producer(net),
        version=clean(net.get("version", ""))[:MAX_NAME_BYTES] or None,
        ends_in_softmax=graph.ends_in_softmax(_end(*ends[0])) if ends else None,
        labels=_labels(metadata),
        metadata=metadata,
        notes=tuple(notes),
    )


def parse_ir(data: memoryview) -> Element:
    """The elements of the file. A document type is refused, because entities that it declares can grow without end."""
    if len(data) > _MAX_BYTES:
        raise ModelFileError(f"it has {len(data):,} bytes, far too many for a graph without weights")
    parser, builder, budget, depth = expat.ParserCreate(), TreeBuilder(), Budget(), 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        budget.spend(1 + len(attributes))
        if depth > _MAX_DEPTH:
            raise damaged("its elements are nested too deeply")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> None:
        raise ModelFileError("it declares a document type, which no OpenVINO file does; it was not read")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(bytes(data), True)
        return builder.close()
    except (expat.ExpatError, AssertionError, ValueError, LookupError) as error:
        raise damaged(f"it is no well-formed XML: {clean(str(error))}") from error


def _end(layer: Element, port: Element | None) -> str:
    return f"{layer.get('id', '')}:{port.get('id', '') if port is not None else ''}"


def _nodes(layers: list[Element], edges: list[tuple[str, ...]], by_id: dict[str, Element]) -> list[Node]:
    """A tensor is called by the layer and port that it comes from."""
    inputs: dict[str, dict[str, str]] = {}
    for source, port, target, target_port in edges:
        inputs.setdefault(target, {})[target_port] = f"{source}:{port}"
    nodes = []
    for layer in layers:
        given = inputs.get(layer.get("id", ""), {})
        operator = layer.get("type", "") if _is_own(layer) else None
        layout = "NCHW" if operator in _CHANNELS_SECOND else None
        ports = [port.get("id", "") for port in layer.findall("input/port")]
        names = tuple(given[port] for port in ports if port in given)
        nodes.append(
            Node(operator, names, tuple(_end(layer, port) for port in layer.findall("output/port")), None, layout)
        )
    return nodes


def _is_own(layer: Element) -> bool:
    return _OWN_OPERATOR_SET.fullmatch(layer.get("version", "")) is not None


def _ends(
    layers: list[Element], edges: list[tuple[str, ...]], by_id: dict[str, Element]
) -> list[tuple[Element, Element | None]]:
    """The layers and ports whose numbers come out: those that lead to a Result."""
    results = {layer.get("id", ""): None for layer in layers if layer.get("type") == "Result"}
    sources = {target: (source, port) for source, port, target, _ in edges if target in results}
    ends: list[tuple[Element, Element | None]] = []
    for result in results:
        source, number = sources.get(result, ("", ""))
        layer = by_id.get(source)
        if layer is None:
            raise damaged("one of its results comes from nowhere")
        ports = layer.findall("output/port")
        ends.append((layer, next((port for port in ports if port.get("id") == number), None)))
    return ends


def _tensor(layer: Element, port: Element | None, graph: Graph | None = None) -> TensorInfo:
    told = layer.find("data")
    kind = port.get("precision", "") if port is not None else ""
    kind = kind or (told.get("element_type", "") if told is not None else "")
    # OpenVINO finds a tensor by any of its names; where it has none, by its layer's.
    names = re.split(r"(?<!\\),", port.get("names", "")) if port is not None else [""]
    name = names[0].replace("\\,", ",") or layer.get("name", "")
    if len(name) > MAX_NAME_BYTES:
        raise damaged("a name is too long")
    shape = shape_of_port(port)
    layout = _told_layout(layer)
    if layout is None and graph is not None:
        layout = graph.input_layout(_end(layer, port), len(shape) if shape is not None else None)
    return TensorInfo(name, ELEMENT_TYPES.get(kind.lower()), shape, layout)


def shape_of_port(port: Element | None) -> tuple[int | None, ...] | None:
    if port is None:
        return None
    sizes = [(dim.text or "").strip() for dim in port.findall("dim")]
    if len(sizes) > MAX_RANK:
        raise damaged("a tensor has too many axes")
    # An open size is -1, and a range such as 1..8 in the data element, where the port has -1 too.
    return tuple(int(size) if re.fullmatch("[0-9]{1,18}", size) else None for size in sizes)


def _told_layout(layer: Element) -> str | None:
    for attribute in layer.iter("attribute"):
        if attribute.get("name") == "layout":
            letters = re.sub(r"[^A-Z]", "", attribute.get("layout", "").upper())
            return letters if letters in LAYOUTS else None
    return None


def _metadata(net: Element) -> dict[str, str]:
    """rt_info, and meta_data as it was called before: names of nested elements are joined by dots."""
    entries: dict[str, str] = {}
    for place in ("rt_info", "meta_data"):
        found = net.find(place)
        waiting = [("", child) for child in reversed(found)] if found is not None else []
        while waiting and len(entries) < MAX_METADATA:
            prefix, element = waiting.pop()
            name = prefix + (element.get("name", "") if element.tag == "info" else element.tag)
            if "value" in element.attrib:
                entries[clean(name[:MAX_NAME_BYTES])] = clean(element.get("value", "")[:MAX_TEXT_BYTES])
            waiting += [(f"{name[:MAX_NAME_BYTES]}.", child) for child in reversed(element)]
    return entries


def _producer(net: Element) -> str | None:
    for place in ("rt_info/Runtime_version", "rt_info/MO_version", "meta_data/MO_version"):
        found = net.find(place)
        if found is not None and found.get("value"):
            return clean(f"openvino {found.get('value', '')[:MAX_NAME_BYTES]}")
    return None


def _labels(metadata: dict[str, str]) -> tuple[str, ...]:
    """The model API writes them with spaces between, and underscores for spaces within."""
    text = metadata.get("model_info.labels", "").strip()
    if text and text[:1] not in "[{(" and "," not in text and "\n" not in text:
        return tuple(text.split()[:MAX_LABELS])
    return labels_of(metadata)
