"""Analyses as files: a folder of tables and plots, one page, or one table."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from mlmodelscope.analysis.analyse import Analysed
from mlmodelscope.analysis.analyses_page import write_page
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.table import one_file
from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.report.plot import to_png

_FILES = (".html", ".csv", ".json")


def check_output(output: Path, wanted: int) -> None:
    """Before anything is worked out: what cannot be written would be known too late."""
    if output.suffix in (".csv", ".json") and wanted != 1:
        raise UsageError(f"{output.name} has room for one table", hint="choose one with --only A2, or give a folder")
    if output.suffix and output.suffix not in _FILES and not output.is_dir():
        raise UsageError(
            f"`{output.name}` does not say which form it is to have",
            hint=f"end it with one of {', '.join(_FILES)}, or give a folder's name",
        )


def write_analyses(analysed: Analysed, subjects: Sequence[Subject], output: Path, png: bool = False) -> list[Path]:
    """The files that were written."""
    try:
        if output.suffix in _FILES and not output.is_dir():
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(_one(analysed, subjects, output), encoding="utf-8")
            return [output]
        output.mkdir(parents=True, exist_ok=True)
        return _write_folder(analysed, output, png)
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or output}: {error.strerror}") from None


def _one(analysed: Analysed, subjects: Sequence[Subject], output: Path) -> str:
    if output.suffix == ".html":
        return write_page(analysed, subjects)
    return one_file(analysed.analyses[0], output.name)


def _write_folder(analysed: Analysed, folder: Path, png: bool) -> list[Path]:
    written = []
    for each in analysed.analyses:
        name = f"{each.id}-{each.table.name}"
        for ending in (".csv", ".json"):
            path = folder / f"{name}{ending}"
            path.write_text(one_file(each, path.name), encoding="utf-8")
            written.append(path)
        for plot, svg in each.plots.items():
            path = folder / f"{name}-{_plain(plot)}.svg"
            path.write_text(svg, encoding="utf-8")
            written.append(path)
            if png:
                picture = path.with_suffix(".png")
                picture.write_bytes(to_png(svg))
                written.append(picture)
    left_out = [{"id": each.id, "why": each.why, "command": each.command} for each in analysed.missing]
    if left_out:
        path = folder / "missing.json"
        path.write_text(json.dumps(left_out, indent=2) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _plain(name: str) -> str:
    return re.sub(r"\W+", "-", name)
