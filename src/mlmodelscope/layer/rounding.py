"""How far two correct implementations of a layer are apart: rounding, by the element type and the depth.

Every layer rounds, sums in another order, or computes a convolution by another method (Winograd's). What it was given
is rounded already. Errors of this kind grow about as the root of the number of layers, and by some factor in a layer
that takes the difference of numbers that are nearly the same. A mistake is hundreds of times as large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# Of a number of about 1: the distance to the next one.
_STEPS = {
    "float64": 2.2e-16,
    "float32": 1.2e-7,
    "tf32": 9.8e-4,
    "float16": 9.8e-4,
    "bfloat16": 7.8e-3,
    "uint8": 1 / 255,
    "int8": 1 / 255,
}
# In steps: what one layer may do, and what each root of a layer adds. Where sums are kept in a wider type than what is
# passed on, as it is with float16 and int8, a layer rounds once.
_ALLOWED = {"float64": (64.0, 32.0), "float32": (64.0, 32.0)}
_ROUNDED_ONCE = (4.0, 2.0)
_QUANTIZED = (3.0, 1.0)
PRECISIONS = tuple(_STEPS)
_GROWTH = 6.0
"""How many times as large as just before a difference may be without anything being wrong …"""
_MOST_GROWTH = 16.0
"""… but never more than so many times what the depth allows."""
_OPTIONS = {"f16": "float16", "bf16": "bfloat16", "fp16": "float16", "int8": "int8"}


def derived(precision: str, depth: int) -> float:
    """What rounding explains behind so many layers, of a tensor's largest number."""
    once, more = _ALLOWED.get(precision, _QUANTIZED if precision in ("int8", "uint8") else _ROUNDED_ONCE)
    return _STEPS[precision] * (once + more * math.sqrt(depth))


def allowed(precision: str, depth: int, before: float) -> float:
    """The same where the layers just before are known to be apart by so much."""
    base = derived(precision, depth)
    return max(base, min(_GROWTH * before, _MOST_GROWTH * base))


def at_most(precision: str, depth: int) -> float:
    """What rounding never explains more than, whatever the layers before have come to."""
    return _MOST_GROWTH * derived(precision, depth)


def computed_in(options: Mapping[str, Any]) -> str | None:
    """The type that a predictor was told to compute in, where tensors do not show it."""
    if options.get("half_precision"):
        return "float16"
    return _OPTIONS.get(str(options.get("precision")))


def coarser(one: str, other: str | None) -> str:
    """Whichever of two types has the larger steps."""
    if other is None:
        return one
    return max(one, other, key=lambda name: _STEPS[name])
