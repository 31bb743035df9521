"""Which operators of an ONNX model a framework lacks, where the framework itself lists what it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlmodelscope.errors import UsageError
from mlmodelscope.inspection.operator_lists import ONNXRUNTIME, ONNXRUNTIME_MICROSOFT, OPENCV, TENSORRT
from mlmodelscope.model_file.network import Network

_STANDARD = ""


@dataclass(frozen=True)
class OperatorList:
    framework: str
    release: str
    basis: str
    """Where the list is from."""
    operators: Mapping[str, frozenset[str]]
    """By domain; the empty one is ONNX's own."""
    newest_opset: int | None = None


LISTS = {
    each.framework: each
    for each in (
        OperatorList(
            "onnxruntime",
            "1.31",
            "the kernels of the CPU provider, which the package lists",
            {_STANDARD: ONNXRUNTIME, "com.microsoft": ONNXRUNTIME_MICROSOFT},
        ),
        OperatorList("opencv", "5.x", "the operators that its ONNX importer dispatches", {_STANDARD: OPENCV}),
        OperatorList("tensorrt", "8.5", "onnx-tensorrt's docs/operators.md", {_STANDARD: TENSORRT}, 17),
    )
}


@dataclass(frozen=True)
class Support:
    framework: str
    release: str
    basis: str
    lacking: tuple[tuple[str, int], ...]
    """Operators with how often the model uses them."""
    too_new_opset: int | None


def support_of(network: Network, framework: str) -> Support:
    known = LISTS.get(framework.lower())
    if known is None:
        raise UsageError(
            f"there is no list of the operators of `{framework}`\nknown: {', '.join(LISTS)}",
            hint="where a framework does not publish such a list, only loading the model tells",
        )
    if network.file.format != "onnx":
        raise UsageError(
            f"operators are compared for ONNX files, and this is {network.file.format}", hint="leave out --for"
        )
    counts: dict[str, int] = {}
    for layer in network.layers:
        if layer.kind not in known.operators.get(layer.domain, frozenset()):
            name = f"{layer.domain}.{layer.kind}" if layer.domain else layer.kind
            counts[name] = counts.get(name, 0) + 1
    opset = network.opsets.get("ai.onnx", 0)
    too_new = opset if known.newest_opset is not None and opset > known.newest_opset else None
    lacking = tuple(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
    return Support(known.framework, known.release, known.basis, lacking, too_new)
