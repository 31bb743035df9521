"""Hugging Face's `tokenizers`: a JSON file that says everything, from the Unicode form to special tokens."""

import os

from tokenizers import Tokenizer

from ..tokens import SPECIAL, Line
from ..value import SampleError

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # how many threads there are is the plan's to say, and they are ours


class Fast(object):
    def __init__(self, found):
        self._encode = found.encode
        self._encode_all = getattr(found, "encode_batch_fast", found.encode_batch)  # since 0.20.1
        self._decode = found.decode

    def line(self, text, special):
        return FoundLine(self._encode(text, add_special_tokens=special))

    def pair(self, text, other, special):
        return FoundLine(self._encode(text, other, add_special_tokens=special))

    def lines(self, given, special):
        """Many texts, or pairs of texts, in one call, which does not find out where each token lies in its text."""
        found = self._encode_all(given, add_special_tokens=special)
        return [FoundLine(each, (self._encode, one, special)) for each, one in zip(found, given)]

    def text(self, tokens):
        return self._decode(tokens, skip_special_tokens=True)


class FoundLine(Line):
    """What the library found. All but the numbers is read when somebody asks."""

    __slots__ = ("_found", "_again")

    def __init__(self, found, again=None):
        """`again` is what finds the places, which a call for many texts does not: (function, texts, special)."""
        self.ids = found.ids
        self._mask = None
        self._found, self._again = found, again

    @property
    def types(self):
        return self._found.type_ids

    @property
    def parts(self):
        return [SPECIAL if part is None else part for part in self._found.sequence_ids]

    @property
    def raw_parts(self):
        return self._found.sequence_ids

    @property
    def spans(self):
        found = self._found
        if self._again is not None:
            encode, texts, special = self._again
            found = encode(*(texts if isinstance(texts, tuple) else (texts,)), add_special_tokens=special)
            if found.ids != self.ids:
                raise SampleError("the tokenizer cuts one text in two ways")
        return [None if part is None else span for part, span in zip(found.sequence_ids, found.offsets)]


def read(path, lowercase, unknown):
    """Cutting and filling are steps of their own, whatever the file says about them."""
    found = Tokenizer.from_file(path)
    found.no_truncation()
    found.no_padding()
    return Fast(found)
