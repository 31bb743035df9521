"""Pitfalls of texts: every edit is a plan of its own, and whoever fell into one finds the way back."""

import pytest

from mlmodelscope.manifest.catalog import find_dataset, find_model
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import PITFALLS, variants_of
from mlmodelscope.replicate.pitfall.explanation import explanation_of
from replicate.planned import AnyPins, names_of

OURS = {
    "text-case",
    "unicode-form",
    "text-accents",
    "truncation-length",
    "truncation-side",
    "padding-side",
    "padding-length",
    "special-tokens",
    "attention-mask",
    "pooling",
    "unit-length",
}
OF_OTHERS = {"tokenizer-file", "pair-order", "token-types", "subtoken-alignment", "tag-scheme", "span-rule"}
"""For models that this one is not: of one row for two texts, of several vocabularies, of tags and answers."""


@pytest.fixture
def plan() -> Plan:
    pytest.importorskip("tokenizers")
    model, dataset = find_model("all-minilm-l6-v2-int8"), find_dataset("stsb-en-test")
    return make_plan(model, dataset, Options(), describe_current(), AnyPins())


def test_a_text_has_pitfalls_of_its_own_and_none_of_pixels(plan: Plan) -> None:
    found = names_of(plan)
    assert found >= OURS and not found & OF_OTHERS
    assert not found & {"color-layout", "resizing", "normalization", "type-conversion", "label-offset"}


def test_every_pitfall_of_texts_has_a_page() -> None:
    assert all(name in PITFALLS and "How to check" in explanation_of(name) for name in OURS | OF_OTHERS)


def test_every_input_that_the_text_feeds_is_edited_alike(plan: Plan) -> None:
    for variant in variants_of(plan, ["truncation-length", "text-case", "padding-side", "special-tokens"]):
        assert len({each.steps[:-2] for each in map(_hashable, variant.plan.inputs)}) == 1


class _hashable:
    def __init__(self, given: object) -> None:
        self.steps = tuple(repr(each) for each in given.steps)  # type: ignore[attr-defined]


def test_whoever_fell_into_one_finds_the_way_back(plan: Plan) -> None:
    lost = [
        (each.pitfalls[0], each.words)
        for each in variants_of(plan, sorted(OURS))
        if plan.digest not in {back.key for back in variants_of(each.plan, each.pitfalls)}
    ]
    assert not lost
