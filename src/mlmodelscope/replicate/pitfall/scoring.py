"""How answers that are texts, scores and forecasts are compared with the truth: what papers leave open."""

from __future__ import annotations

from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import measured
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall

_TITLES = {"mr.": "mister", "mrs.": "missus", "dr.": "doctor", "st.": "saint"}
_LETTERS: dict[str, str] = {"keep": "a-z' "}
NORMALIZATIONS: dict[str, list[Any]] = {
    "lower case, without punctuation": ["lowercase", "remove_punctuation", "squeeze_spaces"],
    "lower case, titles spelled out, letters and apostrophes only": [
        "lowercase",
        {"expand": _TITLES},
        _LETTERS,
        "squeeze_spaces",
    ],
    "lower case, letters and apostrophes only": ["lowercase", _LETTERS, "squeeze_spaces"],
    "lower case": ["lowercase", "squeeze_spaces"],
    "without punctuation": ["remove_punctuation", "squeeze_spaces"],
    "lower case, without punctuation and accents": [
        "unicode_nfkc",
        "lowercase",
        "strip_accents",
        "remove_punctuation",
        "squeeze_spaces",
    ],
    "as they are": [],
}
"""What is done to both texts before words are compared, the most common first."""


@pitfall("text-normalization", "Normalization of texts that are compared", is_ranked=True)
def text_normalization(plan: Plan) -> Edits:
    """Capitals, punctuation and titles count as mistakes, or they do not: word error rates differ by more than models.

    Published rates are nearly always of texts in one form, and papers seldom say which.
    """
    if plan.task == "speech_recognition":
        for words, steps in NORMALIZATIONS.items():
            if steps != plan.measure.get("normalization"):
                yield f"texts compared {words}", measured(plan, normalization=steps)
    elif plan.task == "question_answering":
        other = "none" if plan.measure.get("normalization") == "squad" else "squad"
        yield (
            "by SQuAD's rule" if other == "squad" else "texts compared as they are",
            measured(plan, normalization=other),
        )
    elif plan.task in ("translation", "summarization"):
        lower = not plan.measure.get("lowercase")
        yield "capitals taken for small letters" if lower else "capitals count", measured(plan, lowercase=lower)
        stems = not plan.measure.get("stemming")
        yield "stems compared" if stems else "words compared, not stems", measured(plan, stemming=stems)


@pitfall("bleu-tokens", "Words of BLEU")
def bleu_tokens(plan: Plan) -> Edits:
    """BLEU counts what a tokenizer takes for words: sacrebleu's signature says which one, older numbers do not."""
    if plan.task in ("translation", "summarization"):
        for name in ("13a", "intl", "none", "char", "zh"):
            if name != plan.measure.get("tokenize"):
                yield f"words by `{name}`", measured(plan, tokenize=name)
        for name in ("exp", "none", "floor", "add-k"):
            if name != plan.measure.get("smoothing"):
                yield f"smoothing `{name}`", measured(plan, smoothing=name)


@pitfall("averaging", "What is averaged over")
def averaging(plan: Plan) -> Edits:
    """A mean of rates is not the rate of all: long utterances weigh more in the one, machines the same in the other."""
    words = {
        ("speech_recognition", "utterances"): "the mean of the utterances' rates",
        ("speech_recognition", "pooled"): "edits of all utterances by all words",
        ("anomaly_detection", "groups"): "the mean over groups",
        ("anomaly_detection", "pooled"): "all samples of all groups together",
        ("token_classification", "true"): "the mean over types that are in the truth",
        ("token_classification", "occurring"): "the mean over types that occur at all",
    }
    for (task, value), told in words.items():
        if plan.task == task and plan.measure.get("averaging") != value:
            yield told, measured(plan, averaging=value)


@pitfall("partial-auc", "Kind of partial AUC", weight=0.5)
def partial_auc(plan: Plan) -> Edits:
    """Partial AUC is the area up to some rate of false alarms, as it is or brought to the scale of a whole one."""
    if plan.task != "anomaly_detection":
        return
    standardized = not plan.measure.get("standardized")
    yield "standardized" if standardized else "area by its width", measured(plan, standardized=standardized)
    for rate in (0.05, 0.1, 0.2):
        if rate != plan.measure.get("max_fpr"):
            yield f"up to {100 * rate:g} % of false alarms", measured(plan, max_fpr=rate)


@pitfall("seasonality", "Season of a time series", weight=0.5)
def seasonality(plan: Plan) -> Edits:
    """MASE is set against a forecast that repeats the last season, so it depends on how long a season is."""
    if plan.task == "time_series_forecasting":
        for season in (1, 4, 7, 12, 24):
            if season != plan.measure.get("season"):
                yield f"a season of {season}", measured(plan, season=season)


@pitfall("candidate-ties", "Ties of candidates", weight=0.5)
def candidate_ties(plan: Plan) -> Edits:
    """Where candidates have one score, somebody must choose: a model that gives all the same can look perfect."""
    if plan.task == "recommendation":
        words = {"against": "ties count against the model", "in favor": "ties in its favor", "order": "ties in order"}
        for value, told in words.items():
            if value != plan.measure.get("ties"):
                yield told, measured(plan, ties=value)
        for count in (1, 5, 10, 20, 100):
            if count != plan.measure.get("k"):
                yield f"the first {count} looked at", measured(plan, k=count)


@pitfall("vector-comparison", "How vectors are compared", weight=0.5)
def vector_comparison(plan: Plan) -> Edits:
    """Vectors are compared by their angle, by their product, or by their distance."""
    if plan.task == "embedding":
        for name in ("cosine", "dot", "euclidean"):
            if name != plan.measure.get("similarity"):
                yield f"compared by {name}", measured(plan, similarity=name)
        other = "skip" if plan.measure.get("same_id") == "count" else "count"
        yield (
            "a query's own document left out" if other == "skip" else "a query's own document counts",
            measured(plan, same_id=other),
        )
