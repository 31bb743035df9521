"""How vectors of tokens become one, and how two are compared."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import answer_step, edited, found, inserted, without
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall

_POOLED = {
    "mean": "the mean of the real tokens",
    "first": "the vector of the first token",
    "last": "the vector of the last token",
    "max": "the maximum over the real tokens",
    "mean_all": "the mean of all tokens, padding included",
}


@pitfall("pooling", "Pooling of tokens", parts=("text",))
def pooling(plan: Plan) -> Edits:
    """The vector of a text is the mean of its tokens' vectors, or that of one of them; models are trained for one."""
    for at, each in found(plan, "pool"):
        for method, words in _POOLED.items():
            if method != each.parameters["method"]:
                yield words, edited(plan, at, method=method)


@pitfall("unit-length", "Length of vectors")
def unit_length(plan: Plan) -> Edits:
    """Vectors are compared by their product though they are not of length 1, or by another measure."""
    for at, _ in found(plan, "unit_length"):
        yield "vectors of any length", without(plan, at)
        for place, each in found(plan, "similarity"):
            if each.parameters["measure"] == "cosine":
                yield "products of vectors of any length", without(edited(plan, place, measure="dot"), at)
    has_unit = any(found(plan, "unit_length"))
    for place, each in found(plan, "similarity"):
        if not has_unit:
            cosine = edited(plan, place, measure="cosine")
            yield "vectors of length 1", inserted(plan, place, answer_step("unit_length"))
            yield "cosines of vectors of length 1", inserted(cosine, place, answer_step("unit_length"))
        for measure in ("cosine", "dot", "euclidean", "manhattan"):
            if measure != each.parameters["measure"]:
                yield f"compared by {measure}", edited(plan, place, measure=measure)
