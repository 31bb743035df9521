"""Findings for programs: SARIF, and GitHub's annotations."""

import json
import re
from pathlib import Path

import pytest

from mlmodelscope.lint.annotation import annotation
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.fix import apply_edits
from mlmodelscope.lint.rule import all_rules
from mlmodelscope.lint.sarif import file_uri, sarif_log

from .samples import SAMPLES, V1B


def test_the_log_has_what_sarif_asks_for() -> None:
    findings = [found for text in SAMPLES.values() for found in check_text(text, "dir/a file.yml")[1]]
    log = json.loads(json.dumps(sarif_log(findings, all_rules())))
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "mlmodelscope" and re.fullmatch(r"\d+\.\d+\.\d+.*", driver["semanticVersion"])
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"]) == len(all_rules())
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    assert len(run["results"]) == len(findings) > 50
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "dir/a%20file.yml"
        assert place["region"]["startLine"] >= 1 and place["region"]["startColumn"] >= 1


def test_a_fix_in_the_log_is_the_fix() -> None:
    findings = [found for found in check_text(V1B, "a.yml")[1] if found.fix]
    for found, result in zip(findings, sarif_log(findings, all_rules())["runs"][0]["results"], strict=True):
        text = V1B
        replacements = result["fixes"][0]["artifactChanges"][0]["replacements"]
        for each in sorted(replacements, key=lambda each: -each["deletedRegion"]["charOffset"]):
            start = each["deletedRegion"]["charOffset"]
            end = start + each["deletedRegion"]["charLength"]
            text = text[:start] + each["insertedContent"]["text"] + text[end:]
        assert text == apply_edits(V1B, found.fix) != V1B


def test_a_log_has_only_what_the_standard_names() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = Path(__file__).parent / "sarif-2.1.0-required.json"
    log = sarif_log([found for text in SAMPLES.values() for found in check_text(text, "a.yml")[1]], all_rules())
    jsonschema.validate(json.loads(json.dumps(log)), json.loads(schema.read_text()))


def test_addresses_in_the_log_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert file_uri(str(tmp_path / "x" / "ü.yml")) == "x/%C3%BC.yml"
    assert file_uri("<stdin>") == "stdin"


def test_an_annotation_escapes_what_github_would_read() -> None:
    found = Finding("50 % of\nit: a, b", "a,b:c.yml", 3, 7, code="M012", severity="warning", hint="x")
    text = annotation(found)
    assert text == "::warning file=a%2Cb%3Ac.yml,line=3,col=7,title=M012::50 %25 of%0Ait: a, b (hint: x)"
    assert annotation(Finding("x", "a.yml", code="M000", severity="error")) == "::error file=a.yml,title=M000::x"
    assert annotation(Finding("x", "a.yml", 1, 1, code="M110", severity="info")).startswith("::notice ")
