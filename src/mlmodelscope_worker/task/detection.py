"""Object detection: which boxes there are, each with a class and a score, in pixels of the original picture."""

from ..output.boxes import Refused, array_of, rows_of
from ..pipeline.frame import place
from .reader import StepReader, task_reader

_MOST_BOXES = 100000
# Axes of an output with one of the samples in front; a model for one picture at a time may leave that out.
_AXES = {"boxes": 3, "scores": 2, "classes": 2, "masks": 4, "keypoints": 3, "coefficients": 3, "prototypes": 4}


@task_reader("object_detection")
class Detection(StepReader):
    """Reads `boxes`, `scores` and `classes` as the answer steps leave them."""

    def by_sample(self, role, tensor, rows):
        """Caffe's `detections` hold the boxes of all samples, each with the number of its sample first."""
        if role != "detections":
            if rows == 1 and role in _AXES and (tensor.ndim < _AXES[role] or tensor.shape[0] != 1):
                tensor = tensor[None]
            return StepReader.by_sample(self, role, tensor, rows)
        import numpy as np

        if tensor.shape[-1] != 7:
            raise ValueError("detections have 7 numbers each, not %d" % tensor.shape[-1])
        listed = tensor.reshape(-1, 7)
        found = np.empty(rows, object)
        for row in range(rows):
            found[row] = listed[np.rint(listed[:, 0]) == row]
        return found

    def stepped(self, values, frame, share=None):
        if "detections" in values:
            listed = values.pop("detections")
            values.update(classes=listed[:, 1], scores=listed[:, 2], boxes=listed[:, 3:])
        return StepReader.stepped(self, flat(values), frame, share)

    def answer_of(self, values, frame):
        import numpy as np

        places, scores, classes = self.kept(values)
        corners = np.empty((len(places), 4))
        x, y = place(frame.to_original, places[:, 0::2], places[:, 1::2])
        corners[:, 0], corners[:, 2] = x.min(axis=1), x.max(axis=1)
        corners[:, 1], corners[:, 3] = y.min(axis=1), y.max(axis=1)
        return [("boxes", corners), ("scores", scores), ("classes", classes)], {"size": list(frame.original)}

    def kept(self, values):
        """(boxes, scores, classes) in the numbers of the dataset, without the background."""
        import numpy as np

        count = rows_of(values)
        if count > _MOST_BOXES:
            raise Refused("%d boxes are more than the %d allowed" % (count, _MOST_BOXES))
        places = np.asarray(array_of(values, "boxes"), np.float64).reshape(count, 4)
        scores = np.asarray(array_of(values, "scores"), np.float64)
        if scores.ndim != 1:
            raise Refused(
                "the scores are %s: a step such as `best_class` must choose" % "x".join(map(str, scores.shape))
            )
        numbers = self.numbers(values)
        if not (np.isfinite(places).all() and np.isfinite(scores).all()):
            raise Refused("the model answered with not-a-number")
        known = numbers >= 0
        return places[known], scores[known], numbers[known]

    def numbers(self, values):
        """Classes in the numbers of the dataset; the background lies below 0."""
        import numpy as np

        count = rows_of(values)
        classes = np.asarray(values["classes"]) if "classes" in values else np.full(count, self.answer["label_offset"])
        if not np.isfinite(classes).all():
            raise Refused("the model answered with not-a-number")
        return np.rint(classes).astype(np.int32).reshape(count) - np.int32(self.answer["label_offset"])

    def known(self, values):
        """Whether each box is of a class, and not of the background."""
        return self.numbers(values) >= 0


def flat(values):
    """Columns of one number, as GluonCV gives classes and their scores, become plain lists."""
    if "classes" not in values:
        return values  # the scores may be those of the only class
    columns = {role: values[role] for role in ("classes", "scores") if hasattr(values.get(role), "ndim")}
    return dict(values, **{role: each[:, 0] for role, each in columns.items() if each.ndim == 2 and each.shape[1] == 1})
