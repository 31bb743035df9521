"""What a notebook shows of a record: a small table, readable on light and dark ground, and safe to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.spelling import measured_range, measured_value

_CELL = 'style="text-align:left;padding:2px 12px 2px 0"'
_MOST_NOTES = 5
_MOST_LETTERS = 300


def as_html(
    heading: str, numbers: Mapping[str, MeasuredNumber], facts: Mapping[str, str], notes: Sequence[str] = ()
) -> str:
    rows = [(number.title or name, *_spelled(number)) for name, number in numbers.items()]
    rows += [(name, value, "") for name, value in facts.items()]
    lines = "".join(_row(*row) for row in rows)
    said = "".join(f"<li>{_safe(note)}</li>" for note in notes[:_MOST_NOTES])
    return f"<p><strong>{_safe(heading)}</strong></p><table>{lines}</table>" + (f"<ul>{said}</ul>" if said else "")


def _row(name: str, value: str, more: str) -> str:
    cells = "".join(f"<td {_CELL}>{_safe(each)}</td>" for each in (value, more))
    return f'<tr><th {_CELL} scope="row">{_safe(name)}</th>{cells}</tr>'


def _spelled(number: MeasuredNumber) -> tuple[str, str]:
    between = measured_range(number)
    return measured_value(number), f"{100 * number.confidence:g} % interval: {between}" if between else ""


def _safe(text: str) -> str:
    return escape(text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…")
