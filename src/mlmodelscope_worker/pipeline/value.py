"""What flows through a pipeline: one sample's content on its way to a tensor.

An image is an `Image` (`image.py`), a text a `Text` and then `Tokens`, a sound a `Sound`, a row of a table a `Row`;
what is plain numbers by then is a `Tensor`. Each has the same few things that every step and session rely on.
"""


class SampleError(ValueError):
    """A sample that steps cannot take; the reason speaks for itself."""


class Frame(object):
    """Where the numbers of a tensor lie in the sample that they were made of; here there is nothing to be known."""

    to_original = ()
    """What tells two frames apart."""


NOWHERE = Frame()


class Tensor(object):
    """Numbers. `fresh` says that the array is ours alone and may be changed in place.

    `fill` is (value, side) where samples of other lengths may share a batch: shorter ones are filled up along their
    first axis. A value of `several` rows is so many inputs of the model for one sample, such as two texts to compare.
    """

    kind = "tensor"

    def __init__(self, array, fresh=True, frame=NOWHERE, fill=None, several=False):
        self._array = array
        self.fresh = fresh
        self.frame = frame
        self.fill = fill
        self.several = several

    @property
    def array(self):
        return self._array

    @property
    def rows(self):
        """An array for each row of the model's input."""
        return list(self.array) if self.several else [self.array]

    def with_array(self, array, fresh=True):
        return Tensor(array, fresh, self.frame, self.fill, self.several)

    def with_rows(self, change):
        """The same with every row changed."""
        if not self.several:
            return self.with_array(change(self.array))
        return Tensor([change(each) for each in self.array], True, self.frame, self.fill, True)

    def shared(self):
        """The same for one of several who go on from here."""
        return Tensor(self.array, False, self.frame, self.fill, self.several)


class Opaque(object):
    """A value that is not numbers yet; `needed` says which steps make them."""

    kind, needed = "opaque", ""
    fill, several, fresh, frame = None, False, False, NOWHERE

    @property
    def array(self):
        raise SampleError("this is %s, not numbers yet: %s" % (self.kind, self.needed))

    @property
    def rows(self):
        return [self.array]

    def with_array(self, array, fresh=True):
        return Tensor(array, fresh, self.frame)

    def shared(self):
        return self
