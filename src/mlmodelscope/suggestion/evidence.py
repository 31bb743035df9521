"""A number with what it rests on, and a model with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Evidence:
    """A number, and who says so."""

    value: float
    shown: str
    kind: Literal["measured", "claimed"]
    source: str
    """A claim's source and line, or a record with its machine, stack and samples."""
    conditions: str = ""
    low: float | None = None
    high: float | None = None
    machine: str = ""
    """Digest of the machine that it was measured on."""
    fits: bool = True
    """Whether a claim is of the manifest's own preprocessing, and not of another size or several views."""


@dataclass(frozen=True)
class Known:
    """What is known of one model; what is not is None."""

    reference: str
    name: str
    task: str
    license: str | None
    license_source: str
    parameters: Evidence | None
    size_bytes: Evidence | None
    gflops: Evidence | None
    is_runnable: bool
    """Whether it can run here once its weights are fetched."""
    digest: str = ""
    """Of its manifest, where that is a file."""
    numbers: dict[tuple[str, str], list[Evidence]] = field(default_factory=dict)
    """By (dataset, metric), the best evidence first."""
    latencies: list[Evidence] = field(default_factory=list)


@dataclass(frozen=True)
class Suggested:
    """A model in the ranking of one dataset."""

    reference: str
    accuracy: Evidence
    others: tuple[Evidence, ...]
    """The further metrics that were wished for."""
    latency: Evidence | None
    parameters: Evidence | None
    size_bytes: Evidence | None
    gflops: Evidence | None
    license: str | None
    license_source: str
    is_runnable: bool
    unknown: tuple[str, ...]
    """What was wished for and is not known."""
    front: int | None = None
    """Its Pareto front; None where its cost is not known."""


@dataclass(frozen=True)
class Ranking:
    """Models whose numbers are of one dataset and one metric."""

    dataset: str
    metric: str
    fitting: tuple[Suggested, ...]
    """Everything that was wished for is known and holds."""
    open: tuple[Suggested, ...]
    """Nothing that is known speaks against them, and something is not known."""
    left_out: dict[str, int]
    """How many models fail by each wish, the first that fails."""
