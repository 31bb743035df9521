"""A replication as a page: everything is on it, nothing runs, and it fits every screen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browser import sticks_out
from mlmodelscope import Settings
from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.edits import edits_of
from mlmodelscope.replicate.evidence import Evidence
from mlmodelscope.replicate.pitfall import variants_of
from mlmodelscope.replicate.replication import Replication
from mlmodelscope.replicate.replication_page import command, render
from replicate.scenes import replicated


@pytest.fixture
def evidence(done: Replication) -> Evidence:
    assert done.evidence is not None
    return done.evidence


def test_the_page_says_all_of_it(done: Replication, evidence: Evidence) -> None:
    page = render(done)
    assert "Not reproduced" in page and "33.33" in page and "100.0" in page
    assert "Colour layout" in page and "RGB instead of BGR" in page and "https://arxiv.org/abs/1811.09737" in page
    assert "decode: {color_layout: BGR}" in page and "decode: {color_layout: RGB}" in page
    assert page.count("data:image/png;base64,") == 3 * len(evidence.shown) and "Difference" in page
    assert "samples with another answer" in page
    assert "mlmodelscope replicate seer@1.0.0 colours@1.0.0 --claim top1=100.0@colours" in page


def test_a_claim_that_holds_has_a_short_page(tmp_path: Path, settings: Settings) -> None:
    done = replicated(tmp_path, settings, "33.33")
    page = render(done)
    assert done.verdict.kind == "reproduced" and "Reproduced" in page
    assert 'id="cause"' not in page and 'id="evidence"' not in page and 'id="candidates"' not in page


def test_further_claims_are_on_the_page_with_their_verdicts(done: Replication) -> None:
    other = replace(done.verdict, kind="better than claimed", claim=Claim("top5", "12.0", "colours"))
    page = render(replace(done, verdicts=(other, done.verdict), unchecked=("mood 5 on colours: nobody can tell",)))
    assert '<h2 id="verdict-title">Not reproduced</h2>' in page
    assert "better than claimed: top-5 12.0 % is claimed on colours" in page
    assert "not checked: mood 5 on colours: nobody can tell." in page
    assert "--claim" not in page  # the manifest has them all


def test_a_search_that_found_nothing_shows_what_was_tried(tmp_path: Path, settings: Settings) -> None:
    page = render(replicated(tmp_path, settings, "78.3"))
    assert 'id="candidates"' in page and "explains it" not in page


def test_words_of_others_are_shown_and_never_obeyed(done: Replication, evidence: Evidence) -> None:
    bad = "<script>alert(1)</script>"
    flip = replace(evidence.flips[0], label=bad, sample=f'"{bad}')
    shown = replace(evidence, flips=(flip, *evidence.flips[1:]), without_pictures=bad)
    page = render(replace(done, evidence=shown))
    assert "<script" not in page and page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 3
    assert "default-src 'none'" in page


def test_the_command_names_what_is_not_the_default(done: Replication) -> None:
    verdict = replace(done.verdict, low=done.verdict.claim.value - 0.02)
    assert command(replace(done, verdicts=(verdict,))).endswith("--claim top1=100.0@colours --within 2")


def test_an_edit_is_told_by_what_it_changes(done: Replication) -> None:
    told = {
        each.pitfalls[0]: list(edits_of(done.record.plan, each))
        for each in variants_of(done.record.plan, ["color-layout", "label-offset", "data-layout"])
    }
    assert told["color-layout"] == [
        ("\N{MINUS SIGN}", "decode: {color_layout: BGR}"),
        ("+", "decode: {color_layout: RGB}"),
    ]
    assert told["label-offset"] == [("\N{MINUS SIGN}", "answer: {label_offset: 0}"), ("+", "answer: {label_offset: 1}")]
    assert told["data-layout"] == [
        ("\N{MINUS SIGN}", "layout: {data_layout: CHW}"),
        ("+", "reinterpret: {data_layout: CHW}"),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_every_screen_and_stays_at_home(
    done: Replication, evidence: Evidence, browser: Any, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "replication.html"
    path.write_text(render(done), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert sticks_out(page) == []
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    assert complaints == []
    assert page.locator(".shots img").first.evaluate("image => image.naturalWidth") == 8
