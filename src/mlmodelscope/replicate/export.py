"""A replication for programs: JSON, JUnit for continuous integration, Markdown for a summary page."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import asdict
from typing import Any

from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.describe import (
    describe_claims,
    describe_inside,
    describe_paired,
    describe_search,
    describe_verdict,
)
from mlmodelscope.replicate.evidence import evidence_json
from mlmodelscope.replicate.inside import inside_json
from mlmodelscope.replicate.replication import Replication
from mlmodelscope.replicate.verdict import Verdict


def to_json(done: Replication) -> dict[str, Any]:
    """The worst verdict and what belongs to it, and the verdict on every claim."""
    verdict = done.verdict
    worst = _judged(verdict)
    body: dict[str, Any] = {
        **{key: worst[key] for key in ("verdict", "claim", "measured", "samples", "population", "accepted", "needed")},
        "better": verdict.kind == "better than claimed",
        "record": done.record.id,
        "verdicts": [_judged(each) for each in done.verdicts],
        "unchecked": list(done.unchecked),
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
    if done.inside is not None:
        body["inside"] = inside_json(done.inside, " ".join(map(str.strip, describe_inside(done.inside, verdict))))
    if done.evidence is not None:
        body["evidence"] = evidence_json(done.evidence)
    return body


def _judged(verdict: Verdict) -> dict[str, Any]:
    claim, measured, tied = verdict.claim, verdict.measured, verdict.tied
    ties = None
    if tied is not None:
        ends = {"against": tied.against.value, "favor": tied.favor.value}
        ties = {"samples": tied.samples, **ends, "decides": tied.decides}
    return {
        "verdict": verdict.kind,
        "claim": _claim(claim),
        "measured": {"value": measured.value, "low": measured.low, "high": measured.high},
        "samples": verdict.samples,
        "population": verdict.population,
        "accepted": {"low": verdict.low, "high": verdict.high},
        "needed": verdict.needed,
        "samples_apart": verdict.samples_apart if verdict.is_whole else None,
        "ties": ties,
        "text": describe_verdict(verdict),
        "is_check": verdict.is_of_claim,
    }


def _claim(claim: Claim) -> dict[str, Any]:
    facts = {"metric": claim.metric, "title": claim.measure.title, "value": claim.text, "unit": claim.unit.name}
    return {**facts, "dataset": claim.dataset, "source": claim.source, "conditions": claim.conditions}


def to_junit(done: Replication) -> str:
    """A test case for each claim: passed when reproduced, failed when better or worse, skipped when undecided."""
    suite = ElementTree.Element("testsuite", name="mlmodelscope replicate")
    plan = done.record.plan
    for verdict in done.verdicts:
        claim, said = verdict.claim, describe_verdict(verdict)
        name = f"{claim.metric} {claim.published} on {claim.dataset or plan.dataset.name}"
        case = ElementTree.SubElement(suite, "testcase", classname=plan.model.reference, name=name)
        if verdict.kind in ("not reproduced", "better than claimed"):
            is_explained = verdict is done.verdict and done.found is not None
            found = describe_search(done.found, verdict) if is_explained and done.found is not None else ()
            lines = [said, *describe_paired(verdict), *found]
            if verdict is done.verdict and done.inside is not None:
                lines += describe_inside(done.inside, verdict)
            ElementTree.SubElement(case, "failure", message=verdict.kind).text = "\n".join(lines)
        elif verdict.kind == "undecided":
            ElementTree.SubElement(case, "skipped", message=said)
        else:
            ElementTree.SubElement(case, "system-out").text = said
    for line in done.unchecked:
        name, _, reason = line.partition(": ")
        case = ElementTree.SubElement(suite, "testcase", classname=plan.model.reference, name=name)
        ElementTree.SubElement(case, "skipped", message=f"not checked: {reason}")
    for counted, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(counted, str(sum(1 for _ in suite.iter(tag))))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


_SIGNS = {"reproduced": "✅", "better than claimed": "⚠️", "not reproduced": "❌", "undecided": "❔"}


def to_markdown(done: Replication) -> str:
    verdict = done.verdict
    sign, spelled = _SIGNS[verdict.kind], verdict.claim.spelled
    lines = [f"### {sign} {done.record.plan.model.reference}: {verdict.kind}", "", describe_verdict(verdict)]
    lines += describe_paired(verdict)
    others = list(describe_claims(done.others, done.unchecked))
    lines += ["", *(f"- {each}" for each in others)] if others else []
    if done.inside is not None:
        lines += ["", *describe_inside(done.inside, verdict)]
    if done.found is not None:
        lines += ["", *describe_search(done.found, verdict), "", "| pitfall | variant | expected | samples |"]
        lines.append("|---|---|---|---|")
        lines += [
            f"| {'+'.join(each.variant.pitfalls)} | {each.variant.words} | {spelled(each.expected)} | {each.seen} |"
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
