"""Tensors turned into answers. Importing this package registers every built-in output step."""

from . import scores  # noqa: F401  (registering is the point)
from .step import OUTPUT_STEPS

__all__ = ["OUTPUT_STEPS"]
