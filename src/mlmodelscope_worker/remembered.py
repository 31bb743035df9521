"""What a language model said before: rows that were scored and texts that were written, so that no prompt that has one
in common with another asks twice. A text that the likeliest tokens make is the beginning of a longer one: what was
written up to some end is cut, or continued, for those who end elsewhere."""

import collections

from .predictor import Lost
from .predictor.language_model import Written

_MOST_ROWS = 200000
_MOST_TEXTS = 20000


class Remembered(object):
    """Asks the engine for what nobody has asked before. `batch_size` rows go to it at once."""

    def __init__(self, engine, batch_size):
        self._engine, self._batch_size = engine, max(1, batch_size)
        self._rows, self._texts = collections.OrderedDict(), collections.OrderedDict()
        self.tokens_run = 0
        """Tokens that went through the model for all that was asked."""
        self._written_tokens = self._written_texts = 0

    @property
    def mean_written(self):
        """Tokens of a text, so far."""
        return self._written_tokens / float(max(1, self._written_texts))

    def clear(self):
        self._rows.clear()
        self._texts.clear()

    def row(self, row):
        """What is known of a row that was scored."""
        return self._rows[_key(row)]

    def score(self, asked):
        """Score what is new, and return those rows; what has one context goes together, long ones first."""
        rows = list({_key(each): each for each in asked if _key(each) not in self._rows}.values())
        rows.sort(key=lambda row: (-len(row[0]), list(row[0]), -len(row[1])))
        for part in _parts(rows, self._batch_size):
            for row, found in zip(part, self._scored(part)):
                self._rows[_key(row)] = found
        return rows

    def forget(self):
        """The oldest, where there are too many."""
        for known, most in ((self._rows, _MOST_ROWS), (self._texts, _MOST_TEXTS)):
            while len(known) > most:
                known.popitem(last=False)

    def write(self, contexts, settings, decode, is_over):
        """A Written for each context, or what went wrong. What is drawn depends on its place among others, and what an
        engine that takes words writes has no tokens to go on from: neither is remembered."""
        if settings["temperature"] or self._engine.takes_words:
            return self._counted(contexts, settings, decode, is_over)
        ends = settings["stop_tokens"]
        keys = [(tuple(each), None if ends is None else tuple(ends)) for each in contexts]
        fresh = list(collections.OrderedDict((key, None) for key in keys if key not in self._texts))
        failed = {}
        if fresh:
            given = [list(context) for context, _ in fresh]
            for key, each in zip(fresh, self._counted(given, settings, decode, is_over)):
                if isinstance(each, Exception):
                    failed[key] = each
                else:
                    self._keep(key, list(each.tokens), each, decode, is_over)
        return [failed[key] if key in failed else self._written(key, settings, decode, is_over) for key in keys]

    def _written(self, key, settings, decode, is_over):
        known = self._texts[key]
        found = _cut(known, settings["longest"], decode, is_over)
        if found is not None:
            return found
        before = list(known.tokens)
        given = [list(key[0]) + before]
        left = dict(settings, longest=settings["longest"] - len(before))

        def spelled(tokens):
            return decode(before + list(tokens))

        (made,) = self._counted(given, left, spelled, is_over)
        if isinstance(made, Exception):
            return made
        made.moments = list(known.moments) + list(made.moments)
        self._keep(key, before + list(made.tokens), made, decode, is_over)
        return _cut(self._texts[key], settings["longest"], decode, is_over)

    def _keep(self, key, tokens, made, decode, is_over):
        # An end that was asked for as a text may not be that of others; a token for the end is everybody's.
        is_final = made.ending == "stop" and not is_over(decode(tokens))
        self._texts[key] = _Text(tokens, list(made.moments), is_final)

    def _counted(self, contexts, *how):
        """What the engine writes, with its own count of tokens, or ours where it does not count."""
        before = self._engine.tokens_run
        found = each_alone(self._engine.write, contexts, *how)
        good = [each for each in found if not isinstance(each, Exception)]
        self._written_tokens += sum(len(each.tokens) for each in good)
        self._written_texts += len(good)
        if before is None:
            self.tokens_run += sum(map(len, contexts)) + sum(len(each.tokens) for each in good)
        else:
            self.tokens_run += self._engine.tokens_run - before
        return found

    def _scored(self, part):
        before = self._engine.tokens_run
        found = each_alone(self._engine.score, part)
        if before is None:
            self.tokens_run += sum(len(context) + len(continuation) - 1 for context, continuation in part)
        else:
            self.tokens_run += self._engine.tokens_run - before
        return found


class _Text(object):
    """What was written after a context so far. `is_final`: nothing comes behind it."""

    __slots__ = ("tokens", "moments", "is_final")

    def __init__(self, tokens, moments, is_final):
        self.tokens, self.moments, self.is_final = tokens, moments, is_final


def _cut(known, longest, decode, is_over):
    """What would have been written with these ends, as far as what is known tells it; else None."""
    tokens = known.tokens[:longest]
    if is_over(decode(tokens)):
        low, high = 0, len(tokens)
        while high - low > 1:  # a text that is over stays over
            middle = (low + high) // 2
            low, high = (low, middle) if is_over(decode(tokens[:middle])) else (middle, high)
        tokens, ending = tokens[:high], "stop"
    elif len(tokens) == longest:
        ending = "length"
    elif known.is_final:
        ending = "stop"
    else:
        return None
    return Written(tokens, decode(tokens), ending, known.moments[: len(tokens) + (ending == "stop")])


def each_alone(call, rows, *more):
    """What a call makes of rows; where it fails as a whole, of each by itself, so that one costs no other."""
    try:
        return call(rows, *more)
    except Lost:
        raise
    except Exception as error:
        if len(rows) == 1:
            return [error]
    return [found for row in rows for found in each_alone(call, [row], *more)]


def _key(row):
    return tuple(each if isinstance(each, str) else tuple(each) for each in row)


def _parts(rows, most):
    """Rows in parts of at most so many; those with one context stay together, so that it is read once."""
    part = []
    for place, row in enumerate(rows):
        if len(part) >= most and row[0][:-1] != rows[place - 1][0][:-1]:
            yield part
            part = []
        part.append(row)
    if part:
        yield part
