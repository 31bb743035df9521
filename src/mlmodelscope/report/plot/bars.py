"""Bars: one for each thing, several side by side, or parts on top of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlmodelscope.report.plot.axis import Axis, short
from mlmodelscope.report.plot.frame import Frame, add_names, make_frame
from mlmodelscope.report.plot.ink import LIGHT, REST, SMALL, box, colour, line, nothing, text, wide

_FEW = 40
"""So many bars have names below them; of more the eye takes the shape, and the pointer the names."""


def bars(title: str, found: Sequence[tuple[str, float, str]], y: Axis, groups: Sequence[str] | None = None) -> str:
    """(name, value, what the pointer shows) in the order given; bars of one group have one colour."""
    if not found:
        return nothing(title)
    kinds, names = kinds_of(groups or [])
    frame = make_frame(title, y, [value for _, value, _ in found], names, from_zero=True)
    step = (frame.right - frame.left) / len(found)
    width = max(min(0.76 * step, 64.0), min(step, 1.0))
    centres = [frame.left + step * (index + 0.5) for index in range(len(found))]
    for index, (name, value, tip) in enumerate(found):
        kind = kinds[groups[index]] if groups else colour(0)
        _bar(frame, centres[index] - width / 2, width, value, kind, tip or f"{name}: {y.spell(value)}")
    _values(frame, centres, [value for _, value, _ in found], step)
    frame.parts.append(line(frame.left, frame.y.base, frame.right, frame.y.base, "axis"))
    if len(found) <= _FEW:
        return frame.finish(add_names(frame, centres, [name for name, _, _ in found], step))
    return frame.finish(_count(frame, centres))


def grouped_bars(title: str, categories: Sequence[str], series: Mapping[str, Sequence[float | None]], y: Axis) -> str:
    """For each category one bar of each series, side by side; what is not known is left out."""
    known = [value for values in series.values() for value in values if value is not None]
    if not categories or not known:
        return nothing(title)
    frame = make_frame(title, y, known, [(name, colour(at)) for at, name in enumerate(series)], from_zero=True)
    step = (frame.right - frame.left) / len(categories)
    width = min(0.82 * step / len(series), 56.0)
    centres = [frame.left + step * (index + 0.5) for index in range(len(categories))]
    for place, (name, values) in enumerate(series.items()):
        offsets = [centre + width * (place - len(series) / 2) for centre in centres]
        for category, value, at in zip(categories, values, offsets, strict=True):
            if value is not None:
                _bar(frame, at + 0.5, width - 1, value, colour(place), f"{category}, {name}: {y.spell(value)}")
        _values(frame, [at + width / 2 for at in offsets], values, width + 2)
    frame.parts.append(line(frame.left, frame.y.base, frame.right, frame.y.base, "axis"))
    return frame.finish(add_names(frame, centres, categories, step))


def stacked_bars(title: str, categories: Sequence[str], parts: Mapping[str, Sequence[float]], y: Axis) -> str:
    """One bar for each category, made of its parts; the parts that matter least are drawn as one."""
    if not categories or not parts:
        return nothing(title)
    shown = lump(parts)
    totals = [sum(values[at] for values in shown.values()) for at in range(len(categories))]
    kinds = [REST if name.startswith("other (") else colour(at) for at, name in enumerate(shown)]
    frame = make_frame(title, y, totals, list(zip(shown, kinds, strict=True)), from_zero=True)
    step = (frame.right - frame.left) / len(categories)
    width = max(min(0.7 * step, 72.0), min(step, 1.0))
    centres = [frame.left + step * (index + 0.5) for index in range(len(categories))]
    for at, category in enumerate(categories):
        below = 0.0
        for (name, values), kind in zip(shown.items(), kinds, strict=True):
            low, high = frame.y(below), frame.y(below + values[at])
            share = f" ({100 * values[at] / totals[at]:.1f} %)" if totals[at] else ""
            tip = f"{category}, {name}: {y.spell(values[at])}{share}"
            if low - high > 0:
                frame.parts.append(box(centres[at] - width / 2, high, width, low - high, f"mark {kind}", tip))
            below += values[at]
    _values(frame, centres, totals, step)
    frame.parts.append(line(frame.left, frame.y.base, frame.right, frame.y.base, "axis"))
    if len(categories) <= _FEW:
        return frame.finish(add_names(frame, centres, categories, step))
    return frame.finish(_count(frame, centres))


def lump(parts: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """The parts, with those that would need a colour too many added up."""
    if len(parts) <= len(LIGHT):
        return {name: list(values) for name, values in parts.items()}
    kept = sorted(parts, key=lambda name: -sum(parts[name]))[: len(LIGHT) - 1]
    rest = [values for name, values in parts.items() if name not in kept]
    found = {name: list(values) for name, values in parts.items() if name in kept}
    found[f"other ({len(rest)})"] = [sum(column) for column in zip(*rest, strict=True)]
    return found


def kinds_of(groups: Sequence[str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(each group's colour, the legend): the groups met most often have colours, all others share one."""
    unique = list(dict.fromkeys(groups))
    often = unique
    if len(unique) > len(LIGHT):
        often = sorted(unique, key=lambda name: -groups.count(name))[: len(LIGHT) - 1]
    kinds = {name: colour(often.index(name)) if name in often else REST for name in unique}
    names = [(name, kinds[name]) for name in often]
    return kinds, names + ([(f"other ({len(unique) - len(often)})", REST)] if len(often) < len(unique) else [])


def _bar(frame: Frame, x: float, width: float, value: float, kind: str, tip: str) -> None:
    top, base = sorted((frame.y(value), frame.y.base)) if frame.y.axis.takes(value) else (frame.y.base, frame.y.base)
    frame.parts.append(box(x, top, width, max(base - top, 0.75), f"mark {kind}", tip, 1 if width > 4 else 0))


def _values(frame: Frame, centres: Sequence[float], values: Sequence[float | None], room: float) -> None:
    """The numbers above their bars, where all of them fit."""
    words = [short(value) if value is not None else "" for value in values]
    if max((wide(word, SMALL) for word in words), default=0) > room - 6:
        return
    for at, value, word in zip(centres, values, words, strict=True):
        if value is not None and frame.y.axis.takes(value):
            frame.parts.append(text(at, min(frame.y(value), frame.y.base) - 5, word, "faint name", "middle"))


def _count(frame: Frame, centres: Sequence[float]) -> float:
    """Many bars: only where one is in the row."""
    every = next(step for step in (10, 20, 25, 50, 100, 200, 500, 1000, 10**9) if len(centres) / step <= 12)
    for index in range(0, len(centres), every):
        frame.parts.append(line(centres[index], frame.base, centres[index], frame.base + 5, "axis"))
        frame.parts.append(text(centres[index], frame.base + 20, str(index), "faint", "middle"))
    frame.parts.append(text((frame.left + frame.right) / 2, frame.base + 40, "place in the row", "faint", "middle"))
    return 54
