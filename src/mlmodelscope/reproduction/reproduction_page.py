"""The checks as one HTML page, and as JUnit for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from mlmodelscope.report.sheet import Section, write_sheet
from mlmodelscope.reproduction.result import Checked

_UNPRINTABLE = {code: "�" for code in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000))}


def reproduction_html(found: Checked) -> str:
    checks = Section(
        "Checks in their order",
        "What a check needs stands before it. A check that waits cannot be judged before another one passes.",
        (),
        ("check", "component", "verdict", "what was seen", "tolerance", "seed"),
        [
            (each.check, each.component, each.verdict, each.words, each.shown_tolerance, str(each.seed))
            for each in found.results
        ],
    )
    sections = [checks]
    layers = next((each.numbers.get("layers") for each in found.results if each.check == "fixed-weights"), None)
    if layers:
        rows = [(each["original"], each["mine"], f"{each['off']:.1e}", each["verdict"]) for each in layers]
        head = ("layer of the original", "layer here", "apart", "verdict")
        sections.append(Section("Layers with fixed weights", "Of the largest value of each layer.", (), head, rows))
    facts = [("original", found.original), ("framework", found.framework), ("manifest", f"sha256:{found.digest}")]
    title = f"{found.name} {found.version}, component by component"
    return write_sheet(title, f"{found.outcome}: {found.sentence}.", sections, facts)


def reproduction_junit(found: Checked) -> str:
    """A test case for each check; what waits, is skipped or undecided is a skipped one with its reason."""
    suite = ElementTree.Element("testsuite", name=f"mlmodelscope reproduce {found.name}")
    failures = skipped = 0
    for each in found.results:
        case = ElementTree.SubElement(
            suite, "testcase", classname=each.component, name=each.check, time=f"{each.wall_s:.3f}"
        )
        words = each.words.translate(_UNPRINTABLE)
        if each.verdict == "failed":
            failures += 1
            ElementTree.SubElement(case, "failure", message=words)
        elif each.verdict != "passed":
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=f"{each.verdict}: {words}")
    suite.set("tests", str(len(found.results)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
