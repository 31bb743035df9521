"""Models that count: n-grams with back-off weights out of an ARPA file, as KenLM, SRILM and IRSTLM write it.

They need no framework, and a perplexity is told best beside theirs. A line of the file is a logarithm to the base of
10, the words, and the weight of what follows them: `-1.3863	once upon	-0.2`.
"""

import collections

from ..clock import nanoseconds
from ..parameters import Choice, Integer
from .arpa import END, START, UNKNOWN, read_arpa
from .drawing import chosen
from .language_model import LanguageModel, Written, is_followed, seed_of, tokens_of
from .predictor import ModelError, predictor

_MOST_REMEMBERED = 1 << 24
"""Numbers that are kept of histories that were asked for before."""
_BLANK = "▁"
_ESCAPED = (("\\n", "\n"), ("\\t", "\t"), (_BLANK, " "))


@predictor(packages=())
def ngram(
    files,
    *,
    unit: Choice(
        "What the file counts: `words` stand between blanks; `pieces` are the longest parts of a text that are in the "
        "vocabulary, in which `▁` is a blank and `\\n` the end of a line. By default pieces where there is a `▁`.",
        "words",
        "pieces",
    ) = None,
    longest: Integer("Tokens that it takes at once, as other language models have a limit.", at_least=2) = 4096,
    threads: Integer("Ignored; here so that plans look alike.", at_least=1) = 1,
):
    """N-gram language models with back-off, out of an ARPA file: a baseline that runs everywhere."""
    model = read_arpa(files["graph"])
    if unit is None:
        unit = "pieces" if any(_BLANK in each for each in model.words) else "words"
    return NGram(model, unit, longest)


class NGram(LanguageModel):
    concurrent = False
    tokens_run = 0

    def __init__(self, model, unit, longest):
        self._model, self._unit, self.longest = model, unit, longest
        self._numbers = {each: number for number, each in enumerate(model.words)}
        self.prefix = self._numbers.get(START)
        self.stop_tokens = tuple(self._numbers[each] for each in (END,) if each in self._numbers)
        self._special = frozenset(self._numbers[each] for each in (START, END) if each in self._numbers)
        self._texts = [_unescaped(each) if unit == "pieces" else each for each in model.words]
        self._pieces = {text: number for number, text in enumerate(self._texts) if number not in self._special}
        self._widest = max(map(len, self._texts))
        self._known = collections.OrderedDict()
        self.size = len(self._texts)

    def encode(self, text, special):
        found = self._words(text) if self._unit == "words" else self._longest_pieces(text)
        return [self.prefix] + found if special and self.prefix is not None else found

    def _words(self, text):
        return [self._numbers[each] if each in self._numbers else self._unknown(each) for each in text.split()]

    def _longest_pieces(self, text):
        found, place = [], 0
        while place < len(text):
            for size in range(min(self._widest, len(text) - place), 0, -1):
                number = self._pieces.get(text[place : place + size])
                if number is not None:
                    break
            else:
                size, number = 1, self._unknown(text[place])
            found.append(number)
            place += size
        return found

    def _unknown(self, text):
        if UNKNOWN not in self._numbers:
            raise ModelError("%.40r is not in the model's vocabulary, which has no %s" % (text, UNKNOWN))
        return self._numbers[UNKNOWN]

    def decode(self, tokens):
        texts = [self._texts[each] for each in tokens if each not in self._special]
        return " ".join(texts) if self._unit == "words" else "".join(texts)

    def name_of(self, token):
        return self._model.words[token]

    def score(self, rows):
        import numpy as np

        self.tokens_run += tokens_of(rows)
        found = []
        for context, continuation in rows:
            tokens = list(context) + list(continuation)
            if tokens and not 0 <= min(tokens) <= max(tokens) < len(self._texts):
                raise ModelError("there is a token that is none of the model's %d" % len(self._texts))
            logs, best = [], []
            for place in range(len(context), len(tokens)):
                after = self._after(tokens[:place])
                logs.append(after[tokens[place]])
                best.append(int(after.argmax()) == tokens[place])
            found.append((np.array(logs, np.float64), np.array(best, bool)))
        return found

    def _after(self, tokens):
        """Logarithms of what may come next. What has been asked before is remembered, as long as it is not too much."""
        most = self._model.order - 1
        history = tuple(tokens[-most:]) if most else ()
        if history not in self._known:
            while (len(self._known) + 1) * len(self._texts) > _MOST_REMEMBERED and self._known:
                self._known.popitem(last=False)
            self._known[history] = self._model.after(history)
        return self._known[history]

    def write(self, contexts, settings, decode, is_over):
        return [
            self._written(list(context), settings, decode, is_over, seed_of(list(context), settings))
            for context in contexts
        ]

    def _written(self, context, settings, decode, is_over, seed):
        import numpy as np

        random = np.random.RandomState(seed % (1 << 32))
        ends = self.stop_tokens if settings["stop_tokens"] is None else settings["stop_tokens"]
        self.tokens_run += len(context)
        tokens, moments, ending = [], [], "length"
        while len(tokens) < settings["longest"]:
            token = chosen(self._after(context + tokens), settings, random)
            moments.append(nanoseconds())
            self.tokens_run += bool(tokens)
            if token in ends:
                ending = "stop"
                break
            tokens.append(token)
            if is_followed(settings) and is_over(decode(tokens)):
                ending = "stop"
                break
        return Written(tokens, decode(tokens), ending, moments)


def _unescaped(piece):
    for written, meant in _ESCAPED:
        piece = piece.replace(written, meant)
    return piece
