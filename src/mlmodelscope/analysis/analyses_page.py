"""All analyses as one HTML file that asks the network for nothing. Its only script is ours, and the page says which."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from mako.lookup import TemplateLookup

from mlmodelscope.analysis.analyse import Analysed
from mlmodelscope.analysis.columns import FLOPS, SPEED
from mlmodelscope.analysis.kernels import whole
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.table import Column, Value, spelled
from mlmodelscope.report import html as report
from mlmodelscope.report import words
from mlmodelscope.trace.text import spell
from mlmodelscope_worker import __version__

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_ROWS = 2000


def write_page(analysed: Analysed, subjects: Sequence[Subject]) -> str:
    return str(_templates().get_template("analyses.html.mako").render(**_page(analysed, subjects)))


@cache
def _templates() -> TemplateLookup:
    # Everything is escaped unless a template says `| n`, which only our own style, script and plots do.
    return TemplateLookup([str(_TEMPLATES)], default_filters=["h"], strict_undefined=True, input_encoding="utf-8")


def _page(analysed: Analysed, subjects: Sequence[Subject]) -> dict[str, Any]:
    """All that the template shows; it computes nothing."""
    script = (_TEMPLATES / "analyses.js").read_text(encoding="utf-8")
    subject = next((each for each in subjects if each.trace is not None), subjects[0])
    return {
        "version": __version__,
        "style": report.style() + (_TEMPLATES / "analyses.css").read_text(encoding="utf-8"),
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "model": subject.name,
        "facts": _facts(subject, subjects),
        "cards": cards(subject),
        "analyses": analysed.analyses,
        "missing": analysed.missing,
        "most": _MOST_ROWS,
        "spelled": spelled,
        "sort_key": _sort_key,
    }


def _facts(subject: Subject, subjects: Sequence[Subject]) -> list[tuple[str, str]]:
    said = subject.trace.resource if subject.trace else {}
    made = subject.record.created_at if subject.record else None
    if made is None and subject.trace is not None:
        made = datetime.fromtimestamp(subject.trace.began_unix_ns / 1e9, UTC)
    records = [each.record.id for each in subjects if each.record is not None]
    machine = subject.record.machine.cpu if subject.record else said.get("host.cpu")
    found = [
        ("Date", f"{made:%d %B %Y, %H:%M} UTC".lstrip("0") if made else ""),
        ("Record" if len(records) == 1 else "Records", ", ".join(records) or said.get("record", "")),
        ("Software", said.get("stack", "")),
        ("Machine", machine or ""),
    ]
    return [(name, value) for name, value in found if value]


def cards(subject: Subject) -> list[tuple[str, str, str]]:
    """(what, the figure, what to know about it)."""
    found = []
    if subject.latency_ns is not None:
        found.append(("Latency, unprofiled", spell(subject.latency_ns), f"batch size {subject.batch_size}, median"))
    if not subject.layers and not subject.calls:
        return found
    work, what, share = whole(subject)
    if work.flops is not None:
        known = f"of {what} that take {words.percent(share)} of the time"
        found.append(("Operations", spelled(FLOPS, work.flops), known))
        found.append(("Speed", spelled(SPEED, work.flops_per_s), f"in {spell(work.time_ns)} of {what}"))
    if work.of_ideal is not None and work.ideal_ns is not None and work.peak is not None:
        best = f"{spell(work.ideal_ns)} at {spelled(SPEED, work.peak.flops_per_s)}, {work.bound}-bound"
        found.append(("Of the machine's best", words.percent(work.of_ideal), best))
    found.append(("Layers", words.count(len(subject.layers)), "as they were executed"))
    return found


def _sort_key(column: Column, value: Value) -> str:
    """What the page's script sorts by."""
    if value is None:
        return ""
    if column.is_number:
        return repr(value)
    return " ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
