"""Pieces of small charts as SVG: places are percentages of the width from the left, and pixels from the top."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.2f}%" y1="{y1:.1f}" x2="{x2:.2f}%" y2="{y2:.1f}"/>'


def text(x: float, y: float, content: str, kind: str, anchor: str = "middle", nudge: str = "0") -> str:
    return marked(x, y, escape(content), kind, anchor, nudge)


def marked(x: float, y: float, content: str, kind: str, anchor: str, nudge: str = "0") -> str:
    """The same of a text that is SVG already."""
    return f'<text class="{kind}" x="{x:.2f}%" y="{y:.1f}" dx="{nudge}" text-anchor="{anchor}">{content}</text>'


def svg(height: int, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" width="100%" height="{height}" role="img" aria-label={quoteattr(label)}>'
        f"{''.join(parts)}</svg>"
    )
