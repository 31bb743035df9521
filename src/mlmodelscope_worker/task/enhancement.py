"""Image enhancement: super-resolution, denoising and the like. The answer is a picture."""

import zlib

from ..output.boxes import Refused
from ..output.picture import picture_of
from ..pipeline.frame import place
from ..png import write_png
from .reader import StepReader, task_reader


@task_reader("image_enhancement")
class Enhancement(StepReader):
    """Reads the picture as the answer steps leave it, and where in the original it lies."""

    def answer_of(self, values, frame):
        import numpy as np

        found = picture_of(values)
        height, width, channels = found.shape
        if channels not in (1, 3):
            raise Refused("a picture has 1 or 3 channels, this has %d: is the layout another?" % channels)
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise Refused("the model answered with not-a-number")
        if frame.to_original[1] or frame.to_original[3]:
            raise Refused("a transposed picture cannot be brought back")
        left, top = place(frame.to_original, 0, 0)
        right, bottom = place(frame.to_original, frame.size[1], frame.size[0])
        where = {"place": [top, left, bottom, right], "original": list(frame.original)}
        if found.dtype == np.uint8 or _are_bytes(found):
            form, content = "png", write_png(found.astype(np.uint8))
        else:
            form, content = "float32", zlib.compress(np.ascontiguousarray(found, "<f4").tobytes(), 1)
        fields = dict(where, form=form, size=[height, width, channels])
        return [("picture", np.frombuffer(content, np.uint8))], fields


def _are_bytes(found):
    """Whether nothing is lost when every value becomes a byte."""
    import numpy as np

    return bool(found.min() >= 0 and found.max() <= 255 and (np.rint(found) == found).all())
