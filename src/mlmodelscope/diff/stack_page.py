"""One model in several stacks as one HTML page, and as JUnit for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from mlmodelscope.diff.difference_page import difference_sections
from mlmodelscope.diff.stacks import StackDifferences, StackRow, differing
from mlmodelscope.report.sheet import Section, write_sheet

HEAD = ("stack", "same answers", "same bits", "largest difference", "relative", "verdict", "first layer that differs")
_MOST_DETAILS = 10
"""Stacks whose layers are listed; each is a table as long as the model."""


def cells(row: StackRow) -> tuple[str, ...]:
    """A stack as the table shows it."""
    first = " ".join(filter(None, (row.first_layer, f"({row.kind})" if row.kind else None)))
    return (
        row.stack,
        f"{row.same_answers} of {row.samples}" if row.same_answers is not None else "",
        {None: "", True: "yes", False: "no"}[row.same_bits],
        f"{row.largest:.1e}" if row.largest is not None else "",
        f"{row.relative:.1e}" if row.relative is not None else "",
        row.judgment,
        first,
    )


def stacks_html(found: StackDifferences) -> str:
    about = "Each stack beside the first one, on the same input. The largest difference is that of the outputs."
    rows = [(*cells(row), row.runs, row.words) for row in found.rows]
    sections = [Section("Stacks", about, [], (*HEAD, "packages", "what was found"), rows, found.notes)]
    faulty = differing(found.rows)
    for row in faulty[:_MOST_DETAILS]:
        assert row.difference is not None
        sections += difference_sections(row.difference, row.stack)
    return write_sheet(f"{found.model} in several stacks", f"{_sentence(found)}.", sections)


def _sentence(found: StackDifferences) -> str:
    counts: dict[str, int] = {}
    for row in found.rows[1:]:
        counts[row.judgment] = counts.get(row.judgment, 0) + 1
    return ", ".join(f"{name}: {count}" for name, count in counts.items())


def stacks_junit(found: StackDifferences) -> str:
    """A test case for each stack but the first, which is the measure of the others."""
    suite = ElementTree.Element("testsuite", name="mlmodelscope diff --stacks")
    failures = errors = 0
    for row in found.rows[1:]:
        case = ElementTree.SubElement(suite, "testcase", classname=found.model, name=row.stack)
        if row.judgment == "fault":
            failures += 1
            ElementTree.SubElement(case, "failure", message=row.words)
        elif row.judgment in ("undecided", "no verdict"):
            errors += 1
            ElementTree.SubElement(case, "error", message=row.words)
    suite.set("tests", str(len(found.rows) - 1))
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
