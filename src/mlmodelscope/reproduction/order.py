"""Which checks there are, which component each is about, what it needs, and how far apart numbers may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema.reproduction import Check
from mlmodelscope.manifest.suggest import nearest

ORDER: tuple[str, ...] = get_args(Check)
COMPONENTS: Mapping[str, str] = {
    "pass-through": "model",
    "shapes": "model",
    "determinism": "model",
    "serialization": "serialization",
    "parameters": "model",
    "data": "data pipeline",
    "loss": "loss",
    "metric": "metric",
    "gradients": "gradients",
    "fixed-weights": "model",
    "step": "training step",
    "samples": "pipeline and model",
    "curve": "training",
    "numbers": "results",
}
NEEDS: Mapping[str, Sequence[str]] = {
    "pass-through": (),
    "shapes": ("pass-through",),
    "determinism": ("pass-through",),
    "serialization": ("pass-through", "determinism"),
    "parameters": ("pass-through",),
    "data": (),
    "loss": (),
    "metric": (),
    "gradients": ("pass-through", "loss"),
    "fixed-weights": ("pass-through", "shapes", "determinism", "parameters"),
    "step": ("loss", "gradients", "fixed-weights"),
    "samples": ("data", "fixed-weights"),
    "curve": ("data", "metric", "step"),
    "numbers": ("metric", "samples", "curve"),
}
TOLERANCES: Mapping[str, float] = {
    "pass-through": 1e-4,
    "shapes": 0.0,
    "determinism": 0.0,
    "serialization": 0.0,
    "parameters": 0.0,
    "data": 1e-5,
    "loss": 1e-5,
    "metric": 1e-6,
    "gradients": 2e-2,
    "fixed-weights": 0.0,
    "step": 1e-3,
    "samples": 1e-4,
    "curve": 0.1,
    "numbers": 0.005,
}
"""Of the largest value; of fixed weights 0 stands for what rounding explains; of the curve a share of the original's
metric; of the numbers a difference."""


def parse_checks(text: str | None) -> tuple[str, ...]:
    """The checks that a user names, in their order; all without a name."""
    if text is None:
        return ORDER
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in ORDER), None)
    if unknown is not None or not names:
        raise UsageError(
            f"there is no check `{unknown or text}`\nknown: {', '.join(ORDER)}", hint=nearest(unknown or "", ORDER)
        )
    return tuple(name for name in ORDER if name in names)
