"""A vocabulary of byte strings, each behind its length: how small speech models ship theirs.

A length is one byte, or two: the first holds 128 and the lower seven bits, the second the rest.
"""

from ...predictor import ModelError

_BLANK = "\u2581"
_MOST = 1 << 20


class Pieces(object):
    def __init__(self, pieces):
        self._pieces = pieces

    def text(self, tokens):
        unknown = [each for each in tokens if not 0 <= each < len(self._pieces)]
        if unknown:
            raise ModelError("the vocabulary has %d pieces, and the model said %d" % (len(self._pieces), unknown[0]))
        joined = b"".join(self._pieces[each] for each in tokens)
        return joined.decode("utf-8", "replace").replace(_BLANK, " ").strip()


def read(path, lowercase, unknown):
    with open(path, "rb") as file:
        data = file.read()
    pieces, at = [], 0
    while at < len(data):
        length = data[at]
        at += 1
        if length >= 128:
            if at >= len(data):
                raise ModelError("the vocabulary ends within a length")
            length += data[at] * 128 - 128
            at += 1
        if at + length > len(data):
            raise ModelError("piece %d of the vocabulary would end behind the file" % len(pieces))
        if len(pieces) >= _MOST:
            raise ModelError("the vocabulary has more than %d pieces" % _MOST)
        pieces.append(data[at : at + length])
        at += length
    return Pieces(pieces)
