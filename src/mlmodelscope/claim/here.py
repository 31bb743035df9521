"""Claims checked on this machine, one job after the other, each by the code of `replicate` and kept at once."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from mlmodelscope.claim.deadline import BudgetSpent, Deadline
from mlmodelscope.claim.result import Result, before
from mlmodelscope.claim.selection import Job
from mlmodelscope.errors import MLModelScopeError, StoreError
from mlmodelscope.plan.options import Options
from mlmodelscope.record.checks import Check, read_checks
from mlmodelscope.record.database import open_database
from mlmodelscope.replicate.checked import keep_replication
from mlmodelscope.replicate.replication import replicate
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher


@dataclass(frozen=True)
class How:
    """How each is checked."""

    explain: bool = True
    again: bool = False
    trust: bool = False
    batch_size: int = 1
    threads: int = 1


Begin = Callable[[int, Job], None]


def check_here(
    jobs: Sequence[Job], how: How, deadline: Deadline, settings: Settings, watcher: Watcher, begin: Begin
) -> Iterator[Result]:
    """The result of each job as it is known. One that fails does not end the others."""
    for number, job in enumerate(jobs):
        if job.is_done and not how.again:
            yield before(job)
            continue
        if deadline.is_over:
            yield Result(job, "not finished", message="the budget was spent before it began")
            continue
        begin(number, job)
        yield _checked(job, how, deadline, settings, watcher)


def _checked(job: Job, how: How, deadline: Deadline, settings: Settings, watcher: Watcher) -> Result:
    try:
        with deadline.interrupting():
            done = replicate(
                job.model,
                job.dataset,
                Options(batch_size=how.batch_size, threads=how.threads),
                explain=how.explain,
                again=how.again,
                trust=how.trust,
                settings=settings,
                watcher=watcher,
            )
            keep_replication(done, job.model, settings)
        found = _kept(job, done.record.id, settings)
        return Result(job, "checked", found, "" if found else "nothing was said of the numbers as published")
    except BudgetSpent:
        return Result(job, "not finished", message="the budget was spent; the same command resumes it")
    except StoreError:
        raise  # a full disk or a lost database: the others would fail, too
    except MLModelScopeError as error:
        return Result(job, "failed", message=error.message.splitlines()[0])
    except Exception as error:
        traceback.print_exc()
        return Result(job, "failed", message=f"an error of our own: {type(error).__name__}: {error}")


def _kept(job: Job, record: str, settings: Settings) -> tuple[Check, ...]:
    """What was just written, as it will be found again."""
    with closing(open_database(settings)) as database:
        found = {check.claim: check for check in read_checks(database, model=job.model) if check.record == record}
    return tuple(found[each.key] for each in job.claims if each.key in found)
