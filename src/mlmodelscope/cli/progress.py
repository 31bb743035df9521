"""Progress on standard error: bars where a person watches, nothing where a program does."""

from __future__ import annotations

import sys
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console

from mlmodelscope.watcher import Watcher

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

    from mlmodelscope.record.record import Record
    from mlmodelscope.worker.client import Latency


class TerminalWatcher(Watcher):
    """Shows downloads and samples with their rate and the time left."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._quiet = not sys.stderr.isatty()
        self._active: Progress | None = None
        self._files: dict[str, TaskID] = {}
        self._task: TaskID | None = None

    @cached_property
    def _downloads(self) -> Progress:
        from rich.progress import DownloadColumn, TransferSpeedColumn

        return self._bar(DownloadColumn(), TransferSpeedColumn())

    @cached_property
    def _samples(self) -> Progress:
        from rich.progress import MofNCompleteColumn, TextColumn

        return self._bar(MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))

    def _bar(self, *columns: ProgressColumn) -> Progress:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        name = TextColumn("{task.description}")
        return Progress(name, BarColumn(), *columns, TimeRemainingColumn(), console=self._console, transient=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._show(None)

    def _show(self, progress: Progress | None) -> None:
        if self._active is not progress:
            if self._active is not None:
                self._active.stop()
            if progress is not None:
                progress.start()
            self._active = progress

    def downloading(self, name: str, done: int, total: int | None) -> None:
        if self._quiet:
            return
        self._show(self._downloads)
        if name not in self._files:
            self._files[name] = self._downloads.add_task(name, total=total)
        self._downloads.update(self._files[name], completed=done, total=total)

    def building(self, what: str) -> None:
        self._console.print(what)

    def waiting(self, reason: str) -> None:
        self._console.print(f"waiting: {reason}")

    def known(self, record: Record) -> None:
        from mlmodelscope.report.words import answered_from_store

        self._console.print(answered_from_store(record), soft_wrap=True)

    def resuming(self, record: Record, done: int, total: int) -> None:
        self._console.print(f"resuming {record.id}: {min(done, total)} of {total} samples are done")

    def measured(self, latency: Latency) -> None:
        if not self._quiet:
            self._console.print(f"latency measured in {len(latency.raw_ns)} runs")

    def benching(self, what: str) -> None:
        if not self._quiet:
            self._console.print(what)

    def answered(self, done: int, total: int, failed: int) -> None:
        if self._quiet:
            return
        self._show(self._samples)
        if self._task is None:
            self._task = self._samples.add_task("samples", total=total, rate="")
        speed = self._samples.tasks[0].speed
        self._samples.update(self._task, completed=done, rate=f"{speed:.0f}/s" if speed else "")

    def trained(self, progress: float, metrics: dict[str, float]) -> None:
        if self._quiet:
            return
        self._show(self._samples)
        if self._task is None:
            self._task = self._samples.add_task("training", total=100, rate="")
        shown = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        self._samples.update(self._task, completed=round(100 * progress), rate=shown)
