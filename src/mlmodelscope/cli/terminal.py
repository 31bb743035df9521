"""Printing, and how errors end a command. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Any, ParamSpec, cast

import typer

from mlmodelscope.errors import ManifestError, MLModelScopeError

if TYPE_CHECKING:
    from rich.console import Console

    from mlmodelscope.settings import Settings

Parameters = ParamSpec("Parameters")

INTERRUPTED = 130
_LEAST_WORDS = 12
_IN_A_FILE = 240
SOME_SAMPLES_FAILED = 3

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Offline = Annotated[bool, typer.Option("--offline", help="Never use the network.")]


def verb(function: Callable[Parameters, int | None]) -> Callable[Parameters, None]:
    """Make a function a command: foreseen errors become a message and an exit code, surprises keep their traceback."""
    return _command(function, "interrupted; the same command resumes where it left off")


def verb_of_a_moment(function: Callable[Parameters, int | None]) -> Callable[Parameters, None]:
    """The same for what measures this moment of this machine: half of it is worth nothing and is not kept."""
    return _command(function, "interrupted; nothing was kept, and the same command begins anew")


def _command(function: Callable[Parameters, int | None], when_interrupted: str) -> Callable[Parameters, None]:
    @functools.wraps(function)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            code = function(*arguments, **options) or 0
            sys.stdout.flush()
        except MLModelScopeError as error:
            _show_error(error, as_json=bool(options.get("as_json")))
            code = error.exit_code
        except KeyboardInterrupt:
            print(f"\n{when_interrupted}", file=sys.stderr)
            code = INTERRUPTED
        except BrokenPipeError:
            # Whoever read our output has seen enough (`| head`); nothing more can be said to them.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        raise typer.Exit(code)

    return run


def _show_error(error: MLModelScopeError, as_json: bool) -> None:
    if not as_json:
        print(f"error: {error}", file=sys.stderr)
        return
    body: dict[str, Any] = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, ManifestError):
        body["problems"] = [vars(problem) for problem in error.problems]
    print(json.dumps({"error": body}, indent=2))


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, default=str))


def console() -> Console:
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    # A program or a file that reads our tables must not get them cut to a terminal's width, nor padded.
    return Console(file=cast("IO[str]", _Trimmed(sys.stdout)), highlight=False, width=_IN_A_FILE)


class _Trimmed:
    """A file whose lines end with their last word: tables fill up their last column."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.encoding = getattr(file, "encoding", "utf-8")

    def write(self, text: str) -> int:
        return self._file.write(re.sub(r" +(?=\n)", "", text))

    def flush(self) -> None:
        self._file.flush()

    def isatty(self) -> bool:
        return False


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> None:
    """Columns side by side; what is wider than the terminal has its cells folded.

    Thousands of rows that fit need nothing of what a library does for each cell.
    """
    from rich.cells import cell_len

    lines = [titles, *rows]
    widths = [max(cell_len(line[at]) for line in lines) for at in range(len(titles))]
    is_right = [*right, *[False] * (len(titles) - len(right))]
    out = console()
    if out.is_terminal and sum(widths) + 2 * (len(widths) - 1) > out.width:
        _print_folded(out, lines, widths, is_right)
        return
    for line in lines:
        cells = []
        for cell, width, at_right in zip(line, widths, is_right, strict=True):
            room = " " * (width - cell_len(cell))
            cells.append(room + cell if at_right else cell + room)
        text = "  ".join(cells).rstrip()
        out.print(text, style="bold", markup=False, soft_wrap=True) if line is titles else print(text)


def print_fitting(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    """The same for wide tables: a terminal gets the columns that fit with whole numbers, and the names of the rest."""
    from rich.cells import cell_len

    out, kept, used = console(), list(range(len(titles))), 0
    if out.is_terminal:
        kept = []
        for at, title in enumerate(titles):
            width = max(cell_len(cell) for cell in (title, *(row[at] for row in rows)))
            least = width if right[at] else min(width, _LEAST_WORDS if at else 2 * _LEAST_WORDS)
            if kept and used + least + 2 > out.width:
                continue
            kept.append(at)
            used += least + 2
    print_table([titles[at] for at in kept], [[row[at] for at in kept] for row in rows], [right[at] for at in kept])
    left_out = [title for at, title in enumerate(titles) if at not in kept]
    if left_out:
        text = f"no room for {', '.join(left_out)}: widen the terminal, or -o FILE.html"
        out.print(text, style="dim", markup=False)


def print_note(text: str, label: str = "") -> None:
    """A sentence, wrapped between words on a terminal and whole in a file."""
    from rich.text import Text

    out = console()
    shown = Text.assemble((f"{label} ", "yellow"), text) if label else Text(text, style="dim")
    out.print(shown, soft_wrap=not out.is_terminal)


def _print_folded(
    out: Console, lines: Sequence[Sequence[str]], widths: Sequence[int], is_right: Sequence[bool]
) -> None:
    """Numbers stay whole as long as that leaves some room for words."""
    from rich.markup import escape
    from rich.table import Table

    numbers = sum(width + 2 for width, at_right in zip(widths, is_right, strict=True) if at_right)
    whole = numbers + _LEAST_WORDS * is_right.count(False) <= out.width
    table = Table(box=None, pad_edge=False)
    for title, at_right in zip(lines[0], is_right, strict=True):
        table.add_column(
            escape(title), justify="right" if at_right else "left", no_wrap=at_right and whole, overflow="fold"
        )
    for row in lines[1:]:
        table.add_row(*map(escape, row))
    out.print(table)


def print_facts(rows: Sequence[tuple[str, str]]) -> None:
    """Names with sentences beside them, which are wrapped on a terminal and whole in a file."""
    import textwrap

    from rich.markup import escape

    out = console()
    first = max((len(name) for name, _ in rows), default=0) + 2
    for name, text in rows:
        room = max(20, out.width - first)
        lines = textwrap.wrap(text, room, break_on_hyphens=False) if out.is_terminal else [text]
        rest = f"{' ' * (first - len(name))}{''.join(lines[:1])}".rstrip()
        out.print(f"[bold]{escape(name)}[/bold]{escape(rest)}", soft_wrap=True)
        for line in lines[1:]:
            print(" " * first + line)


def settings(offline: bool) -> Settings:
    from dataclasses import replace

    from mlmodelscope.settings import Settings

    found = Settings.from_environment()
    return replace(found, offline=True) if offline else found


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def seconds(duration_s: float) -> str:
    """A duration with three digits and a unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if duration_s * scale >= 1 or unit == "µs":
            return f"{duration_s * scale:.3g} {unit}"
    raise AssertionError
