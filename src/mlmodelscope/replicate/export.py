"""A replication for programs: JSON, JUnit for continuous integration, Markdown for a summary page."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import asdict
from typing import Any

from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.describe import describe_paired, describe_search, describe_verdict
from mlmodelscope.replicate.evidence import evidence_json
from mlmodelscope.replicate.replication import Replication


def to_json(done: Replication) -> dict[str, Any]:
    verdict = done.verdict
    body: dict[str, Any] = {
        "verdict": verdict.kind,
        "claim": {
            "metric": verdict.claim.metric,
            "value": verdict.claim.text,
            "dataset": verdict.claim.dataset,
            "source": verdict.claim.source,
        },
        "measured": {"value": verdict.measured.value, "low": verdict.measured.low, "high": verdict.measured.high},
        "samples": verdict.samples,
        "population": verdict.population,
        "accepted": {"low": verdict.low, "high": verdict.high},
        "better": verdict.is_better,
        "needed": verdict.needed,
        "record": done.record.id,
    }
    if verdict.paired is not None:
        body["claimants_answers"] = {
            **asdict(verdict.paired),
            "agreement": verdict.paired.agreement,
            "p_value": verdict.paired.p_value,
        }
    if done.found is not None:
        body["explained_by"] = [_candidate(each) for each in done.found.explained]
        body["compatible_with"] = [_candidate(each) for each in done.found.compatible]
        body["explains_most"] = _candidate(done.found.near) if done.found.near is not None else None
        body["candidates"] = [_candidate(each) for each in done.found.candidates]
        body["rounds"] = [{"samples": samples, "variants": variants} for samples, variants in done.found.rounds]
        body["separating_sample"] = asdict(done.found.separation) if done.found.separation else None
        body["cut_short"] = done.found.is_cut_short
        body["budget"] = done.found.budget
        body["evaluations"] = done.cost.calls / done.samples if done.cost else None
    if done.not_sought:
        body["not_sought"] = done.not_sought
    if done.evidence is not None:
        body["evidence"] = evidence_json(done.evidence)
    return body


def to_junit(done: Replication) -> str:
    """One test case: passed when reproduced, failed when not, skipped when undecided."""
    verdict = done.verdict
    suite = ElementTree.Element("testsuite", name="mlmodelscope replicate", tests="1")
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=done.record.plan.model.reference,
        name=f"{verdict.claim.metric} {verdict.claim.text} on {verdict.claim.dataset or done.record.plan.dataset.name}",
    )
    said = describe_verdict(verdict)
    if verdict.kind == "not reproduced":
        lines = [said, *describe_paired(verdict), *(describe_search(done.found, verdict) if done.found else ())]
        ElementTree.SubElement(case, "failure", message="not reproduced").text = "\n".join(lines)
    elif verdict.kind == "undecided":
        ElementTree.SubElement(case, "skipped", message=said)
    else:
        ElementTree.SubElement(case, "system-out").text = said
    suite.set("failures", str(int(verdict.kind == "not reproduced")))
    suite.set("skipped", str(int(verdict.kind == "undecided")))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def to_markdown(done: Replication) -> str:
    verdict = done.verdict
    sign = {"reproduced": "✅", "not reproduced": "❌", "undecided": "❔"}[verdict.kind]
    lines = [f"### {sign} {done.record.plan.model.reference}: {verdict.kind}", "", describe_verdict(verdict)]
    lines += describe_paired(verdict)
    if done.found is not None:
        lines += ["", *describe_search(done.found, verdict), "", "| pitfall | variant | expected | samples |"]
        lines.append("|---|---|---|---|")
        lines += [
            f"| {'+'.join(each.variant.pitfalls)} | {each.variant.words} | {100 * each.expected:.2f} % | {each.seen} |"
            for each in [each for each in done.found.candidates if each.closes > 0][:10]
        ]
    return "\n".join(lines) + "\n"


def _candidate(each: Candidate) -> dict[str, Any]:
    return {
        "pitfalls": list(each.variant.pitfalls),
        "words": each.variant.words,
        "plan": each.variant.key,
        "expected": each.expected,
        "deviation": each.deviation,
        "gained": each.gained,
        "lost": each.lost,
        "samples": each.seen,
        "explains": each.explains,
        "closes": each.closes,
        "separating": each.split.size if each.split is not None else None,
        "chance": each.chance,
        "agreement": each.agreement,
        "alike": [{"pitfalls": list(other.pitfalls), "words": other.words} for other in each.alike],
    }
