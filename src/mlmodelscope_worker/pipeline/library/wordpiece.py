"""WordPiece in plain Python, as BERT has it: a vocabulary of one piece a line, its line number being the token."""

import unicodedata

from ...predictor import ModelError
from ..plain_tokenizer import Plain

_MOST_CHARACTERS = 100
_MOST_PIECES = 1 << 20


class WordPiece(Plain):
    def __init__(self, vocabulary, unknown, lowercase):
        self._vocabulary, self._unknown, self._lowercase = vocabulary, unknown, lowercase
        self._by_number = None

    @property
    def _words(self):
        if self._by_number is None:
            self._by_number = {number: piece for piece, number in self._vocabulary.items()}
        return self._by_number

    def text(self, tokens):
        """Pieces of a word are joined, words have a blank between them."""
        return " ".join(self._words[each] for each in tokens if each in self._words).replace(" ##", "").strip()

    def cut(self, text):
        found = []
        for word, places in words(text, self._lowercase):
            found.extend(self._pieces(word, places))
        return found

    def _pieces(self, word, places):
        """The longest pieces from left to right; a word that they do not make is unknown as a whole."""
        whole = [(self._unknown, places[0], places[-1] + 1)]
        if len(word) > _MOST_CHARACTERS:
            return whole
        found, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start:
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self._vocabulary:
                    break
                end -= 1
            if end == start:
                return whole
            found.append((self._vocabulary[piece], places[start], places[end - 1] + 1))
            start = end
        return found


def words(text, lowercase):
    """(word, the place of each of its characters) for words and single punctuation marks."""
    word, places = [], []

    def take():
        made = ("".join(word), list(places))
        del word[:], places[:]
        return made

    for place, each in _characters(text, lowercase):
        if each.isspace() or is_punctuation(each) or is_chinese(each):
            if word:
                yield take()
            if not each.isspace():
                yield each, [place]
        else:
            word.append(each)
            places.append(place)
    if word:
        yield take()


def _characters(text, lowercase):
    """(place, character) without control characters; in lower case and without accents where that is wanted."""
    for place, each in enumerate(text):
        code, category = ord(each), unicodedata.category(each)
        if code in (0, 0xFFFD) or (category.startswith("C") and each not in "\t\n\r"):
            continue
        if category == "Zs" or each in "\t\n\r":
            yield place, " "
        elif not lowercase:
            yield place, each
        else:
            for one in unicodedata.normalize("NFD", each.lower()):
                if unicodedata.category(one) != "Mn":
                    yield place, one


def is_punctuation(each):
    code = ord(each)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(each).startswith("P")


def is_chinese(each):
    code = ord(each)
    return any(
        low <= code <= high
        for low, high in (
            (0x4E00, 0x9FFF),
            (0x3400, 0x4DBF),
            (0x20000, 0x2A6DF),
            (0x2A700, 0x2B73F),
            (0x2B740, 0x2B81F),
            (0x2B820, 0x2CEAF),
            (0xF900, 0xFAFF),
            (0x2F800, 0x2FA1F),
        )
    )


def read(path, lowercase, unknown):
    vocabulary = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            vocabulary.setdefault(line.rstrip("\r\n"), number)
            if number > _MOST_PIECES:
                raise ModelError("the vocabulary has more than %d lines" % _MOST_PIECES)
    if unknown is None:
        unknown = vocabulary.get("[UNK]")
    if unknown is None:
        raise ModelError("the vocabulary has no [UNK]: say in `unknown` which token stands for what it does not have")
    return WordPiece(vocabulary, unknown, lowercase)
