"""Steps before the model. Importing this package registers every built-in one."""

# Registering is the point.
from . import (  # noqa: F401
    arithmetic,
    arrange,
    asking,
    chat,
    columns,
    decode,
    decode_audio,
    degrade,
    encode,
    encoding,
    features,
    fit,
    geometry,
    prompt,
    scale_columns,
    sizes,
    spectral,
    text,
    tokens,
    waveform,
)
from .step import STEPS, Pipeline

__all__ = ["STEPS", "Pipeline"]
