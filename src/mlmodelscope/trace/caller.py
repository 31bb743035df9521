"""The trace of whoever calls, as W3C's Trace Context passes it on: what is done for a call joins it.

https://www.w3.org/TR/trace-context/. A `traceparent` that is not valid is left out, as the recommendation demands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST = 1000
VARIABLE = "TRACEPARENT"
"""The environment variable by which a program that starts another one passes it on."""

CALLED_BY = "traceparent"
"""Where a trace's resource has the caller's."""


@dataclass(frozen=True)
class Caller:
    trace_id: str
    span_id: str
    is_sampled: bool
    """Whether the caller keeps its own spans; where it does not, ours would have no place."""

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.is_sampled else '00'}"


def parse_traceparent(text: str | None) -> Caller | None:
    """`00-TRACE-SPAN-FLAGS`; a version of the future may have more behind it. None where it is not valid."""
    found = _FORM.fullmatch(text.strip()) if text and len(text) <= _LONGEST else None
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or not trace.strip("0") or not span.strip("0"):
        return None
    return Caller(trace, span, bool(int(flags, 16) & 1))
