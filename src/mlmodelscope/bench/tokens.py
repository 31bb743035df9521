"""Times of tokens become numbers: time to first token, time per output token, tokens in a second, bounds on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from mlmodelscope.bench.percentiles import percentiles
from mlmodelscope.bench.run import Run
from mlmodelscope.record.bench import EACH, FIRST, Bound, TokenRecord, What
from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.types import Interval


@dataclass(frozen=True)
class Limit:
    """How long something may take at a percentile."""

    what: What
    bound_s: float
    percentile: float = 0.99
    source: str = "asked for"
    rule: str | None = None


def tokens_of(run: Run) -> TokenRecord | None:
    """What the texts of a run come to; nothing where there are none."""
    texts, duration_s = run.loaded.texts, run.loaded.duration_s
    if texts is None or not len(texts) or not duration_s:
        return None
    first, each = _values(run, FIRST), _values(run, EACH)
    (first_found, first_refused), (each_found, each_refused) = _told(run, first), _told(run, each)
    read, written = texts.tokens_given, texts.tokens_written
    counted = written or read
    return TokenRecord(
        texts=len(texts),
        read=read,
        written=written,
        read_per_s=read / duration_s if read is not None else None,
        written_per_s=written / duration_s,
        first_s=first_found,
        first_refused=first_refused,
        first_mean_s=fmean(first) if first else None,
        each_s=each_found,
        each_refused=each_refused,
        each_mean_s=fmean(each) if each else None,
        energy_j_per_token={name: joules / counted for name, joules in (run.energy_j or {}).items()} if counted else {},
    )


def written_per_s(run: Run) -> float | None:
    found = tokens_of(run)
    return found.written_per_s if found and found.written else None


def paces(run: Run) -> list[float]:
    """How long each query took by itself, in nanoseconds: for a token, where answers of any length were written."""
    loaded = run.loaded
    calls: list[float] = [end - start for end, start in zip(loaded.ended_ns, loaded.started_ns, strict=True)]
    written = [0] * len(calls)
    for query, count in zip(loaded.texts.queries, loaded.texts.written, strict=True) if loaded.texts else ():
        written[query] += count
    return [call / count if count else call for call, count in zip(calls, written, strict=True)]


def _values(run: Run, what: What) -> list[float]:
    texts, loaded = run.loaded.texts, run.loaded
    if texts is None:
        return []
    if what == EACH:
        return texts.each_s()
    return texts.first_s([start - due for start, due in zip(loaded.started_ns, loaded.due_ns, strict=True)])


def _told(run: Run, values: list[float]) -> tuple[dict[str, Interval], dict[str, str]]:
    return percentiles(values, independent=run.scenario != "server", of="texts") if values else ({}, {})


def judge_limits(run: Run, limits: Sequence[Limit]) -> tuple[Bound, ...]:
    """Whether a run kept to each limit."""
    return tuple(_judged(run, limit) for limit in limits)


def _judged(run: Run, limit: Limit) -> Bound:
    values = _values(run, limit.what)
    name = f"p{100 * limit.percentile:g}"
    known, refused = _told(run, values)
    found = known.get(name)
    verdict: Literal["met", "not met", "undecided"] = "undecided"
    if found is not None and found.high <= limit.bound_s:
        verdict = "met"
    elif found is not None and found.low > limit.bound_s:
        verdict = "not met"
    return Bound(
        what=limit.what,
        percentile=limit.percentile,
        bound_s=limit.bound_s,
        source=limit.source,
        rule=limit.rule,
        found=found,
        because=None if found is not None else refused.get(name, "nobody knows when the tokens came"),
        verdict=verdict,
    )


def keeps_to(run: Run, limits: Sequence[Limit]) -> bool:
    """Whether a run looks as if it kept to all limits, by the percentiles themselves and not by their intervals."""
    found = [(limit, _values(run, limit.what)) for limit in limits]
    return all(
        bool(values) and percentile_interval(values, limit.percentile).value <= limit.bound_s for limit, values in found
    )
