"""MLPerf's rules for servers of language models: how long the first token and each further one may take.

They hold for MLPerf's own models and data; of another model they say only what such a service feels like.
"""

from __future__ import annotations

from mlmodelscope.bench.tokens import Limit
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.record.bench import EACH, FIRST

RULES = {
    "llama2-70b": (2.0, 0.2),
    "llama2-70b-interactive": (0.45, 0.04),
}
"""Seconds to the first token and for each further one, at the 99th percentile: MLPerf Inference 5.0."""
PERCENTILE = 0.99


def limits_of(name: str) -> tuple[Limit, ...]:
    """The limits of one of MLPerf's benchmarks."""
    if name not in RULES:
        raise UsageError(
            f"MLPerf's rules for `{name}` are not known here\nknown: {', '.join(RULES)}",
            hint=nearest(name, RULES) or "say the limits with --ttft and --tpot",
        )
    first, each = RULES[name]
    source = f"MLPerf Inference 5.0, {name}"
    return Limit(FIRST, first, PERCENTILE, source, name), Limit(EACH, each, PERCENTILE, source, name)
