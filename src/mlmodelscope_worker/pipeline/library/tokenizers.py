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
    def parts():
        return [SPECIAL if part is None else part for part in found.sequence_ids]

    def spans():
        return [None if part is None else span for part, span in zip(found.sequence_ids, found.offsets)]

    return Line(found.ids, lambda: found.type_ids, parts, spans)


def read(path, lowercase, unknown):
    """Cutting and filling are steps of their own, whatever the file says about them."""
    found = Tokenizer.from_file(path)
    found.no_truncation()
    found.no_padding()
    return Fast(found)
