"""`inspect`: what a model file is made of, before anything of it runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.shape_option import parse_shape
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_facts, print_json, print_table, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.inspection.summary import LayerSummary, Summary
    from mlmodelscope.inspection.support import Support
    from mlmodelscope.model_file.model_file import TensorInfo

_MOST_BLOCKS = 12


@verb
def inspect(
    file: Annotated[str, typer.Argument(help="A model file or folder, a file of weights, or a manifest's name.")],
    weights: Annotated[
        Path | None,
        typer.Option(help="The weights, where they are not beside the graph by their usual name.", metavar="FILE"),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Which dictionary of a checkpoint has the tensors, such as state_dict.")
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="Shape of an input that the file leaves open, such as tokens=1,16.", metavar="[NAME=]SIZES"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="Also list the operators that this framework lacks: onnxruntime, opencv, tensorrt.",
            metavar="FRAMEWORK",
        ),
    ] = None,
    layers: Annotated[bool, typer.Option("--layers", help="List every layer.")] = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Count what a model file is made of: parameters, layers, operators, memory, operations. Nothing of it runs.

    Operations are those of one call; a multiplication and an addition are two. What cannot be told is called unknown.
    Exit code 1 with --for: operators are missing.
    """
    from mlmodelscope.inspection.subject import files_of
    from mlmodelscope.inspection.summary import inspect_file, to_json
    from mlmodelscope.inspection.support import support_of

    given = dict(map(parse_shape, shape or ()))
    files = files_of(file, settings(offline))
    found = inspect_file(files.model, weights or files.weights, key or files.key, given)
    _refuse_unknown_inputs(given, found)
    support = support_of(found.network, target) if target is not None else None
    if as_json:
        told = {} if support is None else {"support": asdict(support)}
        print_json({"file": files.name, **to_json(found), **told})
    else:
        _show(files.name, found)
        if layers:
            _show_layers(found.layers)
        if support is not None:
            _show_support(support)
    return int(support is not None and bool(support.lacking or support.too_new_opset))


def _show_support(support: Support) -> None:
    from mlmodelscope.model_file.limit import clean

    out = console()
    name = f"{support.framework} {support.release}"
    print()
    if support.too_new_opset is not None:
        out.print(f"{name} does not read opset {support.too_new_opset}", style="red", markup=False)
    if not support.lacking:
        out.print(f"{name} has all of its operators, by {support.basis}", markup=False, soft_wrap=True)
        return
    out.print(f"{name} lacks these operators, by {support.basis}:", style="red", markup=False, soft_wrap=True)
    print_table(["operator", "layers"], [[clean(kind), f"{count:,}"] for kind, count in support.lacking], [False, True])


def _refuse_unknown_inputs(given: dict[str, tuple[int, ...]], found: Summary) -> None:
    known = [tensor.name for tensor in found.network.file.inputs]
    for name in given:
        if name and name not in known:
            raise UsageError(f"the model has no input `{name}`\nknown: {', '.join(known) or 'none'}")
    if "" in given and len(known) != 1:
        raise UsageError(f"which input has that shape?\nknown: {', '.join(known) or 'none'}", hint="--shape NAME=1,16")


def _show(name: str, found: Summary) -> None:
    from mlmodelscope.inspection.summary import notes_of
    from mlmodelscope.model_file.limit import clean

    file = found.network.file
    made = [file.format, file.version or "", f"written by {file.producer}" if file.producer else ""]
    out = console()
    out.print(clean(f"{name}: {', '.join(each for each in made if each)}"), markup=False, soft_wrap=True)
    facts = [("input", _tensor(tensor)) for tensor in file.inputs]
    facts += [("output", _tensor(tensor)) for tensor in file.outputs]
    types = ", ".join(f"{count:,} {kind}" for kind, count in found.by_type.items())
    facts.append(("parameters", f"{found.parameters:,}" + (f" ({types})" if len(found.by_type) > 1 else "")))
    if len(found.by_type) == 1:
        facts[-1] = ("parameters", f"{found.parameters:,} of {next(iter(found.by_type))}")
    if found.statistics:
        facts.append(("statistics", f"{found.statistics:,}, such as running means"))
    if found.constants:
        facts.append(("constants", f"{found.constants:,}, such as shapes and scales"))
    facts.append(("weights", _size(found.weight_bytes)))
    if found.network.file.inputs or found.operators:
        facts.append(("largest tensor", _largest(found)))
        facts.append(("operations", _operations(found)))
        kinds = f" of {len(found.operators)} kinds" if found.operators else ""
        count = sum(bool(layer.kind) for layer in found.layers) or len(found.layers)
        facts.append(("layers", f"{count:,}{kinds}"))
    print_facts([(title, clean(text)) for title, text in facts])
    if found.operators:
        print()
        _show_operators(found)
    if found.blocks:
        print()
        _show_blocks(found)
    for note in notes_of(found):
        out.print(clean(f"note: {note}"), style="yellow", markup=False, soft_wrap=True)


def _tensor(tensor: TensorInfo) -> str:
    shape = "of unknown shape" if tensor.shape is None else _spelled(tensor.shape)
    more = f" {tensor.layout}" if tensor.layout else ""
    return f"{tensor.name}: {tensor.element_type or 'unknown type'} {shape}{more}"


def _spelled(shape: tuple[int | None, ...] | None) -> str:
    if shape is None:
        return "unknown"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _largest(found: Summary) -> str:
    if found.largest_activation is None:
        return "unknown"
    name, shape, size = found.largest_activation
    rest = f"; {found.unknown_shapes:,} have unknown shapes" if found.unknown_shapes else ""
    return f"{_size(size)}: {name} {_spelled(shape)}{rest}"


def _operations(found: Summary) -> str:
    if found.flops is None:
        return "unknown"
    return f"{'at least ' if found.uncounted else ''}{_short(found.flops)}"


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}" if count < 1000 else f"{count:,.0f} {unit}"
        count /= 1000
    raise AssertionError


def _short(count: float | None) -> str:
    """Three digits and a unit; an empty text where there is nothing to say."""
    if count is None:
        return "unknown"
    for unit in ("", " thousand", " million", " billion", " trillion"):
        if count < 1000 or unit == " trillion":
            return f"{count:.3g}{unit}" if count < 1000 else f"{count:,.0f}{unit}"
        count /= 1000
    raise AssertionError


def _show_operators(found: Summary) -> None:
    from mlmodelscope.model_file.limit import clean

    parameters: dict[str, int] = {}
    flops: dict[str, float | None] = {}
    for layer in found.layers:
        kind = f"{layer.domain}.{layer.kind}" if layer.domain else layer.kind
        parameters[kind] = parameters.get(kind, 0) + layer.parameters
        before = flops.get(kind, 0)
        flops[kind] = None if before is None or layer.flops is None else before + layer.flops
    rows = [
        [clean(kind), f"{count:,}", f"{parameters[kind]:,}" if parameters[kind] else "", _short(flops[kind])]
        for kind, count in found.operators
    ]
    print_table(["operator", "layers", "parameters", "operations"], rows, [False, True, True, True])


def _show_blocks(found: Summary) -> None:
    from mlmodelscope.model_file.limit import clean

    by_name = all(block.times == 1 for block in found.blocks)
    shown = found.blocks[:_MOST_BLOCKS]
    rows = [
        [
            clean(block.name),
            f"{block.layers:,}" if by_name else f"{block.times:,} × {block.layers}",
            f"{block.parameters:,}",
        ]
        for block in shown
    ]
    if len(found.blocks) > len(shown):
        rows.append([f"{len(found.blocks) - len(shown)} more", "", ""])
    print_table(["block", "layers", "parameters"], rows, [False, True, True])


def _show_layers(layers: tuple[LayerSummary, ...]) -> None:
    from mlmodelscope.model_file.limit import clean

    print()
    rows = [
        [
            clean(layer.name),
            clean(layer.kind),
            clean(" ".join(_spelled(shape) for shape in layer.outputs)),
            " ".join(_spelled(shape) for _, shape, _ in layer.weights),
            f"{layer.parameters:,}" if layer.parameters else "",
        ]
        for layer in layers
    ]
    print_table(["layer", "operator", "output", "weights", "parameters"], rows, [False, False, False, False, True])
