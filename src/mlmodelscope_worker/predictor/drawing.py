"""Which token comes next: the likeliest, or one that is drawn. One way for every engine that gives its scores away."""

from .language_model import Written, is_followed, seed_of
from .predictor import ModelError


def streams(contexts, settings):
    """A stream of random numbers for each of several texts."""
    import numpy as np

    return [np.random.RandomState(seed_of(list(each), settings)) for each in contexts]


def chosen(scores, settings, stream):
    """A token by the scores of all of them, as the settings say; `stream` is the text's own."""
    import numpy as np

    if not settings["temperature"]:
        return int(scores.argmax())
    order = np.argsort(-scores, kind="mergesort")
    scores = np.asarray(scores[order], "<f8") / settings["temperature"]
    if settings["top_k"]:
        scores = scores[: settings["top_k"]]
    shares = np.exp(scores - scores[0])
    shares /= shares.sum()
    if settings["top_p"]:
        shares = shares[np.cumsum(shares) - shares < settings["top_p"]]
    steps = np.cumsum(shares)
    place = int(np.searchsorted(steps, stream.random_sample() * steps[-1], side="right"))
    return int(order[min(place, len(steps) - 1)])


def logarithms(scores, wanted):
    """(logarithms of the wanted tokens, whether each was the likeliest) by the scores before each of them."""
    import numpy as np

    scores, wanted = np.asarray(scores, "<f8"), np.asarray(wanted, int)
    most = scores.max(axis=1)
    sums = most + np.log(np.exp(scores - most[:, None]).sum(axis=1))
    return scores[np.arange(len(wanted)), wanted] - sums, scores.argmax(axis=1) == wanted


def checked(tokens, size, longest):
    """Refuse what the model does not know or cannot take, before it is asked."""
    if not tokens:
        raise ModelError("there is no token to begin with")
    for token in tokens:
        if not 0 <= token < size:
            raise ModelError("the token %d is none of the model's %d" % (token, size))
    if longest and len(tokens) > longest:
        raise ModelError("it has %d tokens, and the model takes %d" % (len(tokens), longest))


def check_rows(rows, size, longest):
    for context, continuation in rows:
        checked(list(context), size, None)
        checked(list(continuation), size, None)
        checked(list(context) + list(continuation[:-1]), size, longest)


class Texts(object):
    """Texts that are written side by side, token by token, until each has come to an end."""

    def __init__(self, contexts, settings, ends, decode, is_over):
        count = len(contexts)
        self._settings, self._ends, self._decode, self._is_over = settings, ends, decode, is_over
        self._streams = streams(contexts, settings)
        self._tokens = [[] for _ in range(count)]
        self._moments = [[] for _ in range(count)]
        self._endings = [None] * count

    @property
    def open(self):
        """Places of those that go on."""
        return [place for place, ending in enumerate(self._endings) if ending is None]

    def add(self, place, scores, now):
        """Choose the next token of a text by its scores; the token, or None where it ends."""
        if not abs(scores.max()) < float("inf"):
            raise ModelError("the model answered with not-a-number")
        token = chosen(scores, self._settings, self._streams[place])
        self._moments[place].append(now)
        if token in self._ends:
            self._endings[place] = "stop"
            return None
        tokens = self._tokens[place]
        tokens.append(token)
        if len(tokens) >= self._settings["longest"]:
            self._endings[place] = "length"
        elif is_followed(self._settings) and self._is_over(self._decode(tokens)):
            self._endings[place] = "stop"
        return token if self._endings[place] is None else None

    def written(self):
        return [
            Written(tokens, self._decode(tokens), ending, moments)
            for tokens, ending, moments in zip(self._tokens, self._endings, self._moments)
        ]
