"""ARPA files: n-grams with logarithms of their probabilities and the weights of backing off to shorter ones.

    \\data\\
    ngram 1=4
    ngram 2=2

    \\1-grams:
    -99	<s>	-0.3
    -0.6	a	-0.1
    …
    \\end\\
"""

import math

from .predictor import ModelError

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
_NEVER = -99.0
_LOG_10 = math.log(10)
_MOST_ORDER = 12
_MOST_WORDS = 1 << 21


class Arpa(object):
    """`words` by number; what may follow up to `order` - 1 of them."""

    def __init__(self, words, order, logs, following, weights):
        self.words, self.order = words, order
        self._logs, self._following, self._weights = logs, following, weights

    def after(self, history):
        """Natural logarithms of each word's probability after some others."""
        found = self._logs.copy()
        for size in range(1, len(history) + 1):
            before = history[len(history) - size :]
            found += self._weights.get(before, 0.0)
            if before in self._following:
                numbers, logs = self._following[before]
                found[numbers] = logs
        return found * _LOG_10


def read_arpa(path):
    """The model in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return _read(iter(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError("the ARPA file cannot be read: %s" % error)


def _read(lines):
    import numpy as np

    counts = _counts(lines)
    words, numbers, weights, unigrams = [], {}, {}, []
    for log, (word,), weight in _section(lines, 1, counts[0]):
        if word in numbers:
            raise ModelError("the ARPA file has %.40r twice" % word)
        numbers[word] = len(words)
        words.append(word)
        unigrams.append(log)
        if weight:
            weights[(numbers[word],)] = weight
    following = {}
    for order, count in enumerate(counts[1:], 2):
        for log, listed, weight in _section(lines, order, count):
            try:
                key = tuple(numbers[each] for each in listed)
            except KeyError as error:
                raise ModelError("the ARPA file has %s in an n-gram, and not alone" % error)
            following.setdefault(key[:-1], []).append((key[-1], log))
            if weight:
                weights[key] = weight
    tables = {
        key: (np.array([number for number, _ in some], np.int64), np.array([log for _, log in some], np.float64))
        for key, some in following.items()
    }
    return Arpa(words, len(counts), np.array(unigrams, np.float64), tables, weights)


def _counts(lines):
    """How many n-grams of each order there are."""
    for line in lines:
        if line.strip() == "\\data\\":
            break
    else:
        raise ModelError("an ARPA file begins with \\data\\, and there is none")
    counts = []
    for line in lines:
        if not line.strip():
            if counts:
                break
            continue
        name, _, count = line.partition("=")
        if name.split() != ["ngram", str(len(counts) + 1)] or not count.strip().isdigit():
            raise ModelError("the ARPA file's head has the line %.60r" % line.strip())
        counts.append(int(count))
    if not counts or not 0 < counts[0] <= _MOST_WORDS or len(counts) > _MOST_ORDER:
        raise ModelError("the ARPA file has no words, or more than can be read")
    return counts


def _section(lines, order, count):
    """(logarithm, words, weight) of each n-gram of an order."""
    for line in lines:
        if line.strip():
            if line.strip() != "\\%d-grams:" % order:
                raise ModelError("the ARPA file has %.60r where its %d-grams begin" % (line.strip(), order))
            break
    for _ in range(count):
        parts = next(lines, "").split()
        if len(parts) not in (order + 1, order + 2):
            raise ModelError("the ARPA file ends among its %d-grams, or a line is no %d-gram" % (order, order))
        weight = _number(parts.pop()) if len(parts) == order + 2 else 0.0
        yield max(_NEVER, _number(parts[0])), parts[1:], weight


def _number(text):
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if math.isnan(found) or found == math.inf:
        raise ModelError("the ARPA file has %.40r for a logarithm" % text)
    return max(_NEVER, found)
