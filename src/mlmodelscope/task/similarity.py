"""Similarity of texts: how alike two texts are.

The truth is `{"values": [number]}`, what people said of two texts; an answer is one number, such as the cosine of two
embeddings. Correlations do not depend on the scale of either.
"""

from __future__ import annotations

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.number_task import number_task, percentage
from mlmodelscope.task.ruled import RuledMeasure
from mlmodelscope.task.task import Option
from mlmodelscope_worker.parameters import Numbers
from mlmodelscope_worker.registry import add

NAME = "text_similarity"


task = number_task(
    NAME,
    "Similarity of texts",
    headline=("spearman", "pearson", "kendall"),
    options={
        "scale": Option(
            Numbers(
                "The least and the greatest similarity that people could choose. It sorts samples by quality; no "
                "correlation depends on it.",
                least=2,
                most=2,
            ),
            [0.0, 5.0],
        )
    },
    compared=values.compared,
    has_residuals=False,
    quality="Quality is 1 less the distance of the answer, cut to 0..1, from the truth, brought there from `scale`.",
    sentence=percentage("spearman", "Spearman correlation"),
)

_MEASURES = {
    "spearman": (
        "Spearman correlation",
        "Rank correlation of answers and truth; equal values have the mean of their ranks.",
        ("spearmanr", "spearman-correlation", "cosine-spearman"),
    ),
    "pearson": ("Pearson correlation", "Linear correlation of answers and truth.", ("pearsonr", "pearson-correlation")),
    "kendall": (
        "Kendall's tau-b",
        "Pairs of samples in the same order less those in the other, as a share of the pairs that are not tied.",
        ("kendalltau", "kendall-tau", "tau-b"),
    ),
}
for _name, (_title, _about, _aliases) in _MEASURES.items():
    _measure = RuledMeasure(_name, _title, (NAME,), bounds=(-1.0, 1.0), aliases=_aliases, about=_about, is_stable=False)
    add(MEASURES.things, _name, _measure, MEASURES.code)
