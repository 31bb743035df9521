"""What models do and what labels are for, in one word each."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from mlmodelscope.plugins.installed import PREFIX, plugins_in

_OURS = (
    "classification",
    "multilabel_classification",
    "object_detection",
    "semantic_segmentation",
    "instance_segmentation",
    "image_enhancement",
    "image_generation",
    "keypoint_detection",
    "depth_estimation",
    "regression",
    "tabular_regression",
    "time_series_forecasting",
    "text_similarity",
    "anomaly_detection",
    "recommendation",
    "embedding",
    "text_classification",
    "token_classification",
    "question_answering",
    "text_generation",
    "multiple_choice",
    "language_modeling",
    "language_model",
    "translation",
    "summarization",
    "speech_recognition",
    "audio_classification",
    "tabular_classification",
    "reinforcement_learning",
    "general",
)


def task_names() -> tuple[str, ...]:
    """Ours, and those that installed packages add; nothing is imported for it."""
    theirs = {each.name for each in plugins_in(PREFIX + "tasks") if re.fullmatch("[a-z][a-z0-9_]*", each.name)}
    return (*_OURS, *sorted(theirs.difference(_OURS)))


LANGUAGE_MODEL = "language_model"
"""The task of models that choose, read and write, each as a dataset asks."""
ASKED = {
    "multiple_choice": "choose",
    "language_modeling": "read",
    "text_generation": "write",
    "translation": "write",
}
"""The step that asks a language model, by the task of the dataset."""


def is_task(name: str) -> bool:
    return name in _OURS or name in task_names()


def _known(name: str) -> str:
    if not is_task(name):
        raise PydanticCustomError("unknown_name", "an unknown name", {"known": list(task_names())})
    return name


def _list(schema: dict[str, Any]) -> None:
    schema.update(enum=list(task_names()))


Task = Annotated[str, AfterValidator(_known), Field(json_schema_extra=_list)]
