"""How what is said about tokens becomes entities and answers, and which of them count."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import edited, found, measured, settled
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall

_WORDS = {
    "first": "the first token of a word speaks for it",
    "best": "the surest token of a word speaks for it",
    "mean": "the tokens of a word speak together",
    "apart": "each token speaks for itself",
}


@pitfall("subtoken-alignment", "Tokens of a word", parts=("text",))
def subtoken_alignment(plan: Plan) -> Edits:
    """A word of several tokens has one tag: that of its first token, or of all of them together."""
    for at, each in found(plan, "join_tags"):
        for words, told in _WORDS.items():
            if words != each.parameters["words"]:
                yield told, edited(plan, at, words=words)
        other = "blank" if each.parameters["parted_by"] == "punctuation" else "punctuation"
        yield f"words are parted by {other}", edited(plan, at, parted_by=other)


@pitfall("tag-scheme", "Scheme of tags", weight=0.5, parts=("text",))
def tag_scheme(plan: Plan) -> Edits:
    """Tags are read by another scheme, or entities that do not follow it are dropped where others keep them."""
    for at, each in found(plan, "join_tags"):
        other = "drop" if each.parameters["strays"] == "keep" else "keep"
        yield f"entities that do not follow the scheme: {other}", edited(plan, at, strays=other)
        for scheme in ("BIO", "IOB1", "BILOU", "BIOES"):
            if scheme != each.parameters["scheme"]:
                for changed in settled(plan, at, scheme=scheme):
                    yield f"tags read as {scheme}", changed


@pitfall("span-rule", "Spans that count", weight=0.5, parts=("text",))
def span_rule(plan: Plan) -> Edits:
    """Spans that do not fit the tokens count or do not, answers may be longer, and texts are compared as they are."""
    if plan.task == "token_classification":
        other = "count" if plan.measure.get("borders", "drop") == "drop" else "drop"
        yield f"spans that do not fit the tokens: {other}", measured(plan, borders=other)
    if plan.task == "question_answering":
        other = "none" if plan.measure.get("normalization", "squad") == "squad" else "squad"
        words = "texts compared as they are" if other == "none" else "texts compared as SQuAD does"
        yield words, measured(plan, normalization=other)
    for at, each in found(plan, "answer_span"):
        for longest in (15, 30, 50, 100):
            if longest != each.parameters["longest"]:
                yield f"answers of at most {longest} tokens", edited(plan, at, longest=longest)
