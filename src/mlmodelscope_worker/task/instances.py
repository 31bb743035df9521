"""Instance segmentation: boxes with masks, which travel as COCO's compressed run lengths in the original's size."""

from ..output.boxes import Refused
from ..output.rle import encode
from .detection import Detection
from .reader import task_reader


@task_reader("instance_segmentation")
class Instances(Detection):
    """Reads `boxes`, `scores`, `classes` and the `pasted` masks as the answer steps leave them."""

    def answer_of(self, values, frame):
        import numpy as np

        if "pasted" not in values:
            raise Refused("the masks are not on the original picture: add the step `paste_masks`")
        arrays, fields = Detection.answer_of(self, values, frame)
        height, width = frame.original
        kept = self.known(values)
        runs = [encode(top, left, part, height, width) for top, left, part in values["pasted"][kept]]
        arrays.append(("runs", np.frombuffer(b"".join(runs), np.uint8)))
        arrays.append(("lengths", np.array([len(each) for each in runs], np.int32)))
        return arrays, fields
