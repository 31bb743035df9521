"""Planted faults: a manifest whose number is known is made wrong on purpose, and `replicate` must name what was done.

`faults.yml` has the beds (a right manifest, a dataset) and the faults: text of the manifest exchanged for other text,
as a person would write it. Nothing here asks the registry of pitfalls how to make a fault, so that the search is not
tested against its own list.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from acceptance import planted_data, planted_models, planted_scenes, planted_stories
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import WorkerError
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.claim import Claim
from mlmodelscope.preparation import Conditions
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.replication import Replication, replicate
from mlmodelscope.replicate.search import Found
from mlmodelscope.task.measure import MEASURES, Measure

HERE = Path(__file__).parent
FAULTS = tuple(
    HERE / f"{name}.yml" for name in ("faults", "picture_faults", "task_faults", "prompt_faults", "fresh_prompt_faults")
)
RIGHT = HERE / "right.yml"
_SHOWN = 8
Changes = tuple[tuple[str, str], ...]
Kind = tuple[str, ...]


@dataclass(frozen=True)
class Bed:
    """A real model with its right manifest, and data on which its number is measured."""

    name: str
    manifest: str
    """A file beside this one, or a name of the catalogue."""
    dataset: str
    digits: int = 1
    """Digits behind the point with which its number would be published."""
    change: Changes = ()
    """What is other in this bed's manifest, and right all the same."""
    batch_size: int = 1
    limit: int | None = None
    """Replicated on so many samples; the claim is of all of them."""
    software: str | None = None
    network: str | None = None
    """What stands behind the front that the manifest describes, where the model is made here."""
    metric: str = "top1"
    """The number that is claimed; in the unit in which it is published."""

    @cached_property
    def file(self) -> Path:
        beside = HERE / self.manifest
        return beside if beside.is_file() else Path(find_model(self.manifest).file)

    @property
    def needs_shared(self) -> bool:
        """Whether the model or its samples are neither shipped nor fetched, nor made here."""
        if self.dataset.endswith(".yml"):
            texts = (self.file.read_text(encoding="utf-8"), planted_data.text_of(self.dataset))
            return any("/shared/" in text or "{stories}" in text for text in texts)
        is_made_here = self.network == "drawn"
        return (self.manifest != "efficientnet-lite0" and not is_made_here) or "photographs" in self.dataset

    @property
    def measure(self) -> Measure:
        return MEASURES[self.metric]

    def make_model(self, settings: Settings) -> None:
        """The model's file, where the manifest names one that is made here."""
        if "{models}/scenes-" in self.file.read_text(encoding="utf-8"):
            name = self.file.stem.rpartition("-")[2]
            planted_scenes.make(planted_models.FOLDER / f"scenes-{name}.onnx")
        if "{stories}" in self.file.read_text(encoding="utf-8") or "smollm2" in self.name:
            planted_stories.make(planted_data.SHARED)
        if self.network is not None:
            front = self.file.stem.rpartition("-")[2]
            planted_models.make(f"{self.network}-{front}", settings)

    def options(self, limit: int | None = None) -> Options:
        # Latency is not what is asked for here.
        return Options(self.batch_size, limit=limit, stratified=True, warm_up_runs=0, timed_runs=1, timed_budget_s=0)

    def manifest_with(self, change: Changes = (), words: str = "") -> ModelManifest:
        text = self.file.read_text(encoding="utf-8")
        for old, new in (*self.change, *change):  # a fault changes what the bed's own changes have left
            assert text.count(old) == 1, f"{self.name}, {words}: `{old}` must be there once"
            text = text.replace(old, new)
        text = text.replace("{models}", str(planted_models.FOLDER)).replace("{network}", self.network or "")
        text = text.replace("../../../../shared", str(planted_data.SHARED))
        text = text.replace("{stories}", str(planted_stories.FOLDER)).replace("{smollm2}", planted_stories.smollm2())
        manifest = parse_document(text, f"{self.file.stem} {words}".strip(), self.file.absolute().parent).manifest()
        assert isinstance(manifest, ModelManifest)
        return manifest


@dataclass(frozen=True)
class Fault:
    """Something that is wrong in a manifest."""

    bed: str
    name: str
    pitfalls: Kind
    """The kind of mistake, by the name that `replicate` should give; two where two were made."""
    change: Changes
    """Text of the right manifest, and what stands there instead."""
    dataset: str | None = None
    """The dataset filed in a wrong way, where that is the fault."""
    data_change: Changes = ()
    """Text of the dataset's manifest, and what stands there instead."""
    known: bool = True
    """Whether the value that undoes it is one that people commonly use."""
    too_high: float = 0.0
    """By how much the claim is too high, in its unit: then the manifest is right, and nothing may be named."""

    @property
    def key(self) -> str:
        return f"{self.bed}: {self.name}"


@dataclass(frozen=True)
class Outcome:
    """What `replicate` said of a fault."""

    fault: str
    bed: str
    pitfalls: Kind
    claim: str
    measured: float
    verdict: str
    rank: int | None
    """Place of the true kind among the kinds that were named, from 1; the kinds of a tie share the first place."""
    tied: int
    """Kinds that explain the number equally well."""
    named: tuple[tuple[str, str], ...]
    """(kinds, words) in the order of the answer, the first few."""
    variants: int
    evaluations: float
    cpu_s: float
    known: bool = True
    said: str = "nothing"
    """How much was said of what is named first: `explains`, `most` of the gap, `compatible`, or `nothing`."""
    commit: str = ""
    """Of the source that was asked."""
    unit: str = "%"
    """Of the claim and of what was measured."""

    @property
    def counts(self) -> bool:
        """Whether the fault shows, so that a cause is sought."""
        return self.verdict == "not reproduced" or (self.verdict == "better than claimed" and self.variants > 0)

    @property
    def is_about_claim(self) -> bool:
        """Whether the manifest is right and the claim is wrong."""
        return not self.pitfalls


def read_faults(paths: Sequence[Path] = FAULTS) -> tuple[dict[str, Bed], list[Fault]]:
    parts = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]
    beds = {name: Bed(name, **{**bed, "change": _changes(bed)}) for data in parts for name, bed in data["beds"].items()}
    faults = [fault for data in parts for group in data["faults"] for fault in _faults(group)]
    faults += [
        Fault(bed, f"the claim is {points} {_unit(beds[bed])} too high".replace("  ", " "), (), (), too_high=points)
        for data in parts
        for bed, all_points in data["too_high"].items()
        for points in all_points
    ]
    assert len({fault.key for fault in faults}) == len(faults), "a fault is there twice"
    return beds, faults


def _faults(group: dict[str, Any]) -> Iterator[Fault]:
    for each in group["plant"]:
        pitfalls = each["pitfall"]
        pitfalls = (pitfalls,) if isinstance(pitfalls, str) else tuple(pitfalls)
        for bed in group["beds"]:
            changes, data_changes = _changes(each), tuple(each.get("data_change", {}).items())
            known = each.get("known", True)
            yield Fault(bed, each["name"], pitfalls, changes, each.get("dataset"), data_changes, known)


def _unit(bed: Bed) -> str:
    symbol = bed.measure.unit.symbol
    return "points" if symbol == "%" else symbol


@dataclass(frozen=True)
class Right:
    """A right manifest, and the number that is known of it."""

    bed: Bed
    number: str | None
    """None where it is the one of `like`."""
    of: str | None = None
    """Whose number it is, where it is that of another dataset."""
    like: Bed | None = None
    """A bed whose manifest says the same in other words."""


def read_right(path: Path = RIGHT) -> dict[str, Right]:
    """Right manifests by name."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    beds, _ = read_faults()
    found = {}
    for name, bed in data.items():
        if "like" in bed:
            like = beds[bed["like"]]
            other = replace(like, name=name, change=(*like.change, *_changes(bed)))
            found[name] = Right(other, None, like=like)
            continue
        number, of = bed.pop("claim"), bed.pop("of", None)
        found[name] = Right(Bed(name, **{**bed, "change": _changes(bed)}), number, of)
    return found


def _changes(given: dict[str, Any]) -> Changes:
    return tuple(given.get("change", {}).items())


class Ground:
    """Where faults are planted. The number of each right manifest is measured once."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        settings.home.mkdir(parents=True, exist_ok=True)

    def claim(self, bed: Bed) -> Claim:
        bed.make_model(self.settings)
        text, failed = self._number(bed, bed.manifest_with())
        assert text is not None and not failed, f"{bed.name}: {failed} samples failed"
        dataset = planted_data.find(bed.dataset, self.settings)
        return Claim(bed.metric, text, dataset.name, factor=bed.measure.unit.factor)

    def _number(self, bed: Bed, manifest: ModelManifest, data_change: Changes = ()) -> tuple[str | None, int]:
        """(what would be published of a manifest, samples that failed); from the store from the second time on."""
        dataset = planted_data.find(bed.dataset, self.settings, data_change)
        record = evaluate(manifest, dataset, bed.options(), software=bed.software, settings=self.settings)
        number = record.metrics.get(bed.metric)
        known = number is not None and f"{bed.measure.unit.factor * number.value:.{bed.digits}f}"
        return known or None, record.failed

    def try_fault(self, bed: Bed, fault: Fault, explain: bool = True) -> Outcome:
        claim = self.claim(bed)
        if fault.too_high:
            claim = replace(claim, text=f"{float(claim.text) + fault.too_high:.{bed.digits}f}")
        manifest = bed.manifest_with(fault.change, fault.name)
        dataset = planted_data.find(fault.dataset or bed.dataset, self.settings, fault.data_change)
        conditions: Conditions = {"software": bed.software, "settings": self.settings}
        before = cpu_s()
        record = evaluate(manifest, dataset, bed.options(bed.limit), **conditions)
        forget(record, self.settings)  # an earlier search must not help this one
        done = replicate(manifest, dataset, bed.options(bed.limit), claim=claim, explain=explain, **conditions)
        spent_s = cpu_s() - before
        return outcome_of(self._felt(bed, fault, claim), done, spent_s)

    def _felt(self, bed: Bed, fault: Fault, claim: Claim) -> Fault:
        """The fault without a half that by itself leaves the claimed digits as they are: that half cannot be told.

        The kinds are in the order of the changes, those of the model's manifest before those of the dataset's.
        """
        halves: list[tuple[Changes, Changes]] = [((each,), ()) for each in fault.change]
        halves += [((), (each,)) for each in fault.data_change]
        if len(fault.pitfalls) != 2 or len(halves) != 2 or fault.dataset:
            return fault
        felt = []
        for kind, (change, data_change) in zip(fault.pitfalls, halves, strict=True):
            alone = bed.manifest_with(change, f"{fault.name}, {kind} alone")
            try:
                told = self._number(bed, alone, data_change)[0] != claim.text
            except WorkerError:  # the model does not take what a half alone makes
                told = True
            if told:
                felt.append(kind)
        return replace(fault, pitfalls=tuple(felt)) if len(felt) == 1 else fault


def forget(record: Record, settings: Settings) -> None:
    """Drop what earlier searches with this record have kept."""
    for file in (settings.cache / "trials").glob(f"{record.plan_digest[:32]}.sqlite*"):
        file.unlink(missing_ok=True)


def outcome_of(fault: Fault, done: Replication, spent_s: float) -> Outcome:
    groups = _groups(done.found) if done.found is not None else []
    truth = tuple(sorted(fault.pitfalls))
    earlier: set[Kind] = set()
    rank = None
    for group in groups:
        if truth in group:
            rank = len(earlier) + 1
            break
        earlier |= group
    return Outcome(
        fault.name,
        fault.bed,
        fault.pitfalls,
        done.verdict.claim.text,
        done.verdict.claim.factor * done.verdict.measured.value,
        done.verdict.kind,
        rank,
        len(groups[0]) if groups and done.found is not None and _several(done.found) else 0,
        tuple(_shown(done.found, done.verdict.claim)) if done.found is not None else (),
        len(done.found.candidates) if done.found is not None else 0,
        done.cost.calls / done.samples if done.cost is not None else 0.0,
        spent_s,
        fault.known,
        _said(done.found) if done.found is not None else "nothing",
        unit=done.verdict.claim.symbol,
    )


def _said(found: Found) -> str:
    if found.explained:
        return "explains"
    if found.near is not None:
        return "most"
    return "compatible" if found.compatible else "nothing"


def keep(outcome: Outcome, file: Path) -> None:
    """Add a line to a file, so that an interrupted run can go on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps(asdict(outcome)) + "\n")


def _groups(found: Found) -> list[set[Kind]]:
    """The kinds that were named, the best first; those that cannot be told apart stand together.

    What explains most of a gap, and a second edit that may explain the rest, are one answer.
    """
    others = [_kinds(each) for each in found.candidates]
    several = _several(found)
    if several:
        return [set().union(*map(_kinds, several)), *others]
    if found.near is not None and found.compatible:
        return [_kinds(found.near) | _kinds(found.compatible[0]), *others]
    return others


def _several(found: Found) -> tuple[Candidate, ...]:
    """Those that come to the number, and that it does not tell apart."""
    return found.explained or (found.compatible if found.near is None else ())


def _kinds(candidate: Candidate) -> set[Kind]:
    """A variant that gave the very same answers as others stands for them too."""
    return {tuple(sorted(each.pitfalls)) for each in (candidate.variant, *candidate.alike)}


def _shown(found: Found, claim: Claim) -> Iterator[tuple[str, str]]:
    answers = {each.variant.key: each for each in (*found.explained, *found.candidates)}
    for each in list(answers.values())[:_SHOWN]:
        also = "".join(f" = {' + '.join(other.pitfalls)} ({other.words})" for other in each.alike[:4])
        words = f"{each.variant.words}{also}: {claim.factor * each.expected:.{claim.digits(2)}f} of {each.seen}"
        yield " + ".join(each.variant.pitfalls), words


def cpu_s() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
