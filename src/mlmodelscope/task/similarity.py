"""Similarity of texts: how alike two texts are.

The truth is `{"values": [number]}`, what people said of two texts; an answer is one number, such as the cosine of two
embeddings. Correlations do not depend on the scale of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.task import TASKS, Number, Option, Task
from mlmodelscope_worker.parameters import Numbers
from mlmodelscope_worker.registry import add

NAME = "text_similarity"


def _sentence(samples: int, numbers: Mapping[str, Number]) -> str:
    if "spearman" not in numbers:
        return ""
    return f"Spearman correlation {100 * numbers['spearman'].value:.2f} % on {values.samples_in_words(samples)}"


task = Task(
    NAME,
    "Similarity of texts",
    partial(RuledTally, NAME),
    headline=("spearman", "pearson", "kendall"),
    is_ruled=True,
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
    roles=values.ROLES,
    has_classes=False,
    columns=values.COLUMNS,
    values=values.values_of,
    plain=values.plain,
    shapes=values.shapes,
    compared=values.compared,
    has_residuals=False,
    quality="Quality is 1 less the distance of the answer, cut to 0..1, from the truth, brought there from `scale`.",
    sentence=_sentence,
)
add(TASKS.things, NAME, task, TASKS.code)

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
