"""A trace as a file: the name says which form."""

from __future__ import annotations

from collections.abc import Callable

from mlmodelscope.errors import UsageError
from mlmodelscope.trace.chrome import write_chrome
from mlmodelscope.trace.csv import write_csv
from mlmodelscope.trace.flame import write_folded
from mlmodelscope.trace.otlp import write_otlp
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.speedscope import write_speedscope
from mlmodelscope.trace.text import write_text
from mlmodelscope.trace.timeline_page import write_page

FORMS: dict[str, Callable[[Trace], str]] = {
    ".speedscope.json": write_speedscope,
    ".otlp.json": write_otlp,
    ".json": write_chrome,
    ".csv": write_csv,
    ".html": write_page,
    ".folded": write_folded,
    ".txt": write_text,
}
"""By the end of a file's name, longer ends first; plain .json is what Chrome and Perfetto open."""


def form_of(name: str) -> Callable[[Trace], str]:
    """What writes a file of this name."""
    for end, write in FORMS.items():
        if name.endswith(end):
            return write
    raise UsageError(f"`{name}` does not say which form it is to have", hint=f"end it with one of {', '.join(FORMS)}")
