"""Two models get the same input, and their layers are compared one by one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from mlmodelscope.diff.bisect import PartFinding, answers, pipelines
from mlmodelscope.diff.fault import faults_of
from mlmodelscope.diff.finding import FirstDifference, first_difference
from mlmodelscope.diff.own_answer import OtherEngine, other_engines
from mlmodelscope.diff.pairing import BAD, Compare, LayerPair, pair_readings
from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.result import Difference, Fault, Outcome, SideFacts
from mlmodelscope.diff.side import Place, RandomInput, Side, SideRequest
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.errors import MLModelScopeError, WorkerError
from mlmodelscope.layer.alignment import passes_on
from mlmodelscope.measure.ruler import ruler
from mlmodelscope.preparation import DatasetSource
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import shared_folder

OpenSide = tuple[Side, Worker]
SHARE_OF_DISK = 3
"""Each side may write that part of what is free: there are two, and the rest is not ours."""


def diff(
    first: SideRequest,
    second: SideRequest,
    dataset: DatasetSource | None = None,
    *,
    samples: int = 2,
    random: RandomInput | None = None,
    tolerance: Tolerance | None = None,
    trust: bool = False,
    settings: Settings | None = None,
    watcher: Watcher | None = None,
) -> Difference:
    """Where two models begin to differ beyond rounding, on samples of a dataset or on numbers by chance."""
    with ExitStack() as held:
        folder = Path(held.enter_context(shared_folder()))
        free = shutil.disk_usage(folder).free
        place = Place(
            settings or Settings.from_environment(), watcher or Watcher(), trust, folder, free // SHARE_OF_DISK
        )
        opened: list[OpenSide] = []
        for label, asked in (("A", first), ("B", second)):
            try:
                side = Side(label, asked, dataset if random is None else None, samples, place)
                opened.append((side, held.enter_context(side.open())))
            except WorkerError as error:
                return _cannot_open(label, error, [_facts(each, None) for each, _ in opened])
        by_chance = random if random is not None or dataset is not None else RandomInput()
        readings: list[Reading] = []
        for side, worker in opened:
            try:
                readings.append(side.read(worker, readings[0] if readings else by_chance))
            except WorkerError as error:
                words = f"{side.label} cannot be asked for its layers: {_words(error)}"
                return Difference("no verdict", words, tuple(_facts(each, None) for each, _ in opened))
        return compare_sides(opened, tolerance or Tolerance(), folder, readings)


def _cannot_open(label: str, error: MLModelScopeError, sides: Sequence[SideFacts]) -> Difference:
    return Difference("no verdict", f"{label} cannot be opened: {_words(error)}", tuple(sides))


def _words(error: MLModelScopeError) -> str:
    """What went wrong, without where in the worker's code."""
    return error.message.partition("\nTraceback (most recent call last)")[0].rstrip()


def compare_sides(
    opened: Sequence[OpenSide], tolerance: Tolerance, folder: Path, readings: Sequence[Reading]
) -> Difference:
    """The same for two sides that are open, and whose layers were read into the folder."""
    sides = tuple(_facts(side, reading) for (side, _), reading in zip(opened, readings, strict=True))

    def compare(pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return ruler().compare_layers(folder, pairs)

    for side, _ in opened:
        tolerance = tolerance.with_precision(side.precision)
    pairs = pair_readings(readings[0], readings[1], tolerance, compare)
    others = other_engines(readings, tolerance, compare)
    if others:
        found = _by_answers(pairs, sides, others)
    else:
        found = _found(pairs, sides, readings, [worker for _, worker in opened], folder)
    return _in_parts(found, opened, tolerance, compare) if all(side.has_samples for side, _ in opened) else found


def _found(
    pairs: Sequence[LayerPair],
    sides: tuple[SideFacts, ...],
    readings: Sequence[Reading],
    workers: Sequence[Worker],
    folder: Path,
) -> Difference:
    """What the pairs come to, with what the first layer that differs looks like."""
    first = first_difference(pairs)
    outcome, sentence = _outcome(pairs, first)
    if first is None:
        return Difference(outcome, sentence, sides, tuple(pairs))
    faults, notes = faults_of(
        first, pairs, readings, workers, folder, lambda pair: ruler().difference_patterns(folder, pair)
    )
    faults = _beyond(pairs) if first.pair.is_output else faults
    maps = None
    if first.pair.first is not None and first.pair.second is not None:
        maps = ruler().feature_maps(
            folder, {"one": first.pair.first.described(), "other": first.pair.second.described()}
        )
    return Difference(outcome, sentence, sides, tuple(pairs), first, faults, tuple(notes), maps=maps)


def _by_answers(pairs: Sequence[LayerPair], sides: tuple[SideFacts, ...], others: Sequence[OtherEngine]) -> Difference:
    """What the pairs come to where the layers of a side are not those of what answers: the answers alone count."""
    words = "; ".join(each.words for each in others)
    inside = first_difference([pair for pair in pairs if not pair.is_output])
    notes = [words]
    if inside is not None:
        notes.append(f"as they were read, {inside.pair.name} is the first layer that differs: it {inside.words}")
    pairs = [_uncounted(pair) for pair in pairs]
    first = first_difference(pairs)
    if first is None and any(pair.apart is not None and pair.is_output for pair in pairs):
        return Difference(
            "same", f"the answers agree but for rounding; {words}", sides, tuple(pairs), notes=tuple(notes)
        )
    if first is None:
        return Difference("undecided", f"no output can be compared; {words}", sides, tuple(pairs), notes=tuple(notes))
    sentence = f"the output {first.pair.name} {first.words}; no layer can be named: {words}"
    fault = Fault("other engine", words, "", "the layers and the answer of one side")
    return Difference("different", sentence, sides, tuple(pairs), first, (fault,), tuple(notes))


def _uncounted(pair: LayerPair) -> LayerPair:
    return pair if pair.is_output or pair.verdict not in BAD else replace(pair, verdict="passed over")


def _in_parts(found: Difference, opened: Sequence[OpenSide], tolerance: Tolerance, compare: Compare) -> Difference:
    """The same with the pipeline in front of the model, and the steps behind it."""
    before = pipelines(opened, compare)
    verdict: Literal["agrees", "differs", "unknown"] = "unknown"
    if found.outcome in ("same", "different"):
        verdict = "agrees" if found.outcome == "same" else "differs"
    model = PartFinding("model", verdict, found.sentence, found.named)
    behind = answers(opened, found.pairs, tolerance, compare)
    parts = (before, model, behind)
    differing = [part for part in parts if part.verdict == "differs"]
    if not differing:
        return replace(found, parts=parts)
    sentence = "; then ".join(f"the {part.part} differs: {part.words}" for part in differing)
    return replace(found, parts=parts, outcome="different", sentence=sentence)


def _outcome(pairs: Sequence[LayerPair], first: FirstDifference | None) -> tuple[Outcome, str]:
    compared = [pair for pair in pairs if pair.apart is not None]
    inside = [pair for pair in compared if not pair.is_output]
    if not compared:
        return "undecided", "no layer and no output of A has a counterpart in B"
    if first is None:
        largest = max((pair.off for pair in compared if pair.verdict == "agrees"), default=0.0)
        said = f"{len(inside)} layers and {len(compared) - len(inside)} outputs agree"
        return "same", f"{said} but for rounding: at most {largest:.2g} of a layer's largest value"
    if first.pair.is_output:
        if beyond := _beyond(pairs):
            said = f"every layer that both sides have agrees, and the output {first.pair.name} {first.words}"
            return "different", f"{said}: {beyond[0].words}"
        if inside:
            return "different", (
                f"every layer agrees when it is read, and the output {first.pair.name} {first.words}: what the "
                "framework makes of the whole graph when nobody reads its layers is at fault, such as a fusion"
            )
        return "different", f"the output {first.pair.name} {first.words}; no layers could be compared"
    return (
        "different",
        f"{first.pair.name} ({first.pair.kind or 'layer'}) is the first layer that differs: it {first.words}",
    )


def _beyond(pairs: Sequence[LayerPair]) -> tuple[Fault, ...]:
    """Where the outputs differ and all layers agree: a layer at the end that only one side has, behind the one that
    makes the other side's output."""
    outputs = [{held.name for pair in pairs if pair.is_output and (held := each(pair))} for each in _EITHER]
    for place, (each, other) in enumerate(zip(_EITHER, reversed(_EITHER), strict=True)):
        inside = [pair for pair in pairs if not pair.is_output]
        ends = {held.name for pair in inside if pair.verdict == "agrees" and (held := other(pair))}
        for pair in inside if ends & outputs[1 - place] else ():
            held = each(pair)
            if (
                pair.verdict == "alone"
                and held is not None
                and held.name in outputs[place]
                and not passes_on(held.kind)
            ):
                kind = ("missing layer", "extra layer")[place]
                words = f"only {'AB'[place]} has {held.name} ({held.kind or 'a layer'}) behind them"
                return (Fault(kind, words, held.name, "the layers of both sides"),)
    return ()


_EITHER: tuple[Callable[[LayerPair], Held | None], ...] = (lambda pair: pair.first, lambda pair: pair.second)


def _facts(side: Side, reading: Reading | None) -> SideFacts:
    return SideFacts(
        side.name,
        side.stack,
        side.plan.predictor.name or "functions",
        len(reading.layers) if reading is not None else 0,
        reading.notes if reading is not None else (),
    )
