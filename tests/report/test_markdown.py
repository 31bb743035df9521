"""Markdown that can be pasted into an issue."""

from collections.abc import Callable

from mlmodelscope import Record
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.record.record import Failure
from mlmodelscope.report.markdown import _code

Report = Callable[[Record, str], str]


def test_the_numbers_are_tables(evaluated: Record, report: Report) -> None:
    text = report(evaluated, "md")
    assert text.startswith("## toy@1.0.0 on pictures@1.0.0\n")
    assert "| top-1 |" in text and "| 75.1\N{NO-BREAK SPACE}% |" in text and "| median (p50) |" in text
    assert "mlmodelscope evaluate toy@1.0.0 pictures@1.0.0 --batch-size 4 --again" in text
    assert "![" not in text and "<img" not in text


def test_tables_keep_their_columns_whatever_is_in_them(make_record: Callable, keep: Callable, report: Report) -> None:
    nasty = "a | b\n`<script>`"
    found = {
        "metrics": {},
        "details": {
            "per_class": [{"class": 0, "right": 1, "seen": 20}],
            "confusion": [{"label": 0, "answer": 1, "count": 2}],
        },
        "refused": {"top1": "because | of\nthat", "top5": "x"},
    }
    record = make_record(class_names=(nasty, nasty), **found, failed=1, failures=(Failure(sample=nasty, reason=nasty),))
    lines = report(keep(record), "md").splitlines()
    for index, line in enumerate(lines):
        if line.startswith("| ") and lines[index - 1].startswith("| "):
            assert line.replace(r"\|", "").count("|") == lines[index - 1].replace(r"\|", "").count("|")
    assert "failed sample" in "\n".join(lines)


def test_somebody_elses_words_are_code() -> None:
    assert _code("a@b <b>") == "`a@b <b>`"
    assert _code("`ticks` ``two``") == "``` `ticks` ``two`` ```"
    assert _code("two\nlines") == "`two lines`"
    assert _code("") == "`–`"


def test_notes_and_unmeasured_claims_are_said(make_record: Callable, keep: Callable, report: Report) -> None:
    claims = [Claim(metric="f1", value="3")]
    text = report(keep(make_record(claims=claims, notes=("look <here>",))), "md")
    assert "> **Note:** look &lt;here&gt;" in text and "it is not measured here" in text
