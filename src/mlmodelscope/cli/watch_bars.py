"""A bar for each evaluation that is followed, where a person watches; a line for each turn where none does."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from mlmodelscope.client.client import Evaluation

_TURNS = ("waiting", "running")


class Bars:
    def __init__(self, found: Sequence[Evaluation]) -> None:
        self._names = {each.id: f"{each.facts['model']} on {each.facts['dataset']}" for each in found}
        self._tasks: dict[str, TaskID] = {}
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._tasks = {
                name: self._progress.add_task(escape(words), total=None) for name, words in self._names.items()
            }
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, name: str, event: Mapping[str, Any]) -> None:
        if self._progress is None:
            if event["kind"] in _TURNS:
                place = f" on {event['agent']}" if event.get("agent") else ""
                print(f"{name}  {self._names[name]}: {event['kind']}{place}", file=sys.stderr)
        elif event["kind"] == "progress" and isinstance(event.get("of"), int):
            done = event.get("done")
            self._progress.update(self._tasks[name], total=event["of"], completed=done if isinstance(done, int) else 0)

    def end(self, name: str) -> None:
        if self._progress is not None:
            self._progress.remove_task(self._tasks[name])
