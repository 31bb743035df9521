"""`claims check`, on this machine or by a server's agents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlmodelscope.cli.progress import TerminalWatcher
from mlmodelscope.cli.server_choice import remote

if TYPE_CHECKING:
    from mlmodelscope.claim.listing import Published
    from mlmodelscope.claim.result import Result
    from mlmodelscope.claim.selection import Job, Selection
    from mlmodelscope.settings import Settings


@dataclass(frozen=True)
class Batch:
    settings: Settings
    fetch: bool
    explain: bool
    again: bool
    trust: bool
    batch_size: int
    threads: int

    def select(self, claims: Sequence[Published], limit: int | None) -> Selection:
        from mlmodelscope.claim.selection import select

        there = remote()
        if there is not None:
            from mlmodelscope.claim.there import ThereObstacles

            return select(claims, ThereObstacles(there.client, self.trust), limit)
        from mlmodelscope.claim.obstacle import Obstacles

        return select(claims, Obstacles(self.settings, self.fetch, self.trust), limit)

    def results(self, selection: Selection, budget_s: float | None) -> Iterator[Result]:
        from mlmodelscope.claim.deadline import Deadline
        from mlmodelscope.claim.here import How, check_here

        deadline, count = Deadline(budget_s), len(selection.jobs)
        how = How(self.explain, self.again, self.trust, self.batch_size, self.threads)
        there = remote()
        if there is not None:
            from mlmodelscope.claim.there import check_there

            yield from check_there(there.client, selection.jobs, how, deadline, lambda line: _say(line))
            return

        def begin(number: int, job: Job) -> None:
            _say(f"{number + 1} of {count}: {job.model} on {job.dataset}")

        with TerminalWatcher() as watcher:
            yield from check_here(selection.jobs, how, deadline, self.settings, watcher, begin)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
