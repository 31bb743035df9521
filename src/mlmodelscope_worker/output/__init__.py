"""Tensors turned into answers. Importing this package registers every built-in output step and answer step."""

from . import anchors, boxes, grid, maps, masks, picture, points, rows, scores  # noqa: F401  (registering is the point)
from .step import ANSWER_STEPS, OUTPUT_STEPS

__all__ = ["ANSWER_STEPS", "OUTPUT_STEPS"]
