"""A step: a negative becomes a picture."""

from mlmodelscope_worker.parameters import Number
from mlmodelscope_worker.pipeline.step import step


@step(main="white")
def toy_invert(image, *, white: Number("The value that becomes 0, and the other way round.", above=0) = 255.0):
    """Turn a negative into a picture: `white - x`."""
    import numpy as np

    return image.with_array(np.float32(white) - image.array.astype(np.float32))
