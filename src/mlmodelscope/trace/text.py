"""A trace as a tree of lines with bars, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from mlmodelscope.trace.span import LEVELS, Span, Trace

_EIGHTHS = " ▏▎▍▌▋▊▉"


def write_text(trace: Trace, level: str = "hardware", most: int = 12, width: int = 40) -> str:
    return "".join(f"{line}\n" for line in lines(trace, level, most, width))


def lines(trace: Trace, level: str = "hardware", most: int = 12, width: int = 40) -> Iterator[str]:
    """Down to a level. Of many children the longest are shown, in order.

    A bar stands where its span does in the batch that it belongs to, and a batch's own in the whole timeline.
    """
    deepest = LEVELS.index(level)
    rows: list[tuple[str, Span | None, Span]] = []

    def add(span: Span, lead: str, follow: str, root: Span, frame: Span) -> None:
        rows.append((lead + span.name, span, frame))
        below = [each for each in trace.children.get(span.id, ()) if LEVELS.index(each.level) <= deepest]
        shown = _longest(below, most)
        inner = span if span.parent == root.id else frame
        for place, child in enumerate(shown):
            last = place == len(shown) - 1 and len(shown) == len(below)
            add(child, follow + ("└ " if last else "├ "), follow + ("  " if last else "│ "), root, inner)
        if len(shown) < len(below):
            hidden = sum(each.duration_ns for each in below) - sum(each.duration_ns for each in shown)
            rows.append((f"{follow}└ … {len(below) - len(shown)} more, {spell(hidden)}", None, frame))

    for root in trace.children.get(None, ()):
        add(root, "", "", root, root)
    wide = min(48, max((len(name) for name, _, _ in rows), default=0))
    for name, span, frame in rows:
        label = name if len(name) <= wide else name[: wide - 1] + "…"
        if span is None:
            yield label
            continue
        bar = _bar(span.start_ns - frame.start_ns, span.end_ns - frame.start_ns, frame.duration_ns, width)
        yield f"{label.ljust(wide)}  {spell(span.duration_ns).rjust(8)}  {bar}  {_about(span)}".rstrip()


def summary(trace: Trace) -> Iterator[tuple[str, str]]:
    """What there is, before the tree: names with sentences."""
    said = trace.resource
    model = f"{said.get('model.name', 'trace')} {said.get('model.version', '')}".strip()
    yield "trace", f"{model}, {said['stack']}" if said.get("stack") else model
    counts = {level: len(trace.at(level)) for level in LEVELS}
    levels = ", ".join(f"{level} {count}" for level, count in counts.items() if count)
    yield "spans", f"{len(trace.spans)} in {spell(trace.duration_ns)}: {levels}"
    batches = trace.named("batch", "application")
    if batches:
        times = sorted(each.duration_ns for each in batches)
        between = f", between {spell(times[0])} and {spell(times[-1])}" if len(times) > 1 else ""
        yield "batches", f"{len(times)}, {spell(median(times))} at the median{between}"


def some_batches(trace: Trace, count: int) -> Trace:
    """The same with so many of its batches, those nearest to the median."""
    batches = trace.named("batch", "application")
    if len(batches) <= count:
        return trace
    usual = median(each.duration_ns for each in batches)
    nearest = sorted(batches, key=lambda each: (abs(each.duration_ns - usual), each.start_ns))
    left_out = {each.id for each in nearest[count:]}
    kept = []
    for span in trace.spans:  # parents stand before their children
        if span.id in left_out or span.parent in left_out:
            left_out.add(span.id)
        else:
            kept.append(span)
    return replace(trace, spans=tuple(kept))


def _longest(spans: Sequence[Span], most: int) -> list[Span]:
    kept = {each.id for each in sorted(spans, key=lambda each: -each.duration_ns)[:most]}
    return [each for each in spans if each.id in kept]


def _about(span: Span) -> str:
    words = [str(span.attributes["kind"])] if "kind" in span.attributes else []
    if shapes := span.attributes.get("shapes"):
        words.append("×".join(map(str, shapes[0])))
    return "  ".join(words)


def _bar(start: int, end: int, whole: int, width: int) -> str:
    """Where it is and how long, to an eighth of a character; what is there is seen, however short."""
    if not whole:
        return " " * width
    first, last = start * width * 8 // whole, max(end * width * 8 // whole, start * width * 8 // whole + 1)
    cells = []
    for cell in range(width):
        low, high = max(first, 8 * cell), min(last, 8 * cell + 8)
        filled = max(0, high - low)
        cells.append(
            "█" if filled == 8 else "▐" if filled and low > 8 * cell and high == 8 * cell + 8 else _EIGHTHS[filled]
        )
    return "".join(cells)


def spell(duration_ns: float) -> str:
    """Three digits and a unit that suits them."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if duration_ns >= scale:
            return f"{duration_ns / scale:.3g} {unit}"
    return f"{duration_ns:.0f} ns"
