"""Tensors turned into answers. Importing this package registers every built-in output step and answer step."""

# Registering is the point.
from . import anchors, boxes, grid, maps, masks, picture, points, rows, scores, spans, vectors, words  # noqa: F401
from .step import ANSWER_STEPS, OUTPUT_STEPS

__all__ = ["ANSWER_STEPS", "OUTPUT_STEPS"]
