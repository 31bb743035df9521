"""What every tokenizer has that only cuts texts: rows of one text, and of two one behind the other."""

from .tokens import Line


class Plain(object):
    """Subclasses implement `cut(text)`: (token, start, end) for each piece."""

    def cut(self, text):
        raise NotImplementedError

    def line(self, text, special):
        found = self.cut(text)
        return Line([each[0] for each in found], None, [0] * len(found), [each[1:] for each in found])

    def pair(self, text, other, special):
        one, two = self.cut(text), self.cut(other)
        return Line(
            [each[0] for each in one + two],
            [0] * len(one) + [1] * len(two),
            [0] * len(one) + [1] * len(two),
            [each[1:] for each in one + two],
        )
