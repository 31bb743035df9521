"""What came of a comparison, as lines of a terminal and of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from worker_package.predictor.nets.bench import Bench, Row, Way

MARK = "<!-- what follows is written by tools/agreement.py -->"


def label(way: Way) -> str:
    options = "".join(f", {name}={value}" for name, value in way.options.items())
    return f"{way.file}{options}"


def verdict(row: Row, bench: Bench) -> str:
    if row.failure is not None:
        return row.failure
    return "agrees" if row.agrees(bench.subject.tolerance) else "DISAGREES"


def line(row: Row, bench: Bench) -> str:
    numbers = "" if row.difference is None else f"{row.difference:.1e}  {row.same_best}/{bench.samples}"
    return f"{row.way.stack:<20} {label(row.way):<34} {numbers:<16} {verdict(row, bench)}"


def matrix(rows: Sequence[Row]) -> list[str]:
    """The largest difference between every two rows that ran, by their numbers."""
    scores = {number: row.scores for number, row in enumerate(rows, start=1) if row.scores is not None}
    lines = ["    " + "".join(f"{number:>6}" for number in list(scores)[:-1])]
    for number, own_scores in scores.items():
        others = [float(abs(own_scores - scores[other]).max()) for other in scores if other < number]
        if others:
            lines.append(f"{number:>4}" + "".join(f"{short(each):>6}" for each in others))
    return lines


def short(value: float) -> str:
    if value == 0:
        return "0"
    digits, _, power = f"{value:.0e}".partition("e")
    return f"{digits}e{int(power)}"


def page_of(name: str, bench: Bench, rows: Sequence[Row]) -> list[str]:
    ran = [row for row in rows if row.scores is not None]
    what = {"probability": "probabilities", "logits": "logits"}[bench.subject.output]
    largest = max((float(np.abs(row.scores).max()) for row in ran), default=0.0)
    lines = [
        f"## {name}",
        "",
        f"{bench.samples} pictures of `{bench.subject.dataset}`, {bench.classes} {what} each, up to {largest:.3g}.",
        f"Rows agree where no score is further than {bench.subject.tolerance:.0e} from the reference; {prepared(ran)}.",
        "",
        "| | stack | file | largest difference | same top-1 | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for number, row in enumerate(rows, start=1):
        difference, best = "–", "–"
        if row.difference is not None:
            difference, best = f"{row.difference:.1e}", f"{row.same_best}/{bench.samples}"
        said = verdict(row, bench).replace("|", "\\|")
        lines.append(f"| {number} | `{row.way.stack}` | {label(row.way)} | {difference} | {best} | {said} |")
    return [*lines, "", "The largest difference between every two rows:", "", "```", *matrix(rows), "```", ""]


def prepared(rows: Sequence[Row]) -> str:
    """Whether the models got the same bits; if not, which stacks are not with the majority."""
    ((usual, _),) = Counter(row.tensors for row in rows).most_common(1) or ((None, 0),)
    others = dict.fromkeys(f"`{row.way.stack}`" for row in rows if row.tensors != usual)
    if not others:
        return "all workers prepared the same tensors, bit for bit"
    return f"{', '.join(others)} prepared other tensors than the rest"


def told(row: Row, bench: Bench) -> str:
    if row.difference is None:
        return verdict(row, bench)
    best = f"top-1 is the same for {row.same_best}/{bench.samples}"
    return f"{verdict(row, bench)}: wrong by up to {row.difference:.1e}; {best}"


def renew(page: Path, lines: Sequence[str]) -> None:
    """Replace the sections of a page that are made anew; other sections, and what stands before the mark, stay."""
    words, _, before = page.read_text(encoding="utf-8").partition(MARK) if page.exists() else ("", "", "")
    sections = {**_sections(before), **_sections("\n".join(lines))}
    page.write_text(words + MARK + "\n\n" + "\n\n".join(sections.values()) + "\n", encoding="utf-8")
    print(f"wrote {page}")


def _sections(text: str) -> dict[str, str]:
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.strip() for part in parts}
