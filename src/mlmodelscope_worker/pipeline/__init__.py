"""Steps before the model. Importing this package registers every built-in one."""

# Registering is the point.
from . import arithmetic, arrange, decode, degrade, geometry, sizes, text, tokens  # noqa: F401
from .step import STEPS, Pipeline

__all__ = ["STEPS", "Pipeline"]
