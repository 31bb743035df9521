"""A claim: what was published, as exactly as it was published."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest import schema

_TEXT = re.compile(r"(?P<metric>[A-Za-z][\w-]*)=(?P<value>\d{1,6}(\.\d{1,10})?)\s*%?(@(?P<dataset>\S+))?")
_NAMES = {"top-1": "top1", "top_1": "top1", "accuracy": "top1", "top-5": "top5", "top_5": "top5"}
METRICS = ("top1", "top5")


@dataclass(frozen=True)
class Claim:
    """A share that somebody published, between 0 and 1, and what may have been rounded away."""

    metric: str
    text: str
    """As published, in percent: its digits say how exact it claims to be."""
    dataset: str | None = None
    source: str | None = None

    @property
    def value(self) -> float:
        return float(self.text) / 100

    @property
    def rounding(self) -> float:
        """Half of the last digit: the number before it was rounded lies so far away at most."""
        return 0.5 * 10.0 ** -len(self.text.partition(".")[2]) / 100


def parse_claim(text: str) -> Claim:
    """`top1=78.8@imagenet-val`."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"`{text}` is no claim", hint="a claim looks like top1=78.8 or top1=78.8@imagenet-val")
    return Claim(_metric(match["metric"]), match["value"], match["dataset"])


def claim_of(published: schema.Claim) -> Claim:
    """A claim as a manifest has it."""
    return Claim(_metric(published.metric), published.value, published.dataset, published.source)


def _metric(name: str) -> str:
    metric = _NAMES.get(name.lower(), name.lower())
    if metric not in METRICS:
        raise UsageError(f"claims about `{name}` cannot be checked; known: {', '.join(METRICS)}")
    return metric
