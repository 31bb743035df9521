"""A page of tables and plots that is about several records: one file, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.report.html import render, style
from mlmodelscope_worker import __version__


@dataclass(frozen=True)
class Section:
    title: str
    about: str = ""
    plots: Sequence[str] = ()
    """SVG texts and pictures, of our own making: they are not escaped."""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()

    @property
    def anchor(self) -> str:
        return self.title.lower().replace(" ", "-").replace(",", "")


def write_sheet(title: str, lede: str, sections: Sequence[Section], facts: Sequence[tuple[str, str]] = ()) -> str:
    page = {"style": style(), "title": title, "lede": lede, "sections": sections, "facts": facts, "by": __version__}
    return render("sheet.html.mako", page)
