"""Byte-level BPE in plain Python, as GPT-2 has it: vocabulary and merges from the JSON file of `tokenizers`."""

import functools
import json
import unicodedata

from ...predictor import ModelError
from ..plain_tokenizer import Plain


def _printable():
    """The character that stands for each byte."""
    shown = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    hidden = [each for each in range(256) if each not in shown]
    known = {each: chr(each) for each in shown}
    known.update((each, chr(256 + place)) for place, each in enumerate(hidden))
    return known


_SHOWN = _printable()
_BYTES = {character: byte for byte, character in _SHOWN.items()}
_ENDINGS = ("'ll", "'ve", "'re", "'s", "'d", "'m", "'t")


class BytePairs(Plain):
    def __init__(self, vocabulary, merges, unknown):
        self._vocabulary, self._unknown = vocabulary, unknown
        self._pieces = {number: piece for piece, number in vocabulary.items()}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._merged = functools.lru_cache(maxsize=65536)(self._merge)

    def cut(self, text):
        found = []
        for start, word in split(text):
            letters, places = [], []
            for place, each in enumerate(word):
                for byte in each.encode("utf-8"):
                    letters.append(_SHOWN[byte])
                    places.append(start + place)
            at = 0
            for piece in self._merged("".join(letters)):
                token = self._vocabulary.get(piece, self._unknown)
                if token is None:
                    raise ModelError("the vocabulary has no `%s`: say in `unknown` which token stands for it" % piece)
                found.append((token, places[at], places[at + len(piece) - 1] + 1))
                at += len(piece)
        return found

    def text(self, tokens):
        letters = "".join(self._pieces.get(each, "") for each in tokens)
        return bytes(bytearray(_BYTES[each] for each in letters if each in _BYTES)).decode("utf-8", "replace")

    def _merge(self, word):
        """The pair of the lowest rank is joined wherever it stands, again and again."""
        pieces = list(word)
        while len(pieces) > 1:
            pairs = [(self._ranks.get(pair), place) for place, pair in enumerate(zip(pieces, pieces[1:]))]
            known = [each for each in pairs if each[0] is not None]
            if not known:
                break
            best = pieces[min(known)[1]], pieces[min(known)[1] + 1]
            joined, place = [], 0
            while place < len(pieces):
                if tuple(pieces[place : place + 2]) == best:
                    joined.append(best[0] + best[1])
                    place += 2
                else:
                    joined.append(pieces[place])
                    place += 1
            pieces = joined
        return tuple(pieces)


def _class(each):
    """Letters, numbers, blanks, and whatever else there is."""
    category = unicodedata.category(each)
    return "L" if category[0] == "L" else "N" if category[0] == "N" else "S" if each.isspace() else "O"


def split(text):
    """(start, word) as GPT-2 splits a text: words keep the blank before them."""
    place, length = 0, len(text)
    while place < length:
        ending = next((each for each in _ENDINGS if text.startswith(each, place)), None)
        if ending:
            yield place, ending
            place += len(ending)
            continue
        start = place
        kind = _class(text[place])
        if kind == "S":
            end = place
            while end < length and _class(text[end]) == "S":
                end += 1
            if end < length and end - place > 1:
                end -= 1  # the last blank belongs to what follows, if it is one that may
            elif end < length and text[place] == " ":
                end = place
            if end > place:
                yield place, text[place:end]
                place = end
                continue
            place += 1
            kind = _class(text[place])
        end = place
        while end < length and _class(text[end]) == kind:
            end += 1
        yield start, text[start:end]
        place = end


def read(path, lowercase, unknown):
    with open(path, encoding="utf-8") as file:
        model = json.load(file).get("model", {})
    if model.get("type", "BPE") != "BPE" or "vocab" not in model or "merges" not in model:
        raise ModelError("the file has no BPE vocabulary with its merges")
    merges = [tuple(each.split(" ", 1)) if isinstance(each, str) else tuple(each) for each in model["merges"]]
    return BytePairs(model["vocab"], merges, unknown)
