"""Layers of one network as several frameworks read them; which are the same is known by its own arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.side import Place, RandomInput, Side, SideRequest
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.layer.alignment import align
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.process import shared_folder
from worker_package.predictor.nets.bench import Bench, Way
from worker_package.predictor.nets.network import Layer, Network

_EXACT = 1e-4
"""Of a layer's largest value: what frameworks make of it is nearer, and another layer is further."""


@dataclass(frozen=True)
class Known:
    """What was read in one way, and the network's layers that each tensor is."""

    way: str
    reading: Reading
    names: Sequence[frozenset[str]]


def with_fault(network: Network) -> Network:
    """The same with the kernels of its first convolution turned: all numbers behind it are others."""
    layers = []
    for layer in network.layers:
        more = {"weight": layer.weight, "bias": layer.bias} if layer.weight is not None else {}
        if not any(each.weight is not None for each in layers):
            more = {key: value[..., ::-1, ::-1].copy() if key == "weight" else value for key, value in more.items()}
        said = {**layer.describe(), **more}
        layers.append(Layer(said.pop("kind"), said.pop("name"), said.pop("inputs"), **said))
    return Network(network.name + "-fault", network.shape, layers)


def read_in(bench: Bench, ways: Sequence[Way], settings: Settings) -> Iterator[Known | str]:
    """Each way on the same input, or why it was not read."""
    given: Reading | None = None
    with ExitStack() as held:
        folder = Path(held.enter_context(shared_folder()))
        place = Place(settings, Watcher(), True, folder, 1 << 30)
        for way in ways:
            try:
                manifest = bench._manifest(way)
                side = Side("A", SideRequest(str(manifest), way.stack, dict(way.options)), None, 1, place)
                with side.open() as worker:
                    shapes = {"": [1, *bench.network.shape]}
                    reading = side.read(worker, given or RandomInput(0, 1, shapes))
            except MLModelScopeError as error:
                yield f"{way.stack}, {way.file}: {error.message.splitlines()[0]}"
                continue
            given = given or reading
            yield Known(f"{way.stack}, {way.file}", reading, _known(bench.network, given, reading, folder))


def _known(network: Network, given: Reading, reading: Reading, folder: Path) -> list[frozenset[str]]:
    values = network.values(_array(given.inputs[0], folder))
    return [
        frozenset(name for name, value in values.items() if name != "input" and _same(_array(held, folder), value))
        for held in reading.layers
    ]


def _array(held: Held, folder: Path) -> np.ndarray:
    return np.fromfile(folder / held.file, held.element_type).reshape(held.shape)


def _same(read: np.ndarray, value: np.ndarray) -> bool:
    if read.size != value.size:
        return False
    turned = [value.transpose(0, 2, 3, 1)] if value.ndim == 4 else []
    scale = max(float(abs(value).max()), 1e-30)
    return any(float(abs(read.reshape(-1) - each.reshape(-1)).max()) <= _EXACT * scale for each in (value, *turned))


def judged(first: Known, second: Known) -> tuple[int, int, list[str]]:
    """(layers of the network that are paired rightly, those that both sides show, the others by name)."""
    shown = frozenset().union(*first.names) & frozenset().union(*second.names)
    right, wrong = set(), set()
    for one, other in align(
        [each.seen for each in first.reading.layers], [each.seen for each in second.reading.layers]
    ):
        if one is None or other is None:
            continue
        mine, theirs = first.names[one], second.names[other]
        right |= mine & theirs
        wrong |= mine | theirs if not mine & theirs and (mine or theirs) else frozenset()
    missed = sorted((shown - right) | (shown & wrong))
    return len(shown) - len(missed), len(shown), missed
