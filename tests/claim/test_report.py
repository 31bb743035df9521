"""The table of a batch, in every form, and its exit code."""

import json

import pytest

from claim.claim_world import check_of, claim_of
from mlmodelscope.claim.report import as_html, as_markdown, as_text, summary
from mlmodelscope.claim.result import Result, before, exit_code
from mlmodelscope.claim.selection import Job, LeftOut, Selection

HOSTILE = "<script>alert(1)</script> | **x** `y`\n# z"


def result(verdict=None, how="checked", **more):
    claim = claim_of(key="a")
    checks = (check_of("a", verdict=verdict, **more),) if verdict else ()
    return Result(Job("toy@1.0.0", "pictures", (claim,)), how, checks, "" if verdict else HOSTILE)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], 3),
        ([result("reproduced")], 0),
        ([result("reproduced"), result("better than claimed")], 4),
        ([result("reproduced"), result("undecided"), result("better than claimed")], 2),
        ([result("reproduced"), result("undecided"), result("not reproduced")], 1),
        ([result("reproduced"), result(how="failed")], 3),
        ([result("not reproduced"), result(how="failed")], 1),
        ([result("reproduced"), result(how="not finished")], 0),
        ([result(how="failed")], 3),
    ],
)
def test_the_exit_code_is_that_of_the_worst(results, code):
    assert exit_code(results) == code


def test_words_of_strangers_are_words_in_every_form():
    found = Selection((), (LeftOut(HOSTILE, 2, [HOSTILE]),), 3)
    results = [result("not reproduced", cause=HOSTILE, stack=HOSTILE), result(how="failed")]
    page, text = as_html(found, results), as_markdown(found, results)
    assert "<script>alert" not in page and "&lt;script&gt;" in page
    assert "<script" not in text and "**x**" not in text and "\n# z" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {8, 4}
    body = json.loads(as_text(found, results))
    assert [each["verdict"] for each in body["claims"]] == ["not reproduced", None]
    assert body["left_out"][0]["count"] == 2 and body["claims"][1]["message"] == HOSTILE


def test_a_summary_counts_claims():
    job = Job("toy@1.0.0", "pictures", (claim_of(key="a", check=check_of("a")), claim_of(key="b", check=check_of("b"))))
    found = Selection((job,), (LeftOut("far", 1_234),), 1_300, 7)
    said = summary(found, [before(job), result(how="failed")])
    assert said == "2 reproduced, 1 failed, 1,234 cannot be checked here, 7 beyond the limit"
    assert summary(Selection((), (), 0), []) == "no claim fits"


@pytest.mark.parametrize(
    ("facts", "measured", "said"),
    [
        ({}, 0.7512, "75.12 %"),
        ({"value": "75.125"}, 0.7512, "75.120 %"),
        ({"metric": "psnr", "value": "37.65", "symbol": "dB"}, 37.6512, "37.65 dB"),
        ({"metric": "ssim", "value": "0.9", "symbol": ""}, 0.91237, "0.9124"),
    ],
)
def test_a_measured_number_is_spelled_as_the_claim(facts, measured, said):
    claim = claim_of(**facts)
    assert claim.measured(check_of(metric=claim.metric, measured=measured)) == said
