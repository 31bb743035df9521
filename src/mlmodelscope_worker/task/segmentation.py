"""Semantic segmentation: which class each pixel of the original picture belongs to."""

from ..output.boxes import Refused
from ..output.maps import NO_CLASS, map_of, nearest, placed, places_of
from ..png import write_png
from .reader import StepReader, task_reader

_MOST_CLASSES = 65535


@task_reader("semantic_segmentation")
class Segmentation(StepReader):
    """Reads the map as the answer steps leave it; one of another size than the original's is resized by nearest."""

    def answer_of(self, values, frame):
        import numpy as np

        if "map" not in values and "scores" in values:
            raise Refused("there are scores and no map of classes: `argmax_map` makes one")
        found = map_of(values)
        known = placed(values, frame, found.shape)
        covered = values.get("covered") or known.covered
        if known.before is not None:
            found = nearest(found, *places_of(known), filling=NO_CLASS)
        numbers = np.where(found < 0, NO_CLASS, found - np.int32(self.answer["label_offset"]))
        most = int(numbers.max())
        if most >= _MOST_CLASSES:
            raise Refused("the class %d is beyond the %d that a map can hold" % (most, _MOST_CLASSES))
        kind = np.uint8 if most < 255 else np.uint16
        none = int(np.iinfo(kind).max)
        pixels = np.where(numbers < 0, none, numbers).astype(kind)
        picture = np.frombuffer(write_png(pixels), np.uint8)
        return [("map", picture)], {"size": list(pixels.shape), "none": none, "covered": list(covered)}
