"""tiktoken: a file of ranks, a line each: a piece in base64 and its number. How texts are split first is OpenAI's for
100,000 ranks, or for 200,000, or GPT-2's."""

import base64

from tiktoken import Encoding

from ...predictor import ModelError
from ..plain_tokenizer import Plain

_GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
_CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"""
    r"""\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
_O200K = "|".join(
    (
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    )
)
_MOST_RANKS = 1 << 20


class Ranked(Plain):
    def __init__(self, found):
        self._found = found

    def cut(self, text):
        """Pieces may end within a character: it belongs to all pieces that have a part of it."""
        ids = self._found.encode_ordinary(text)
        lengths = [len(piece) for piece in self._found.decode_tokens_bytes(ids)]
        owner = _owners(text)
        found, at = [], 0
        for token, length in zip(ids, lengths):
            found.append((token, owner[at], owner[at + length - 1] + 1))
            at += length
        return found

    def text(self, tokens):
        return self._found.decode(tokens)


def _owners(text):
    """For each byte of a text in UTF-8 the number of the character that it is in."""
    found = []
    for place, each in enumerate(text):
        found.extend([place] * len(each.encode("utf-8")))
    return found


def read(path, lowercase, unknown):
    ranks = {}
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                piece, rank = line.split()
                ranks[base64.b64decode(piece, validate=True)] = int(rank)
            except ValueError:
                raise ModelError("line %d of the file of ranks is no piece in base64 with its number" % number)
            if len(ranks) > _MOST_RANKS:
                raise ModelError("the file of ranks has more than %d lines" % _MOST_RANKS)
    pattern = _GPT2 if len(ranks) < 75000 else _CL100K if len(ranks) < 150000 else _O200K
    return Ranked(Encoding("from-file", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}))
