"""Steps that are done to texts before they are compared."""

from typing import Any

import pytest

from mlmodelscope.measure.normalization import PLAIN, STEPS, Normalization, normalized
from mlmodelscope_worker.parameters import ParameterError

KIND = Normalization("Steps.")


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("lowercase", "Mr. ÄRGER", "mr. ärger"),
        ("unicode_nfc", "e\u0301", "é"),
        ("unicode_nfkc", "ﬁve ½", "five 1⁄2"),
        ("strip_accents", "Crème brûlée", "Creme brulee"),
        ("remove_punctuation", "it's 5 € – “so”, he said.", "its 5 €  so he said"),
        ("squeeze_spaces", "  a \t b\n", "a b"),
        ({"expand": {"mr.": "mister", "mr": "m"}}, "mr. mrs mr (mr.)", "mister mrs m (mister)"),
        ({"keep": "a-z' "}, "it's 5 o'clock.", "it's   o'clock "),
        ({"keep": "^a-"}, "^a-b]", "^a-  "),
    ],
)
def test_each_step_does_what_it_says(step: Any, before: str, after: str) -> None:
    assert normalized(before, KIND.check([step])) == after


def test_every_step_is_tried_above() -> None:
    assert set(STEPS) == {*PLAIN, "expand", "keep"} and len(STEPS) == 8


def test_steps_are_done_in_the_order_in_which_they_stand() -> None:
    late, early = ["lowercase", {"keep": "a-z"}], [{"keep": "a-z"}, "lowercase"]
    assert (normalized("Ab", late), normalized("Ab", early)) == ("ab", " b")


@pytest.mark.parametrize(
    "steps",
    [
        ["lower_case"],
        [{"keep": ""}],
        [{"keep": "z-a"}],
        [{"keep": 5}],
        [{"expand": {}}],
        [{"expand": {"": "x"}}],
        [{"expand": {"a": 5}}],
        [{"expand": {"a": "b" * 201}}],
        [{"keep": "a", "expand": {"a": "b"}}],
        [7],
        ["lowercase"] * 33,
        None,
    ],
)
def test_steps_that_are_none_are_refused(steps: Any) -> None:
    with pytest.raises(ParameterError):
        KIND.check(steps)


def test_an_unknown_step_names_those_that_there_are() -> None:
    with pytest.raises(ParameterError) as caught:
        KIND.check(["lower"])
    assert caught.value.known == STEPS
