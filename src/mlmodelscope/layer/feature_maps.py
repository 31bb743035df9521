"""Pictures of one layer of two models, as the measuring process draws them and pages show them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FeatureMaps:
    """Pictures as base64 of PNG files: of the first tensor, of the second, and of how far they are apart."""

    first: str
    second: str | None
    difference: str | None
    channels: tuple[int, ...]
    """Those that are shown, which are the ones that differ most."""
    count: int
    """How many there are."""
    low: float
    """The number that is black in the first two."""
    high: float
    """The number that is white."""
    largest: float
    """The difference that is white."""
    size: tuple[int, int]
    """Height and width of one channel."""
