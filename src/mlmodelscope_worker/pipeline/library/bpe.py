"""Byte-level BPE in plain Python, as GPT-2 has it: vocabulary and merges from the JSON file of `tokenizers`."""

import functools
import heapq
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
_MOST_KEPT = 64
"""Words of more bytes are worked out each time: the memory of them is bounded."""
_BLANKS = frozenset("\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    chr(each) for each in range(0x2000, 0x200B)
)
"""Unicode's, which Python adds four control characters to."""
_OTHERS = ("continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges", "dropout")
"""What a file may ask for beyond GPT-2's way."""
_ENDINGS = ("'ll", "'ve", "'re", "'s", "'d", "'m", "'t")


class BytePairs(Plain):
    def __init__(self, vocabulary, merges, unknown, adds_blank):
        self._vocabulary, self._unknown, self._adds_blank = vocabulary, unknown, adds_blank
        self._pieces = {number: piece for piece, number in vocabulary.items()}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._merged = functools.lru_cache(maxsize=65536)(self._merge)

    def cut(self, text):
        found, moved = [], 0
        if self._adds_blank and text and text[0] != " ":
            text, moved = " " + text, 1
        for start, word in split(text):
            letters, places = [], []
            for place, each in enumerate(word):
                for byte in each.encode("utf-8"):
                    letters.append(_SHOWN[byte])
                    places.append(max(0, start + place - moved))
            at = 0
            merged = self._merged if len(letters) <= _MOST_KEPT else self._merge
            for piece in merged("".join(letters)):
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
        """The pair of the lowest rank is joined, from left to right, again and again."""
        pieces = list(word)
        behind = list(range(1, len(pieces) + 1))
        before = list(range(-1, len(pieces) - 1))
        waiting = []

        def look(place):
            if place >= 0 and behind[place] < len(pieces):
                rank = self._ranks.get((pieces[place], pieces[behind[place]]))
                if rank is not None:
                    heapq.heappush(waiting, (rank, place, pieces[place], pieces[behind[place]]))

        for place in range(len(pieces) - 1):
            look(place)
        while waiting:
            _, place, one, two = heapq.heappop(waiting)
            after = behind[place]
            if pieces[place] != one or after >= len(pieces) or pieces[after] != two:
                continue  # one of them was joined with another one since
            pieces[place], pieces[after] = one + two, None
            behind[place] = behind[after]
            if behind[place] < len(pieces):
                before[behind[place]] = place
            look(before[place])
            look(place)
        return tuple(each for each in pieces if each is not None)


def _class(each):
    """Letters, numbers, blanks, and whatever else there is."""
    category = unicodedata.category(each)
    return "L" if category[0] == "L" else "N" if category[0] == "N" else "S" if each in _BLANKS else "O"


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
        found = json.load(file)
    model = found.get("model") or {}
    if model.get("type", "BPE") != "BPE" or "vocab" not in model or "merges" not in model:
        raise ModelError("the file has no BPE vocabulary with its merges")
    cutting = found.get("pre_tokenizer") or {}
    asked = [name for name in _OTHERS if model.get(name)] + ["normalizer"] * bool(found.get("normalizer"))
    if cutting.get("type") != "ByteLevel" or not cutting.get("use_regex", True):
        asked.append("pre_tokenizer")
    if asked:
        raise ModelError("`bpe` does what GPT-2's does; this file's `%s` needs the library `tokenizers`" % asked[0])
    merges = [tuple(each.split(" ", 1)) if isinstance(each, str) else tuple(each) for each in model["merges"]]
    return BytePairs(model["vocab"], merges, unknown, bool(cutting.get("add_prefix_space", True)))
