"""Answers that are made token by token: a decoder is called again and again with what it said so far.

What each of its inputs gets is declared (`feeds`), and which of its outputs come back to it as the past of the next
call (`past`). Every row of a batch is decoded by itself, so that no answer depends on its neighbors.
"""

from .clock import nanoseconds
from .past import Past
from .predictor import ModelError
from .predictor.predictor import pick

NO_TOKEN = -1
"""Stands behind the last token of a row that is shorter than others."""
GARBAGE, NO_CHOICE = -(2**62), 1 - 2**62  # numbers that no vocabulary has
FAILURES = {
    GARBAGE: "the decoder answered with not-a-number, or a score without bound",
    NO_CHOICE: "none of the decoder's tokens may be chosen",
}
"""What stands in place of a row's tokens where the search came to nothing: its neighbors keep theirs."""


class NothingFound(Exception):
    """A search that cannot go on; `token` says why."""

    def __init__(self, token):
        Exception.__init__(self, FAILURES[token])
        self.token = token


def refuse_failed(tokens):
    """Fail the sample whose search came to nothing."""
    for each in tokens if isinstance(tokens, list) else [tokens]:
        for token, reason in FAILURES.items():
            if (each == token).any():
                raise ModelError(reason)


class Generator(object):
    """A decoder, and how it is asked. `spec` is a plan's `generation`, `encoder` the model whose outputs it reads."""

    def __init__(self, spec, decoder, encoder):
        self.decoder = decoder
        self.spec = spec
        self._names = [tensor.name for tensor in decoder.inputs]
        self._scores = pick(decoder.outputs, spec["scores"], "output") if spec["scores"] is not None else 0
        self._past = Past(decoder, spec["past"])
        self._refuse_other_inputs()
        self._sources = {name: _source(what, encoder) for name, what in spec["feeds"].items()}

    def _refuse_other_inputs(self):
        """Every input of the decoder is fed, each by one thing, and no other is named."""
        for name in self.spec["feeds"]:
            if name not in self._names:
                raise ModelError("the decoder has no input `%s`; it takes %s" % (name, ", ".join(self._names)))
            if name in self._past.places:
                raise ModelError("the decoder's input `%s` is fed by `feeds` and by `past`; one must go" % name)
        for name in self._names:
            if name not in self.spec["feeds"] and name not in self._past.places:
                raise ModelError("nothing feeds the decoder's input `%s`: name it under `generate: {feeds: …}`" % name)

    def decode(self, stacked, outputs, lengths):
        """(nanoseconds of the decoder, tokens of each row) for a batch that the encoder has answered."""
        run_ns, rows = 0, []
        for row, longest in enumerate(lengths):
            given = ([each[row : row + 1] for each in stacked], [each[row : row + 1] for each in outputs])
            search = Beams(self.spec) if self.spec["beams"] > 1 else Greedy(self.spec)
            spent_ns, tokens = self._searched(given, min(longest, self.spec["longest"]), search)
            run_ns += spent_ns
            rows.append(tokens)
        return run_ns, as_table(rows)

    def _searched(self, given, longest, search):
        """Call the decoder until the search is done or has `longest` tokens: (nanoseconds of the calls, tokens)."""
        run_ns, past, start = 0, None, len(self.spec["start"])
        while not search.is_done and search.count - start < longest:
            feeds = [self._feed(tensor, given, past, search) for tensor in self.decoder.inputs]
            self.decoder.check(feeds)
            begin = nanoseconds()
            outputs = self.decoder.run(feeds)
            run_ns += nanoseconds() - begin
            try:
                order = search.take(_last(outputs[self._scores]))
            except NothingFound as error:
                return run_ns, [error.token]
            past = self._past.kept(past, outputs, order, self.spec["kept"])
        search.finish()
        return run_ns, search.tokens

    def _feed(self, tensor, given, past, search):
        import numpy as np

        if tensor.name in self._past.places:
            return self._past.empty(tensor.name, search.width) if past is None else past[tensor.name]
        kind, place = self._sources[tensor.name]
        if kind in ("inputs", "outputs"):
            whole = given[kind == "outputs"][place]
            return np.ascontiguousarray(np.repeat(whole, search.width, axis=0), tensor.element_type)
        rows = np.array(search.rows, np.int64)
        made = {
            "tokens": lambda: rows,
            "last": lambda: rows if past is None else rows[:, -1:],
            "mask": lambda: np.ones(rows.shape, np.int64),
            "positions": lambda: (
                np.repeat(np.arange(rows.shape[1])[None], len(rows), axis=0)
                if past is None
                else np.full((len(rows), 1), rows.shape[1] - 1)
            ),
            "is_cached": lambda: np.array([past is not None]),
        }[kind]()
        return np.ascontiguousarray(made, tensor.element_type)


class Whole(object):
    """A model and its decoder as one call: what a sample of such a model takes."""

    def __init__(self, model, generator, lengths):
        self._model, self._generator, self._lengths = model, generator, lengths

    def run(self, tensors):
        outputs = self._model.run(tensors)
        return list(outputs) + [self._generator.decode(tensors, outputs, self._lengths)[1]]

    def parts(self):
        """A call of many calls has none that could be timed apart."""
        return ()


def as_table(rows):
    """Rows of tokens as one array; shorter ones are filled up with what is no token."""
    import numpy as np

    made = np.full((len(rows), max([1] + [len(each) for each in rows])), NO_TOKEN, np.int64)
    for row, tokens in enumerate(rows):
        made[row, : len(tokens)] = tokens
    return made


def _source(what, encoder):
    """(kind, place among the encoder's tensors) of what an input gets."""
    kind, _, name = what.partition(".")
    if kind == "inputs":
        return kind, pick(encoder.inputs, _named(name), "input")
    if kind == "outputs":
        return kind, pick(encoder.outputs, _named(name), "output")
    return what, None


def _named(name):
    return int(name) if name.isdigit() else name


def _last(scores):
    """Scores of the next token: rows x vocabulary."""
    if scores.ndim == 3:
        return scores[:, -1]
    if scores.ndim == 2:
        return scores
    raise ModelError("the decoder's scores have %d axes, 2 or 3 are due" % scores.ndim)


class Greedy(object):
    """The best token at each step; of equal scores the lowest number."""

    width = 1

    def __init__(self, spec):
        self.spec = spec
        self._all = list(spec["start"])
        self.is_done = False

    @property
    def rows(self):
        return [self._all]

    @property
    def count(self):
        return len(self._all)

    @property
    def tokens(self):
        """What was said, without start and stop."""
        said = self._all[len(self.spec["start"]) :]
        return said[:-1] if said and said[-1] in self.spec["stop"] else said

    def take(self, scores):
        import numpy as np

        scores = _allowed(scores, self.spec)
        token = int(np.argmax(scores[0]))
        self._all.append(token)
        self.is_done = token in self.spec["stop"]

    def finish(self):
        pass


def _allowed(scores, spec):
    """Scores in which tokens that may not be chosen have none; garbage is refused."""
    import numpy as np

    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    if not (scores < np.inf).all():
        raise NothingFound(GARBAGE)
    never = [each for each in spec["never"] if each < scores.shape[1]]
    if never:
        scores = scores.copy()
        scores[:, never] = -np.inf
    if not (scores > -np.inf).any(axis=1).all():
        raise NothingFound(NO_CHOICE)
    return scores


class Beams(object):
    """The best few texts so far, by the sum of the logarithms of their probabilities, divided by their length raised to
    `length_penalty`. The search ends when so many are done, and no open one is better by now than the worst of them."""

    def __init__(self, spec):
        self.spec = spec
        self._start = list(spec["start"])
        self._open = [(0.0, self._start)]
        self._done = []
        self.is_done = False

    @property
    def width(self):
        return len(self._open)

    @property
    def rows(self):
        return [tokens for _, tokens in self._open]

    @property
    def count(self):
        return len(self._open[0][1])

    def _score(self, total, tokens):
        return total / max(len(tokens) - len(self._start), 1) ** self.spec["length_penalty"]

    def take(self, scores):
        """Which of the rows before each of the new ones goes on from."""
        import numpy as np

        scores = _allowed(scores, self.spec).astype(np.float64)
        top = scores.max(axis=1, keepdims=True)
        logarithms = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        beams = self.spec["beams"]
        found = []
        for row, (total, tokens) in enumerate(self._open):
            best = np.argsort(-logarithms[row], kind="mergesort")[: 2 * beams]
            likely = [each for each in best if logarithms[row, each] > -np.inf]
            found += [(total + float(logarithms[row, each]), row, int(each), tokens) for each in likely]
        found.sort(key=lambda each: (-each[0], each[1], each[2]))
        going, order = [], []
        for rank, (total, row, token, tokens) in enumerate(found[: 2 * beams]):
            if token in self.spec["stop"]:
                if rank < beams:
                    self._done.append((self._score(total, tokens + [token]), tokens + [token]))
            elif len(going) < beams:
                going.append((total, tokens + [token]))
                order.append(row)
        self._done = sorted(self._done, key=lambda each: -each[0])[:beams]
        if not going or (len(self._done) == beams and self._score(going[0][0], going[0][1]) <= self._done[-1][0]):
            self.is_done = True
            going, order = (going or self._open), (order or list(range(len(self._open))))
        self._open = going
        return np.array(order)

    def finish(self):
        """Texts that were not done when there was no time left count as they are."""
        if not self.is_done:
            self._done += [(self._score(total, tokens), tokens) for total, tokens in self._open]
        self._done.sort(key=lambda each: -each[0])

    @property
    def tokens(self):
        said = self._done[0][1][len(self._start) :]
        return said[:-1] if said and said[-1] in self.spec["stop"] else said
