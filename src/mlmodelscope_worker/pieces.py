"""Tokens in words: what each of them adds to a text."""

REPLACED = "\ufffd"
_LONGEST_CHARACTER = 4
"""Tokens that one character may be made of: as many as it has bytes in UTF-8."""


class Pieces(object):
    """What tokens stand for. `decode` makes a text of tokens; `name_of` has the name of one that is not a text, such as
    one for the beginning, or "" where nobody knows it.

    Many decoders drop a blank in front of a text: a token is read behind another one, and remembered.
    """

    def __init__(self, decode, name_of):
        self._decode, self._name_of = decode, name_of
        self._known = {}
        self._before = None

    def of(self, tokens):
        """A text for each token. A character of several tokens stands at the last one of them."""
        tokens = [int(each) for each in tokens]
        if self._before is None:
            self._before = next((each for each in tokens if self._is_ordinary(each)), None)
        found, place = [], 0
        while place < len(tokens):
            text = self._one(tokens[place])
            end = place + 1
            if REPLACED in text:
                joined, end = self._character(tokens, place, text)
                found.extend(self._named(each) for each in tokens[place : end - 1])
                text = joined
            found.append(text or self._named(tokens[place]))
            place = end
        return found

    def _is_ordinary(self, token):
        text = self._decode([token])
        return bool(text) and REPLACED not in text and self._decode([token, token]).startswith(text)

    def _one(self, token):
        if token not in self._known:
            self._known[token] = self._behind([token])
        return self._known[token]

    def _behind(self, tokens):
        if self._before is None:
            return clean(self._decode(tokens))
        first = self._decode([self._before])
        whole = self._decode([self._before] + tokens)
        return clean(whole[len(first) :] if whole.startswith(first) else self._decode(tokens))

    def _character(self, tokens, place, text):
        """(what some tokens make together, where they end)."""
        for end in range(place + 2, min(place + _LONGEST_CHARACTER, len(tokens)) + 1):
            joined = self._behind(tokens[place:end])
            if REPLACED not in joined:
                return joined, end
        return text, place + 1

    def _named(self, token):
        try:
            return clean(str(self._name_of(token) or ""))
        except Exception:  # a library that does not know the number
            return ""


def clean(text):
    """Without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
