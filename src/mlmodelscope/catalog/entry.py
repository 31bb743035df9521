"""What a source says of one model: typed facts, each as it was written, with the place that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

Unit = Literal["percent", "share", "dB", "number"]


@dataclass(frozen=True, slots=True)
class ClaimFact:
    """A published number, and how its metric, dataset and unit were recognized."""

    metric: str
    """Our measure's name where it is known, else a name made of the words that the source has."""
    value: str
    """The digits as published."""
    unit: Unit
    because: str
    """Why the number counts as percent, share or plain number."""
    place: str
    """File and line in the source."""
    dataset: str = ""
    """Our name of the dataset where it is known, else as the source spells it."""
    split: str = ""
    conditions: str = ""
    metric_as_written: str = ""
    """What the source calls the metric, where that is another word."""
    dataset_as_written: str = ""
    fits: bool = True
    """Whether it was measured with the preprocessing of `config`; the others need steps of their own."""
    is_measurable: bool = True
    """Whether one of our measures has this name."""
    is_known_dataset: bool = True

    @property
    def number(self) -> float:
        """The value as our measures count it: a percentage becomes a share."""
        return float(self.value) / (100 if self.unit == "percent" else 1)


@dataclass(frozen=True, slots=True)
class WeightsFact:
    """One place that has the weights, with as much of their digest as the source gives."""

    url: str
    sha256: str = ""
    sha256_start: str = ""
    """The first digits, where the source gives no more of it."""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of a source. An empty text and None mean that the source does not tell."""

    name: str
    task: str
    architecture: str = ""
    """What the library calls the architecture, or the model's family."""
    builder: str = ""
    """The library that builds the architecture, where no file holds the whole model."""
    framework: str = ""
    description: str = ""
    parameters: int | None = None
    gflops: float | None = None
    input_size: tuple[int, ...] = ()
    """Channels, height and width, as far as known."""
    code_license: str = ""
    weights_license: str = ""
    weights: tuple[WeightsFact, ...] = ()
    graph: str = ""
    """The file that says how the architecture is built, where a library wants one."""
    importer: str = ""
    """Which importer of `init` understands `config`."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """The library's own configuration of the preprocessing, in its own words."""
    tensors: Mapping[str, Any] = field(default_factory=dict)
    """Names, types and shapes of the model's inputs and outputs, where the source has them."""
    claims: tuple[ClaimFact, ...] = ()
    references: tuple[str, ...] = ()
    place: str = ""
    """File and line in the source."""
    manifest: str = ""
    """The text of a manifest, where the source is a folder of such or a server."""


def as_data(entry: Entry) -> dict[str, Any]:
    """Plain data without what is empty; `from_data` is the way back."""
    data = _filled(entry)
    if entry.claims:
        data["claims"] = [_filled(claim) for claim in entry.claims]
    if entry.weights:
        data["weights"] = [_filled(weights) for weights in entry.weights]
    return data


def _filled(fact: Entry | ClaimFact | WeightsFact) -> dict[str, Any]:
    found = {}
    for each in fields(fact):
        value = getattr(fact, each.name)
        if value != each.default and value not in (None, "", (), {}):
            found[each.name] = value
    return found


def from_data(data: Mapping[str, Any]) -> Entry:
    """An entry of facts that we wrote ourselves; TypeError, ValueError or KeyError where they are damaged."""
    values = dict(data)
    values["claims"] = tuple(ClaimFact(**claim) for claim in values.get("claims", ()))
    values["weights"] = tuple(WeightsFact(**weights) for weights in values.get("weights", ()))
    for key in ("input_size", "references"):
        values[key] = tuple(values.get(key, ()))
    return Entry(**values)
