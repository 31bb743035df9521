"""The two implementations with the same weights and the same input, layer by layer."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mlmodelscope.diff.finding import first_difference
from mlmodelscope.diff.pairing import pair_readings
from mlmodelscope.diff.reading import Reading, reading_of
from mlmodelscope.diff.side import Place, RandomInput, Side, SideRequest
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.measure.ruler import ruler
from mlmodelscope.reproduction.result import Verdict
from mlmodelscope.reproduction.side_worker import SideWorker
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope_worker import messages

_SHARE_OF_DISK = 3


def read_model(
    name: str, folder: Path, batch_size: int, seed: int, settings: Settings, watcher: Watcher, trust: bool
) -> Reading:
    """The layers of an original that is a model manifest."""
    free = shutil.disk_usage(folder).free // _SHARE_OF_DISK
    side = Side("A", SideRequest(name), None, 1, Place(settings, watcher, trust, folder, free))
    with side.open() as worker:
        return side.read(worker, RandomInput(seed, batch_size))


def read_code(worker: SideWorker, folder: Path, weights: Path | None, inputs: Reading | None) -> Reading:
    """The layers of functions; of `inputs`, or of a batch that is drawn."""
    free = shutil.disk_usage(folder).free // _SHARE_OF_DISK
    tensors = [each.described() for each in inputs.inputs] if inputs is not None else []
    asked = messages.ReadSide(str(folder), free, str(weights) if weights is not None else None, tensors)
    return reading_of(worker.ask(asked, messages.LayersRead))


def compare_readings(
    original: Reading, mine: Reading, folder: Path, tolerance: float
) -> tuple[Verdict, str, dict[str, Any]]:
    """Verdict, words and numbers: the first layer that differs beyond rounding."""

    def compare(pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return ruler().compare_layers(folder, pairs)

    pairs = pair_readings(original, mine, Tolerance(tolerance or None), compare)
    compared = [pair for pair in pairs if pair.apart is not None]
    inside = [pair for pair in compared if not pair.is_output]
    layers = [
        {"original": pair.first.name, "mine": pair.second.name, "off": pair.off, "verdict": pair.verdict}
        for pair in compared
        if pair.first is not None and pair.second is not None
    ]
    first = first_difference(pairs)
    if first is not None:
        mine_too = first.pair.second.name if first.pair.second is not None else ""
        called = (
            first.pair.name if mine_too in ("", first.pair.name) else f"{mine_too} (the original's {first.pair.name})"
        )
        what = "the output" if first.pair.is_output else "the first layer that differs is"
        words = first.words.replace(" in A and ", " in the original and ").replace(" in B", " here")
        last = f"; {first.last_agreeing.name} still agrees" if first.last_agreeing is not None else ""
        return "failed", f"{what} {called}: it {words}{last}", {"layers": layers, "first": first.pair.name}
    if not compared:
        return "undecided", "no layer and no output has a counterpart in the original", {}
    if len(original.outputs) != len(mine.outputs):
        return "failed", f"{len(mine.outputs)} outputs, the original has {len(original.outputs)}", {}
    largest = max(pair.off for pair in compared)
    said = f"{len(inside)} layers and {len(compared) - len(inside)} outputs agree, at most {largest:.2g} apart"
    return "passed", said, {"layers": layers, "off": largest}
