"""A run of load, and several of them as one."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mlmodelscope.worker.loaded import Loaded
from mlmodelscope.worker.texts import Texts, joined


@dataclass(frozen=True)
class Run:
    """One run of load and how it was asked for."""

    scenario: str
    loaded: Loaded
    process: int = 0
    samples_per_query: int = 1
    rate_qps: float | None = None
    seed: int | None = None
    energy_j: Mapping[str, float] | None = None


def join(runs: Sequence[Run]) -> Run:
    """Runs of the same kind as one: their queries together, their time in turn."""
    first = runs[0]
    if len(runs) == 1:
        return first
    due, started, ended, depths = array("q"), array("q"), array("q"), array("q")
    energy: dict[str, float] = {}
    begins = 0
    texts: list[tuple[Texts, int]] = []
    for run in runs:
        loaded = run.loaded
        if loaded.texts is not None:
            texts.append((loaded.texts, len(due)))
        for whole, part in ((due, loaded.due_ns), (started, loaded.started_ns), (ended, loaded.ended_ns)):
            whole.extend(begins + value for value in part)
        depths.extend(loaded.depths)
        begins += max(loaded.ended_ns, default=0)
        for name, joules in (run.energy_j or {}).items():
            energy[name] = energy.get(name, 0.0) + joules
    memory = [run.loaded.peak_memory_bytes for run in runs if run.loaded.peak_memory_bytes is not None]
    loaded = replace(
        first.loaded,
        due_ns=due,
        started_ns=started,
        ended_ns=ended,
        depths=depths,
        cpu_ns=sum(run.loaded.cpu_ns for run in runs),
        unanswered=sum(run.loaded.unanswered for run in runs),
        peak_memory_bytes=max(memory, default=None),
        texts=joined(texts) if texts else None,
    )
    return replace(first, loaded=loaded, energy_j=energy or None)
