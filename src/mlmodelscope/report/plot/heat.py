"""A table as colours: the darker, the more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlmodelscope.report.plot.axis import short
from mlmodelscope.report.plot.ink import SMALL, STEPS, WIDTH, box, cut, nothing, page, text, wide

_ROW = 28.0


def heat_map(
    title: str,
    columns: Sequence[str],
    rows: Sequence[str],
    values: Sequence[Sequence[float | None]],
    unit: str = "",
    spell: Callable[[float], str] | None = None,
) -> str:
    """Each cell with its number where it fits; what is not known is pale."""
    known = [value for row in values for value in row if value is not None]
    if not known or not columns:
        return nothing(title)
    say = spell or short
    low, high = min(known), max(known)
    left = 24 + min(300.0, max(wide(row) for row in rows))
    step = min(110.0, (WIDTH - 24 - left) / len(columns))
    top = 78.0
    fits = max(wide(say(value), SMALL) for value in known) <= step - 6
    every = max(1, -(-int(max(wide(name, SMALL) for name in columns) + 8) // max(1, int(step))))
    parts = [
        text(left + step * (at + 0.5), top - 8, name, "faint", "middle")
        for at, name in enumerate(columns)
        if at % every == 0
    ]
    for place, (row, cells) in enumerate(zip(rows, values, strict=True)):
        y = top + _ROW * place
        parts.append(text(left - 10, y + _ROW / 2 + 4, cut(row, 290), "", "end"))
        for at, value in enumerate(cells):
            x = left + step * at
            if value is None:
                parts.append(box(x + 1, y + 1, step - 2, _ROW - 2, "none", f"{row}, {columns[at]}: not known", 3))
                continue
            level = _level(value, low, high)
            tip = f"{row}, {columns[at]}: {say(value)} {unit}".rstrip()
            parts.append(box(x + 1, y + 1, step - 2, _ROW - 2, f"mark h{level}", tip, 3))
            if fits:
                kind = "cell over" if level > STEPS // 2 else "cell"
                parts.append(text(x + step / 2, y + _ROW / 2 + 4, say(value), kind, "middle"))
    foot = top + _ROW * len(rows) + 22
    parts += _key(left, foot, say(low), f"{say(high)} {unit}".rstrip())
    return page(title, foot + 28, parts)


def _level(value: float, low: float, high: float) -> int:
    return min(STEPS - 1, int(STEPS * (value - low) / (high - low))) if high > low else STEPS // 2


def _key(left: float, y: float, low: str, high: str) -> list[str]:
    """What the colours mean."""
    start = left + wide(low, SMALL) + 8
    swatches = [box(start + 18 * level, y - 1, 18, 10, f"h{level}") for level in range(STEPS)]
    return [text(left, y + 8, low, "faint"), *swatches, text(start + 18 * STEPS + 8, y + 8, high, "faint")]
