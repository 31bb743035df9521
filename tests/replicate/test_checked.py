"""What a replication says of published claims."""

import math

import pytest

from mlmodelscope import Settings
from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.checked import checks_of
from mlmodelscope.replicate.outcome import finding_of
from mlmodelscope.replicate.replication import Replication, replicate
from replicate.scenes import describe_seer, make_colours


@pytest.fixture
def done(tmp_path, settings: Settings) -> Replication:
    """A model that was told the colors the wrong way round, and two published numbers."""
    claims = [
        {"metric": "Top-1", "value": "100.0", "dataset": "colours"},
        {"metric": "top5", "value": "100.0", "dataset": "colours"},
    ]
    (tmp_path / "seer.yml").write_text(str({**describe_seer(tmp_path), "claims": claims}))
    return replicate(tmp_path / "seer.yml", make_colours(tmp_path), settings=settings)


def test_a_check_has_the_evidence(done):
    first, second = checks_of(finding_of(done), done.record, "seer@1.0.0", "somebody", "e1")
    assert (first.verdict, first.cause) == ("not reproduced", "color-layout (RGB instead of BGR)")
    assert (second.verdict, second.cause) == ("reproduced", "")
    assert first.metric == "top1" and first.measured == pytest.approx(4 / 12) and first.population == 12
    assert "onnxruntime" in first.stack and done.record.machine.hostname in first.machine
    assert (first.record, first.person, first.replication) == (done.record.id, "somebody", "e1")
    assert len({first.claim, second.claim}) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"measured": {"value": math.nan, "low": 0.0, "high": 1.0}},
        {"measured": {"value": 0.5, "low": -math.inf, "high": 1.0}},
        {"samples": 2**40},
        {"samples": -1},
        {"population": 10**30},
        {"is_check": False},
    ],
)
def test_numbers_that_are_none_are_not_kept(done, change):
    finding = finding_of(done)
    told = [each.model_dump() for each in finding.verdicts]
    told[0] |= change
    changed = type(finding).model_validate({**finding.model_dump(), "verdicts": told})
    (kept,) = checks_of(changed, done.record, "seer@1.0.0", "somebody")
    assert kept.metric == "top5"


def test_findings_of_older_agents_are_understood(done):
    finding = finding_of(done)
    told = finding.model_dump(mode="json")
    for each in told["verdicts"]:
        del each["is_check"], each["claim"]["conditions"]
    del told["claim"]["conditions"]
    older = type(finding).model_validate(told)
    assert len(checks_of(older, done.record, "seer@1.0.0", "somebody")) == 2


def test_a_number_that_nobody_published_is_no_check(done, settings, tmp_path):
    claim = Claim("top1", "33.3", "colours")
    other = replicate(tmp_path / "seer.yml", make_colours(tmp_path), claim=claim, explain=False, settings=settings)
    assert checks_of(finding_of(other), other.record, "seer@1.0.0", "somebody") == []
