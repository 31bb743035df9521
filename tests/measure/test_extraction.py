"""Which part of a written answer counts is declared, and done in the order in which it is written."""

import re
from typing import Any

import pytest

from mlmodelscope.errors import LimitError
from mlmodelscope.measure.extraction import STEPS, Extraction, extracted, number_in
from mlmodelscope_worker.parameters import ParameterError

KIND = Extraction("Which part counts.")
ANSWER = "Let me see.\n\nShe has 3 eggs, and 1,250.50 dollars.\nThe answer is (B), \\boxed{x^{2}}.\n#### 18\n"


def after(text: str, *steps: Any) -> str | LimitError:
    (found,) = extracted([text], KIND.check(list(steps)))
    return found


@pytest.mark.parametrize(
    ("step", "due"),
    [
        ("strip", ANSWER.strip()),
        ("first_line", "Let me see."),
        ("last_line", "#### 18"),
        ("first_number", "3"),
        ("last_number", "18"),
        ("letter", "B"),
        ("boxed", "x^{2}"),
        ("remove_digits", re.sub(r"\d", "", ANSWER)),
        ("lowercase", ANSWER.lower()),
        ({"before": "\n"}, "Let me see."),
        ({"after": "answer is "}, "(B), \\boxed{x^{2}}.\n#### 18\n"),
        ({"regex": r"#### (\-?[0-9\.\,]+)"}, "18"),
        ({"regex": {"pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)", "take": -1}}, "18"),
        ({"regex": {"pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)", "take": 1}}, "1,250.50"),
        ({"regex": {"pattern": "never", "fallback": "[invalid]"}}, "[invalid]"),
        ({"regex": {"pattern": r"\d+", "take": 40, "fallback": "few"}}, "few"),
        ({"remove": r"(?s).*#### "}, "18\n"),
    ],
)
def test_a_step_takes_its_part(step: Any, due: str) -> None:
    assert after(ANSWER, step) == due


def test_steps_are_done_in_the_order_written() -> None:
    assert after("A 12\nB 7", "first_line", "last_number") == "12"
    assert after("A 12\nB 7", "last_number", "first_line") == "7"
    assert after("1,234", {"remove": ","}, "first_number") == "1234"


@pytest.mark.parametrize("step", [each for each in STEPS if each not in ("before", "after", "regex", "remove")])
def test_nothing_is_left_of_an_empty_text(step: Any) -> None:
    if step in ("expand", "keep"):
        step = {step: {"mr": "mister"} if step == "expand" else "a-z"}
    assert after("", step) == ""


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("last_word", "is not a step that takes a part"),
        ({"regex": "("}, "is not a regular expression"),
        ({"regex": {"pattern": "a", "take": "last"}}, "`take` is which match"),
        ({"regex": {"pattern": "a", "group": 1}}, "`regex` has no `group`"),
        ({"remove": ""}, "needs a text"),
        ({"before": 5}, "needs a text"),
        ({"before": "x" * 1001}, "up to 1000 characters"),
        ({"keep": "z-a"}, "ends before it begins"),
        ([["strip"]], "is not a step"),
    ],
)
def test_what_is_no_step_is_refused(step: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(reason)):
        KIND.check([step] if not isinstance(step, list) else step)


def test_too_many_steps_are_refused() -> None:
    with pytest.raises(ParameterError, match="up to 32 steps"):
        KIND.check(["strip"] * 33)


@pytest.mark.slow(reason="it is stopped by processor time, which takes a second, twice")
def test_an_expression_without_an_end_costs_its_own_text_only() -> None:
    """Every other text of the same question is read."""
    steps = KIND.check([{"regex": "(x+x+)+y"}])
    found = extracted(["xxy", "x" * 60, "axxxy"], steps)
    assert [isinstance(each, LimitError) for each in found] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("18", 18.0),
        (" $1,250.50. ", 1250.5),
        ("-3", -3.0),
        ("45%", 45.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("9" * 400, None),
    ]
    + [(each, None) for each in ("", "x", "nan", "inf", "-inf", "1 2", "$", "１２x")],
)
def test_a_text_is_a_number_or_it_is_none(text: str, due: float | None) -> None:
    assert number_in(text) == due


def test_what_the_schema_allows_is_what_is_taken() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for steps in (["strip", {"keep": "a-z"}, {"regex": {"pattern": "a", "take": -1}}, {"remove": "b"}], []):
        jsonschema.validate(KIND.check(steps), KIND.schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{"regex": {"group": 1}}], KIND.schema())
