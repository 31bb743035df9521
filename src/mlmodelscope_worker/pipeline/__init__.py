"""Image and tensor steps. Importing this package registers every built-in step."""

from . import arithmetic, arrange, decode, degrade, geometry, sizes  # noqa: F401  (registering is the point)
from .step import STEPS, Pipeline

__all__ = ["STEPS", "Pipeline"]
