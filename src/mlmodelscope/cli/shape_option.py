"""Shapes of inputs as they are written on the command line."""

from __future__ import annotations

from mlmodelscope.errors import UsageError


def parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """(name, shape) of `tokens=1,16`; the name is empty in `1,16`, which is of the only input."""
    name, _, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1:
        raise UsageError(f"`{text}` is not a shape", hint="write --shape 1,3,224,224 or --shape NAME=1,16")
    return name, shape
