"""torch.export as a network: the graph of its JSON, with all shapes. Weights are told by shape; pickles stay shut."""

from __future__ import annotations

from typing import Any

from mlmodelscope.model_file.archive import Archive
from mlmodelscope.model_file.limit import MAX_NAME_BYTES, damaged
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Weight, role_by_name
from mlmodelscope.model_file.pt2 import arguments_of, describe_pt2, known_tensor, load_program, name_of, part_of

_SPECS: tuple[tuple[str, str, Role], ...] = (
    ("parameter", "parameter_name", "parameter"),
    ("buffer", "buffer_name", "statistic"),
    ("tensor_constant", "tensor_constant_name", "constant"),
)


def read_pt2_network(archive: Archive) -> Network:
    file = describe_pt2(archive)
    program = load_program(archive)
    graph, signature = part_of(program, "graph_module", "graph"), part_of(program, "graph_module", "signature")
    tensors = {}
    told = graph.get("tensor_values")
    for name in told if isinstance(told, dict) else ():
        known = known_tensor(graph, name)
        tensors[name] = Known(known.element_type, known.shape)
    weights = _weights(signature, tensors)
    layers = []
    for node in arguments_of(graph, "nodes"):
        target = node.get("target")
        kind = target.removeprefix("torch.ops.") if isinstance(target, str) else "unknown"
        inputs = [one.get("arg") for one in arguments_of(node, "inputs")]
        names = tuple(each for one in inputs for each in _names(one))
        outputs = tuple(each for one in arguments_of(node, "outputs") for each in _names(one))
        if len(kind) > MAX_NAME_BYTES:
            raise damaged("an operator's name is too long")
        layers.append(Layer(outputs[0] if outputs else kind, kind, names, outputs))
    notes = ("its weights are counted by their shapes; their numbers are not read",) if weights else ()
    return Network(file, tuple(layers), weights, tensors, notes=notes)


def _names(argument: Any) -> list[str]:
    """The tensors of an argument, which may be one or a list."""
    single = name_of(argument)
    if single is not None:
        return [single]
    found = []
    for value in argument.values() if isinstance(argument, dict) else ():
        for each in value if isinstance(value, list) else ():
            name = each.get("name") if isinstance(each, dict) else None
            if isinstance(name, str) and len(name) <= MAX_NAME_BYTES:
                found.append(name)
    return found


def _weights(signature: dict[str, Any], tensors: dict[str, Known]) -> dict[str, Weight]:
    found = {}
    for spec in arguments_of(signature, "input_specs"):
        for kind, key, role in _SPECS:
            told = spec.get(kind)
            argument = told.get("arg") if isinstance(told, dict) else None
            name = argument.get("name") if isinstance(argument, dict) else None
            known = tensors.get(name) if isinstance(name, str) else None
            if known is None or known.shape is None or None in known.shape or not isinstance(name, str):
                continue
            shape = tuple(size for size in known.shape if size is not None)
            shown = told.get(key) if isinstance(told, dict) else None
            by_name = role_by_name(str(shown), known.element_type or "", shape)
            said: Role = by_name if role == "statistic" and by_name == "constant" else role
            found[name] = Weight(name, known.element_type or "unknown", shape, said)
    return found
