"""A roofline: how fast something computes against how much it computes for each byte, below what the machine allows."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.report.plot.axis import Axis, short
from mlmodelscope.report.plot.frame import add_x_axis, make_frame
from mlmodelscope.report.plot.ink import SMALL, line, nothing, text, wide
from mlmodelscope.report.plot.place import Box
from mlmodelscope.report.plot.scatter import Mark, add_marks, kinds_of

_X = Axis("arithmetic intensity", "flop/byte", log=True)
_Y = Axis("throughput", "flop/s", log=True)


def roofline(title: str, marks: Sequence[Mark], flops_per_s: float, bytes_per_s: float) -> str:
    """Left of the ridge memory is the limit, right of it the arithmetic."""
    if not (flops_per_s > 0 and bytes_per_s > 0):
        return nothing(title, "the machine's peak is not known")
    shown = [mark for mark in marks if _X.takes(mark.x) and _Y.takes(mark.y)]
    ridge = flops_per_s / bytes_per_s
    wide_x = [ridge / 20, ridge * 20, *(mark.x for mark in shown)]
    lowest = min([flops_per_s / 30, *(mark.y for mark in shown)])
    kinds, names = kinds_of([mark.group for mark in marks])
    frame = make_frame(title, _Y, [lowest, flops_per_s * 1.2, *(mark.y for mark in shown)], names, height=380)
    across = add_x_axis(frame, _X, wide_x)
    start = max(across.low, frame.y.low / bytes_per_s)
    at, top = across(ridge), frame.y(flops_per_s)
    roof = f"{across(start):.1f},{frame.y(start * bytes_per_s):.1f} {at:.1f},{top:.1f} {across.end:.1f},{top:.1f}"
    under = f"{roof} {across.end:.1f},{frame.base:.1f} {across(start):.1f},{frame.base:.1f}"
    frame.parts.append(f'<polygon class="h0" opacity=".55" points="{under}"/>')
    frame.parts.append(
        f'<polyline class="curve rest" points="{roof}"><title>the roof: {short(flops_per_s)}flop/s, '
        f"{short(bytes_per_s)}B/s</title></polyline>"
    )
    frame.parts.append(line(at, top, at, frame.base, "guide"))
    words = (  # all above the roof, where hardly a mark is
        (at - 8, f"{short(bytes_per_s)}B/s", "end"),
        (at + 6, f"{short(ridge)} flop/byte", "start"),
        (across.end - 6, f"{short(flops_per_s)}flop/s", "end"),
    )
    frame.parts += [text(x, top - 7, word, "faint name", anchor) for x, word, anchor in words]
    taken = Box(at - 8 - wide(words[0][1], SMALL), top - 22, across.end, top)
    add_marks(frame, across, shown, _X, _Y, kinds, [taken])
    lost = len(marks) - len(shown)
    notes = [f"{lost} of {len(marks)} without arithmetic or memory traffic are not shown"] if lost else []
    remarks = dict.fromkeys(mark.remark for mark in shown if mark.remark)
    notes += [f"hollow above the roof: {' or '.join(remarks)}"] if remarks else []
    return frame.finish(52, "; ".join(notes))
