"""Tables in Markdown, written with bars or in HTML, as rows of cells with their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

MAX_ROWS = 20_000
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\(([^()\s]{1,1000})\)")


@dataclass(frozen=True)
class Cell:
    text: str
    links: tuple[str, ...] = ()


@dataclass
class Table:
    """The heading above it, its titles, and its rows with their lines."""

    heading: str
    titles: list[str]
    rows: list[tuple[int, list[Cell]]] = field(default_factory=list)


def bar_tables(text: str) -> Iterator[Table]:
    """`| name | value |` below a line of dashes."""
    heading, table, previous = "", None, ""
    for number, line in enumerate(text.split("\n")[: 10 * MAX_ROWS], 1):
        if line.startswith("#"):
            heading = line.strip("# ").strip()
        is_row = line.strip().startswith("|") or (table is not None and "|" in line)
        if "|" in line and re.fullmatch(r"[\s|:-]+", line) and "-" in line and "|" in previous:
            if table is not None:
                yield table
            table = Table(heading, [each.text for each in _cells(previous)])
        elif is_row and table is not None and len(table.rows) < MAX_ROWS:
            table.rows.append((number, _cells(line)))
        elif table is not None and not is_row:
            yield table
            table = None
        previous = line
    if table is not None:
        yield table


def _cells(line: str) -> list[Cell]:
    parts = line.strip().strip("|").split("|")
    return [Cell(_LINK.sub(r"\1", part).strip(), tuple(_LINK.findall(part)[0][1:])) if _LINK.search(part) else
            Cell(part.strip()) for part in parts]  # fmt: skip


def html_tables(text: str) -> Iterator[Table]:
    """`<table>` as detectron2's pages have it: cells without an end, links inside."""
    reader = _Reader()
    reader.feed(_without_comments(text))
    reader.close()
    yield from reader.tables


def _without_comments(text: str) -> str:
    """Comments become blank lines, so that lines keep their numbers; one without an end goes to the end of the page."""
    kept, position = [], 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start + 4)
        end = len(text) if end < 0 else end
        kept += [text[position:start], "\n" * text.count("\n", start, end)]
        position = end + 3
    return "".join((*kept, text[position:]))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Table] = []
        self._heading = ""
        self._table: Table | None = None
        self._row: list[tuple[list[str], list[str]]] | None = None
        self._is_header = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._table = Table(self._heading, [])
            self.tables.append(self._table)
        elif self._table is not None and tag == "tr":
            self._finish()
            self._row = []
        elif self._table is not None and tag in ("td", "th"):
            if self._row is None:
                self._row = []
            self._is_header = tag == "th"
            self._row.append(([], []))
        elif tag == "br" and self._row:
            self._row[-1][0].append(" ")
        elif tag == "a" and self._row:
            self._row[-1][1].extend(value for key, value in attrs if key == "href" and value)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tr", "table"):
            self._finish()
        if tag == "table":
            self._table = None

    def handle_data(self, data: str) -> None:
        if self._table is None:
            headings = re.findall(r"^#+ +(.{1,200})$", data, re.M)
            self._heading = headings[-1].strip(" :") if headings else self._heading
        elif self._row:
            self._row[-1][0].append(data)

    def _finish(self) -> None:
        if self._row and self._table is not None and len(self._table.rows) < MAX_ROWS:
            cells = [Cell(" ".join("".join(words).split()), tuple(links)) for words, links in self._row]
            if self._is_header and not self._table.rows:
                self._table.titles = [each.text for each in cells]
            else:
                self._table.rows.append((self.getpos()[0], cells))
        self._row = None
