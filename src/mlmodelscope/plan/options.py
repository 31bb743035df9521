"""What an evaluator may choose; everything has a default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Options:
    batch_size: int = 1
    """Samples that the model gets at once."""
    threads: int = 1
    """Threads inside one call of the framework."""
    top_k: int = 5
    """Answers kept for each sample."""
    limit: int | None = None
    """Take only so many samples."""
    stratified: bool = False
    """With a limit: the same share of every class."""
    seed: int = 0
    """Seed of every random choice."""
    predictor_options: dict[str, Any] = field(default_factory=dict)
    """Options of the predictor itself, such as `graph_optimization`."""
    warm_up_runs: int = 5
    """Calls before latency is measured."""
    timed_runs: int = 100
    """Calls whose latency is measured, at most."""
    timed_budget_s: float = 3.0
    """Seconds that measuring latency may take."""
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    """What the evaluator sets beside or above the manifest's own."""
    training: dict[str, Any] = field(default_factory=dict)
    """Settings of a training's loop above the manifest's own: epochs, steps, batch_size, target …"""
    relax_framework: bool = False
    """Take the nearest release of the framework where the one that the manifest pins cannot be had."""
