"""A batch of checks as a table: for a terminal, for programs, as a page and as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mlmodelscope.claim.listing import Published
from mlmodelscope.claim.result import Result
from mlmodelscope.claim.selection import Selection
from mlmodelscope.replicate.kind import WORST_FIRST

HEAD = ("model", "claim", "on", "verdict", "measured", "because of", "stack")
_LEFT_OUT = ("claims", "not checked because", "such as")
_ABOUT = "A claim is held against its own dataset, by the rules of `mlmodelscope replicate`."


def rows_of(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A line for each claim; one without a verdict says why."""
    rows: list[tuple[str, ...]] = []
    for each in results:
        found = {check.claim: check for check in each.checks}
        for claim in each.job.claims:
            check = found.get(claim.key)
            if check is None:
                rows.append((claim.model, claim.claim, claim.dataset, each.how, "", each.message, ""))
            else:
                facts = check.verdict, claim.measured(check), check.cause, check.stack
                rows.append((claim.model, claim.claim, claim.dataset, *facts))
    return rows


def summary(selection: Selection, results: Sequence[Result]) -> str:
    """`2 reproduced, 1 not reproduced; 1 failed; 3,100 cannot be checked here`."""
    verdicts = Counter(check.verdict for each in results for check in each.checks)
    parts = [f"{verdicts[kind]} {kind}" for kind in reversed(WORST_FIRST) if verdicts[kind]]
    others = Counter(each.how for each in results for claim in each.job.claims if not each.checks)
    parts += [f"{count} {how}" for how, count in sorted(others.items())]
    left = sum(each.count for each in selection.left_out)
    parts += [f"{left:,} cannot be checked here"] if left else []
    parts += [f"{selection.beyond:,} beyond the limit"] if selection.beyond else []
    return ", ".join(parts) or "no claim fits"


def left_out_rows(selection: Selection) -> list[tuple[str, ...]]:
    return [(f"{each.count:,}", each.reason, ", ".join(each.examples)) for each in selection.left_out]


def as_json(selection: Selection, results: Sequence[Result]) -> dict[str, Any]:
    return {
        "claims": [_claim(claim, each) for each in results for claim in each.job.claims],
        "left_out": [asdict(each) for each in selection.left_out],
        "total": selection.total,
        "beyond_the_limit": selection.beyond,
    }


def as_text(selection: Selection, results: Sequence[Result]) -> str:
    return json.dumps(as_json(selection, results), indent=2, default=str) + "\n"


def _claim(claim: Published, result: Result) -> dict[str, Any]:
    check = next((each for each in result.checks if each.claim == claim.key), None)
    facts = {name: getattr(claim, name) for name in ("model", "metric", "value", "dataset", "conditions", "key")}
    facts |= {"unit": claim.symbol, "how": result.how, "verdict": check.verdict if check else None}
    return {**facts, "check": asdict(check) if check else None, "message": result.message}


def as_html(selection: Selection, results: Sequence[Result]) -> str:
    from mlmodelscope.report.sheet import Section, write_sheet

    sections = [Section("Checked", _ABOUT, head=HEAD, rows=rows_of(results))]
    if selection.left_out:
        sections.append(Section("Cannot be checked", head=_LEFT_OUT, rows=left_out_rows(selection)))
    return write_sheet("Published numbers, checked", f"{summary(selection, results)}.", sections)


def as_markdown(selection: Selection, results: Sequence[Result]) -> str:
    lines = ["## Published numbers, checked", "", f"{summary(selection, results)}.", ""]
    lines += _table(HEAD, rows_of(results))
    if selection.left_out:
        lines += ["", "### Cannot be checked", "", *_table(_LEFT_OUT, left_out_rows(selection))]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows),
    ]


def _cell(text: str) -> str:
    """Words of strangers in one cell, without markup of their own."""
    line = " ".join(text.split())
    for sign in "\\|`*_[]<>":
        line = line.replace(sign, f"&#{ord(sign)};")
    return line
