"""Steps before the model. Importing this package registers every built-in one."""

# Registering is the point.
from . import (  # noqa: F401
    arithmetic,
    arrange,
    columns,
    decode,
    degrade,
    encode,
    geometry,
    scale_columns,
    sizes,
    text,
    tokens,
)
from .step import STEPS, Pipeline

__all__ = ["STEPS", "Pipeline"]
