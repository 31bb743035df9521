"""Hugging Face's `tokenizers`: a JSON file that says everything, from the Unicode form to special tokens."""

from tokenizers import Tokenizer

from ..tokens import SPECIAL, Line


class Fast(object):
    def __init__(self, found):
        self._encode = found.encode
        self._decode = found.decode

    def line(self, text, special):
        return _line(self._encode(text, add_special_tokens=special))

    def pair(self, text, other, special):
        return _line(self._encode(text, other, add_special_tokens=special))

    def text(self, tokens):
        return self._decode(tokens, skip_special_tokens=True)


def _line(found):
    def later():
        parts = [SPECIAL if part is None else part for part in found.sequence_ids]
        spans = [None if part == SPECIAL else span for part, span in zip(parts, found.offsets)]
        return parts, spans

    return Line(found.ids, found.type_ids, later=later)


def read(path, lowercase, unknown):
    """Cutting and filling are steps of their own, whatever the file says about them."""
    found = Tokenizer.from_file(path)
    found.no_truncation()
    found.no_padding()
    return Fast(found)
