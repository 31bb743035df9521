"""The curve of a training: a line of JSON for each point, on the disk before anybody is told of it."""

import json
import math
import os

from .checkpoint import write_durably


class CurveFile(object):
    def __init__(self, path):
        self._path = path

    def back_to(self, step):
        """The points up to a step; later ones are forgotten and made again, and a torn line is no point."""
        kept = [each for each in self._read() if each["step"] <= step]
        write_durably(self._path, b"".join(_line(each) for each in kept))
        return kept

    def add(self, point):
        with open(self._path, "ab") as file:
            file.write(_line(point))
            file.flush()
            os.fsync(file.fileno())

    def _read(self):
        try:
            with open(self._path, "rb") as file:
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return
        for line in lines:
            try:
                point = json.loads(line.decode("utf-8"))
                point["metrics"] = {name: float(value) for name, value in point["metrics"].items()}
                int(point["step"])
            except (ValueError, KeyError, TypeError, AttributeError):
                return
            yield point


def _line(point):
    """JSON has no NaN: such a number is kept as a text, which `float` reads."""
    metrics = {name: value if math.isfinite(value) else repr(value) for name, value in point["metrics"].items()}
    return json.dumps(dict(point, metrics=metrics), sort_keys=True).encode("utf-8") + b"\n"
