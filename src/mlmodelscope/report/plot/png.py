"""Plots as PNG, for slides and papers."""

from __future__ import annotations

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra


def to_png(svg: str, width: int = 1600) -> bytes:
    """The plot as a picture so many pixels wide, in its light colours."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise UsageError(
            "PNG needs the package resvg-py", hint=f"{install_extra('png')}, or write SVG, which browsers show"
        ) from None
    return bytes(svg_to_bytes(svg_string=svg, width=width))
