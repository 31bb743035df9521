"""What models do and what labels are for, in one word each."""

from __future__ import annotations

from typing import Literal

Task = Literal[
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
    "recommendation",
    "embedding",
    "text_classification",
    "token_classification",
    "question_answering",
    "text_generation",
    "translation",
    "summarization",
    "speech_recognition",
    "audio_classification",
    "reinforcement_learning",
    "general",
]
