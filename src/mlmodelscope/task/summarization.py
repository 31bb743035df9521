"""Summarization: a long text in a few sentences.

The truth is one or several reference summaries, an answer is a text. ROUGE is the mean over texts, each by its nearest
reference; BLEU, chrF, chrF++ and TER are sacrebleu's, as for translations.
"""

from __future__ import annotations

from functools import partial

from mlmodelscope.task.detection import sentence_of
from mlmodelscope.task.ruled import RuledTally
from mlmodelscope.task.task import TASKS, Task
from mlmodelscope.task.texts import TEXT_COLUMNS, text_answer, text_shapes, text_values
from mlmodelscope.task.translation import OPTIONS, PACKAGES, ROLES
from mlmodelscope_worker.registry import add

NAME = "summarization"
task = Task(
    NAME,
    "Summarization",
    partial(RuledTally, NAME, packages=PACKAGES),
    headline=("rouge-1", "rouge-2", "rouge-l"),
    options=OPTIONS,
    is_ruled=True,
    has_classes=False,
    roles=ROLES,
    columns=TEXT_COLUMNS,
    values=text_values,
    plain=text_answer,
    shapes=text_shapes,
    quality="Quality is the ROUGE-L of a text by itself.",
    sentence=sentence_of("rouge-1", "rouge-l"),
)
add(TASKS.things, NAME, task, TASKS.code)
