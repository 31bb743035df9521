"""Numbers that are not shares of samples: decibels stay decibels, and no picture is right or wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

import seen_world
from browser import sticks_out
from mlmodelscope import Settings, evaluate, load_manifest
from mlmodelscope.cli.replicate import _show as show
from mlmodelscope.cli.sensitivity import _show as show_costs
from mlmodelscope.plan.claim import Claim, parse_claim
from mlmodelscope.replicate.evidence_text import Abilities, evidence_lines
from mlmodelscope.replicate.export import to_json, to_junit, to_markdown
from mlmodelscope.replicate.finding import Claimed
from mlmodelscope.replicate.outcome import finding_of
from mlmodelscope.replicate.plots import Axis, candidate_plot, verdict_plot
from mlmodelscope.replicate.replication import Replication, replicate
from mlmodelscope.replicate.replication_page import candidate_rows, render
from mlmodelscope.replicate.sensed import sensed_of
from mlmodelscope.replicate.sensitivity import measure
from mlmodelscope.types import Interval


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    place = tmp_path_factory.mktemp("decibels")
    return Settings(home=place / "home", cache=place / "cache")


@pytest.fixture(scope="module")
def done(kept: Settings) -> Replication:
    """PSNR of pictures whose range is taken for twice as large as it is, and what was published, 6.02 dB less."""
    place = kept.home.parent
    right = evaluate(*map(load_manifest, seen_world.write_enhancer(place / "right")), settings=kept)
    claim = parse_claim(f"psnr={right.metrics['psnr'].value:.4f}dB@patterns")
    model, data = map(load_manifest, seen_world.write_enhancer(place / "wrong", data_range=510))
    return replicate(model, data.model_copy(update={"size": 3}), claim=claim, settings=kept)


def test_a_terminal_shows_decibels(done: Replication) -> None:
    assert done.evidence is not None
    text = "\n".join(evidence_lines(done.evidence, Abilities()))
    assert text.startswith("Of 3 samples, 0 become better and 3 worse.")
    assert ".png: worse" in text and "PSNR " in text and " dB" in text
    assert not any(word in text for word in ("fixed", "broken", "wrong answer", "failed", "points"))


def test_those_that_are_only_listed_have_numbers_too(done: Replication) -> None:
    assert done.evidence is not None
    *_, head, row = evidence_lines(done.evidence, Abilities(), shown=2)
    assert head.split() == ["sample", "before", "after"]
    assert row.split()[2] == row.split()[4] == "dB" and row.endswith("worse")


def test_the_page_has_the_unit_of_the_claim(done: Replication, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "replication.html"
    path.write_text(render(done), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    claimed, measured, gap = page.locator(".trio dd").all_inner_texts()
    assert claimed.endswith("dB") and measured.endswith("dB") and gap.endswith("dB") and gap.startswith("+6.0206")
    heads = page.locator("table.candidates th[scope=col]").all_inner_texts()
    assert "Better" in heads and "Worse" in heads and "Fixed" not in heads
    card = page.locator(".exhibit").first
    assert card.locator(".tag").inner_text() == "worse" and card.get_by_text("PSNR").is_visible()
    text = page.locator("main").inner_text()
    assert "%" not in text.partition("Evidence")[0] and " points" not in text
    assert sticks_out(page) == []


def test_candidates_are_drawn_where_they_lie(done: Replication) -> None:
    """Decibels go beyond 1: the stripe of the claim must not be squeezed to an edge."""
    assert done.found is not None
    places = {row.words: row.plot for row in candidate_rows(done)}
    middle = float(places["a range of 255"].partition('<circle class="dot" cx="')[2].partition("%")[0])
    assert 5 < middle < 95


def test_programs_learn_the_unit(done: Replication) -> None:
    body = json.loads(json.dumps(to_json(done)))
    assert (body["claim"]["title"], body["claim"]["unit"]) == ("PSNR", "dB")
    assert body["evidence"]["graded"] and body["evidence"]["broken"] == 3
    number = body["evidence"]["flips"][0]["number"]
    assert number["before"] - number["after"] == pytest.approx(6.0206, abs=1e-4)
    finding = finding_of(done)
    assert finding.claim.unit == "dB" and finding.evidence is not None and finding.evidence.graded
    assert f'name="psnr {finding.claim.value} dB on patterns"' in to_junit(done)
    assert "%" not in to_markdown(done) and "points" not in to_markdown(done)


def test_the_verb_counts_better_and_worse(done: Replication, capsys: pytest.CaptureFixture[str]) -> None:
    show(finding_of(done), ())
    told = capsys.readouterr().out
    assert "better" in told and "worse" in told and "fixed" not in told
    assert f"{done.verdict.claim.text} dB" in told


@pytest.mark.parametrize(
    ("claim", "unit", "apart"),
    [
        (Claim("psnr", "37.65", factor=1.0), "dB", "0.12 dB"),
        (Claim("ssim", "0.9308", factor=1.0), "number", "0.1200"),
        (Claim("miou", "75.1"), "share", "12.00 points"),
        (Claim("miou", "0.751", factor=1.0), "number", "0.1200"),  # a share that was published as a bare number
    ],
)
def test_what_a_claim_is_written_in(claim: Claim, unit: str, apart: str) -> None:
    assert claim.unit.name == unit and claim.apart(0.12) == apart
    drawn = verdict_plot(claim, claim.low, claim.high, Interval(claim.value, claim.low, claim.high))
    assert f"claimed {claim.published}" in drawn
    axis = Axis((claim.low, claim.high), claim)
    assert claim.spelled(claim.value) in candidate_plot(axis, (claim.low, claim.high), claim.low, claim.value, 0.0)


def test_a_finding_of_an_older_version_gets_the_unit_of_its_metric() -> None:
    assert Claimed.model_validate({"metric": "psnr", "value": "37.65"}).unit == "dB"
    assert Claimed.model_validate({"metric": "miou", "value": "75.1"}).unit == "share"
    strange = Claimed.model_validate({"metric": "elsewhere", "value": "3"})
    assert (strange.title, strange.unit) == ("elsewhere", "number")


def test_each_number_of_a_sensitivity_has_its_own_unit(
    done: Replication, kept: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    sensed = sensed_of(done.record, measure(done.record, kept, ["border"]))
    assert sensed.units == {"psnr": "dB", "ssim": "number"} and sensed.better == "higher"
    show_costs(sensed)
    first = capsys.readouterr().out.partition("\n")[0]
    assert " dB, SSIM 0." in first and first.count("dB") == 1
