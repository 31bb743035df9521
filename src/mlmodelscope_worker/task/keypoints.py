"""Keypoint detection: things with points, each x, y and how sure it is, in pixels of the original picture."""

from ..output.boxes import Refused, array_of
from ..pipeline.frame import place
from .detection import Detection
from .reader import task_reader


@task_reader("keypoint_detection")
class Keypoints(Detection):
    """Reads `keypoints`, `boxes`, `scores` and perhaps `classes` as the answer steps leave them."""

    def answer_of(self, values, frame):
        import numpy as np

        points = np.asarray(array_of(values, "keypoints"), np.float64)
        if points.ndim != 3 or points.shape[2] != 3:
            raise Refused("the points are %s: the step `keypoints` must read them" % "x".join(map(str, points.shape)))
        arrays, fields = Detection.answer_of(self, values, frame)
        points = points[self.known(values)].copy()
        if not np.isfinite(points).all():
            raise Refused("the model answered with not-a-number")
        points[..., 0], points[..., 1] = place(frame.to_original, points[..., 0], points[..., 1])
        return arrays + [("keypoints", points)], fields
