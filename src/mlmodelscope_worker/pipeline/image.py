"""The value that flows through an image pipeline."""

from .frame import Frame


class Image(object):
    """Pixels with their meaning: axis order and channel order.

    A library may keep its own object (`native`) between steps of the same library, which saves a copy per step; the
    array is made when somebody asks for it. `fresh` says that the array is ours alone and may be changed in place.
    """

    __slots__ = ("_array", "native", "library", "layout", "color", "fresh", "_frame")

    kind, fill, several = "image", None, False

    def __init__(self, array=None, layout="HWC", color="RGB", native=None, library=None, fresh=False, frame=None):
        self._array = array
        self.native = native
        self.library = library
        self.layout = layout
        self.color = color
        self.fresh = fresh
        self._frame = frame

    @property
    def array(self):
        if self._array is None:
            self._array = self.library.to_array(self.native)
            self.native = None
        return self._array

    @property
    def rows(self):
        """An array for each row of the model's input: a picture is one."""
        return [self.array]

    def with_array(self, array, fresh=True, layout=None, color=None):
        return Image(array, layout or self.layout, color or self.color, fresh=fresh, frame=self._frame)

    def with_native(self, native):
        return Image(None, self.layout, self.color, native=native, library=self.library, frame=self._frame)

    @property
    def frame(self):
        """Where its pixels lie in the picture that was decoded."""
        if self._frame is None:
            self._frame = Frame(self.size)
        return self._frame

    def placed(self, frame):
        """The same, which lies elsewhere by now."""
        self._frame = frame
        return self

    @property
    def size(self):
        """(height, width)."""
        if self.native is not None:
            return self.library.size(self.native)
        shape = self.array.shape
        return (shape[0], shape[1]) if self.layout == "HWC" else (shape[1], shape[2])

    @property
    def pixels(self):
        """The array as height x width x channels, whatever the layout (a view)."""
        return self.array if self.layout == "HWC" else self.array.transpose(1, 2, 0)

    def with_pixels(self, pixels, fresh=True):
        """The same kind of image with other height x width x channels content."""
        return self.with_array(pixels if self.layout == "HWC" else pixels.transpose(2, 0, 1), fresh=fresh)

    def shared(self):
        """The same for one of several who go on from here: not to be changed in place."""
        if self.native is not None:
            return self.with_native(self.native)
        return self.with_array(self.array, fresh=False)


def shared(value):
    """The same value for one of several; bytes are nobody's to change."""
    return value.shared() if hasattr(value, "shared") else value


def layout_of(name):
    """`NHWC` and `HWC` are one layout to a single sample: the batch axis is added when samples are stacked."""
    return name[-3:]
