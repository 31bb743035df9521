"""Where each pixel of a model's input lies in the picture that it came from.

Steps that move pixels note what they did; nothing is computed before somebody asks. Places are those of edges, not of
pixels: a picture of w pixels reaches from 0 to w, whatever its resolution, so that boxes and masks are mapped exactly.
"""

from fractions import Fraction

_SAME = (1, 0, 0, 0, 1, 0)


class Frame(object):
    """A picture after some steps: its size, and how its places become those of the picture before.

    `move` is (a, b, c, d, e, f): x' = a x + b y + c and y' = d x + e y + f, in exact numbers.
    """

    __slots__ = ("size", "before", "move", "_composed")

    def __init__(self, size, before=None, move=_SAME):
        self.size = size
        """(height, width)."""
        self.before = before
        self.move = move
        self._composed = None

    @property
    def original(self):
        """(height, width) of the picture as it was decoded."""
        frame = self
        while frame.before is not None:
            frame = frame.before
        return frame.size

    def cut(self, top, left, height, width):
        """A part of it."""
        return Frame((height, width), self, (1, 0, left, 0, 1, top))

    def scaled(self, height, width):
        """All of it, at another size."""
        own_height, own_width = self.size
        return Frame((height, width), self, (Fraction(own_width, width), 0, 0, 0, Fraction(own_height, height), 0))

    def padded(self, top, left, height, width):
        """All of it, on a larger canvas."""
        return Frame((height, width), self, (1, 0, -left, 0, 1, -top))

    def transposed(self):
        """Height and width swapped."""
        height, width = self.size
        return Frame((width, height), self, (0, 1, 0, 1, 0, 0))

    @property
    def to_original(self):
        """The six numbers that map places here to those in the original."""
        if self._composed is None:
            found, frame = self.move, self.before
            while frame is not None:
                found = _after(frame.move, found)
                frame = frame.before
            self._composed = tuple(float(each) for each in found)
        return self._composed

    @property
    def from_original(self):
        """The six numbers that map places in the original to those here."""
        a, b, c, d, e, f = self.to_original
        determinant = a * e - b * d
        x, y = (b * f - c * e) / determinant, (c * d - a * f) / determinant
        return e / determinant, -b / determinant, x, -d / determinant, a / determinant, y

    @property
    def covered(self):
        """(top, left, bottom, right) of the part of the original that is here, in whole pixels of it."""
        height, width = self.original
        xs, ys = zip(*(place(self.to_original, x, y) for x, y in ((0, 0), (self.size[1], self.size[0]))))
        return (
            int(min(max(round(min(ys)), 0), height)),
            int(min(max(round(min(xs)), 0), width)),
            int(min(max(round(max(ys)), 0), height)),
            int(min(max(round(max(xs)), 0), width)),
        )


def place(move, x, y):
    """A place, moved; numbers or arrays."""
    a, b, c, d, e, f = move
    return a * x + b * y + c, d * x + e * y + f


def _after(outer, inner):
    """Both moves in one, `inner` first."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, l = inner  # noqa: E741
    return (
        a * g + b * j,
        a * h + b * k,
        a * i + b * l + c,
        d * g + e * j,
        d * h + e * k,
        d * i + e * l + f,
    )
