"""A language model out of a decoder's graph, in whatever framework runs graphs.

The graph takes tokens (`input_ids`) and what it remembers of those before (`past_key_values.0.key` ...), and gives the
scores of what comes next (`logits`) and what to remember (`present.0.key` ...): the names that Optimum and
onnxruntime-genai write. Positions and a mask are fed where it takes them; a graph without a past reads the whole text
again for each token.
"""

from .clock import nanoseconds
from .past import Past
from .pipeline import tokens as tokenizers
from .predictor import ModelError
from .predictor.drawing import Texts, check_rows, checked, logarithms
from .predictor.language_model import DECODE, PREFILL, LanguageModel
from .predictor.model_folder import Facts
from .predictor.predictor import Steps

_TOKENS, _MASK, _POSITIONS, _SCORES = "input_ids", "attention_mask", "position_ids", "logits"
_PAST, _PRESENT = "past_key_values.", "present."
_IS_CACHED = "use_cache_branch"
_KEPT = ("num_logits_to_keep", "logits_to_keep")
_MOST_SCORES = 1 << 25
"""Scores of one call: 128 MiB in float32. What has more is read piece by piece."""


def language_model_of(predictor, path):
    """A LanguageModel of a graph that is open; ModelError in words where it is not a decoder's."""
    names = [tensor.name for tensor in predictor.inputs]
    if _TOKENS not in names or _SCORES not in [tensor.name for tensor in predictor.outputs]:
        raise ModelError(
            "this graph is not a language model's decoder: one takes `%s` and gives `%s`, this takes %s and gives %s"
            % (_TOKENS, _SCORES, _listed(names), _listed([tensor.name for tensor in predictor.outputs]))
        )
    return CausalGraph(predictor, Facts(path))


def _listed(names):
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "") if names else "nothing"


class CausalGraph(LanguageModel):
    tokens_run = 0

    def __init__(self, predictor, facts):
        self._predictor, self._facts = predictor, facts
        self.graph = Graph(predictor)
        self.longest, self.stop_tokens = facts.longest, facts.ends
        self.prefix = facts.first if facts.first is not None else (facts.ends or (None,))[0]
        self.size = self.graph.try_out()

    def _words(self):
        if self._facts.tokenizer is None:
            LanguageModel.encode(self, "", False)  # says what to do
        return tokenizers.opened("tokenizers", self._facts.tokenizer, False, None)

    def encode(self, text, special):
        return list(self._words().line(text, special).ids)

    def decode(self, tokens):
        return self._words().text(list(tokens))

    def score(self, rows):
        """What rows have in common is computed once: each context, of which only the last token is asked about."""
        check_rows(rows, self.size, self.longest)
        found = [None] * len(rows)
        for places, way in self._ways(rows):
            for group in self.graph.fitting([(len(rows[place][0]), len(rows[place][1])) for place in places]):
                chosen = [places[each] for each in group]
                for place, each in zip(chosen, way([rows[place] for place in chosen])):
                    found[place] = each
        return found

    def _ways(self, rows):
        """[(places of some rows, how they are scored)]: together behind what they share, or each by itself.

        A context of one token shares nothing, and a row without a real token makes some graphs divide by 0.
        """
        shared = [place for place, (context, _) in enumerate(rows) if len(context) > 1]
        if not self.graph.has_past or len({tuple(rows[place][0]) for place in shared}) == len(shared):
            return [(list(range(len(rows))), self._score_whole)]
        alone = [place for place, (context, _) in enumerate(rows) if len(context) == 1]
        return [(places, way) for places, way in ((shared, self._score_shared), (alone, self._score_whole)) if places]

    def _score_whole(self, rows):
        held = self.graph.begin(len(rows))
        firsts = [len(context) - 1 for context, _ in rows]
        return self._score_on(held, [list(context) + list(more[:-1]) for context, more in rows], firsts, rows)

    def _score_shared(self, rows):
        places, order = {}, []
        for context, _ in rows:
            order.append(places.setdefault(tuple(context[:-1]), len(places)))
        held = self.graph.begin(len(places))
        for _ in held.read(list(places)):
            pass
        self.tokens_run += sum(map(len, places))
        held.select(order)
        return self._score_on(held, [[context[-1]] + list(more[:-1]) for context, more in rows], [0] * len(rows), rows)

    def _score_on(self, held, given, firsts, rows):
        """Read what is given, and say how likely each continuation is; it begins behind the `firsts` token."""
        import numpy as np

        self.tokens_run += sum(map(len, given))
        logs, best = [[] for _ in rows], [[] for _ in rows]
        for start, scores in held.read(given):
            for row, (_, continuation) in enumerate(rows):
                begin = max(firsts[row], start)
                end = min(len(given[row]), start + scores.shape[1])
                if begin < end:
                    wanted = continuation[begin - firsts[row] : end - firsts[row]]
                    some, likeliest = logarithms(scores[row, begin - start : end - start], wanted)
                    logs[row].append(some)
                    best[row].append(likeliest)
        return [(np.concatenate(some), np.concatenate(likeliest)) for some, likeliest in zip(logs, best)]

    def write(self, contexts, settings, decode, is_over):
        for context in contexts:
            checked(list(context), self.size, self.longest)
        found = [None] * len(contexts)
        for places in self.graph.fitting([len(each) for each in contexts]):
            part = [list(contexts[place]) for place in places]
            for place, each in zip(places, self._write_together(part, settings, decode, is_over)):
                found[place] = each
        return found

    def _write_together(self, contexts, settings, decode, is_over):
        ends = self.stop_tokens if settings["stop_tokens"] is None else settings["stop_tokens"]
        texts = Texts(contexts, settings, ends, decode, is_over)
        held, scores, rows = self.graph.begin(len(contexts)), {}, list(range(len(contexts)))
        for start, some in held.read(contexts):
            for row, context in enumerate(contexts):
                if start < len(context) <= start + some.shape[1]:
                    scores[row] = some[row, len(context) - 1 - start].copy()
        self.tokens_run += sum(map(len, contexts))
        while True:
            now, following = nanoseconds(), []
            for row in rows:
                token = texts.add(row, scores[row], now)
                if token is not None:
                    following.append((row, token))
            if not following:
                return texts.written()
            if self.longest and max(held.lengths) >= self.longest:
                raise ModelError("there is no room for more than %d tokens" % self.longest)
            if len(following) < len(rows):
                held.select([rows.index(row) for row, _ in following])
                rows = [row for row, _ in following]
            scores = dict(zip(rows, held.step([token for _, token in following])))
            self.tokens_run += len(following)

    def profile_steps(self, use):
        names, run = [], self.graph.run

        def watched(run_once):
            def call(feeds, name):
                names.append(name)
                return run_once(feeds)

            self.graph.run = call
            use()

        try:
            profiles = self._predictor.profile_calls(watched)
        finally:
            self.graph.run = run
        return Steps(zip(names, profiles))

    def close(self):
        self._predictor.close()


class Graph(object):
    """A decoder's graph: which of its inputs gets what."""

    def __init__(self, predictor):
        self.predictor = predictor
        self.inputs = predictor.inputs
        names = [tensor.name for tensor in predictor.inputs]
        self.past = Past(predictor, {_PAST: _PRESENT} if any(name.startswith(_PAST) for name in names) else {})
        self.has_past = bool(self.past.places)
        unknown = [
            name
            for name in names
            if name not in self.past.places and name not in (_TOKENS, _MASK, _POSITIONS, _IS_CACHED) + _KEPT
        ]
        if unknown:
            raise ModelError("nobody knows what the decoder's input `%s` gets" % unknown[0])
        # Without both, a row that is filled up would be read as a longer one in some graphs.
        self._fills = _MASK in names and _POSITIONS in names
        self.fed = [(tensor, tensor.name if tensor.name in self.past.places else None) for tensor in self.inputs]
        self.scores = [tensor.name for tensor in predictor.outputs].index(_SCORES)
        self.vocabulary = None

    def try_out(self):
        """How many tokens it knows, found by a call."""
        ((_, scores),) = self.begin(1).read([[0]])
        self.vocabulary = scores.shape[-1]
        return self.vocabulary

    def run(self, feeds, name):
        """Call it; `name` says what for: `prefill`, or `decode` where one token more is read."""
        return self.predictor.run(feeds)

    def fitting(self, lengths):
        """Places of rows that go together: all, or those that are as long."""
        if self._fills:
            return [list(range(len(lengths)))]
        groups = {}
        for place, length in enumerate(lengths):
            groups.setdefault(length, []).append(place)
        return list(groups.values())

    def begin(self, rows):
        return Held(self, rows)

    def pieces(self, rows, count):
        """Of how many tokens the calls are that read so many."""
        if not self.has_past or self.vocabulary is None:
            return count
        return max(1, min(count, _MOST_SCORES // (rows * self.vocabulary)))


class Held(object):
    """What a graph has read of some rows: keys and values, or the tokens themselves where it remembers nothing."""

    def __init__(self, graph, rows):
        import numpy as np

        self._graph, self._past, self._rows = graph, None, rows
        self._mask = np.zeros((rows, 0), np.int64)
        self._tokens = np.zeros((rows, 0), np.int64)
        self.lengths = np.zeros(rows, np.int64)

    def select(self, order):
        """Go on with these rows, in this order; one may be there several times."""
        self._rows = len(order)
        if self._past is not None:
            self._past = {name: each[order] for name, each in self._past.items()}
        self._mask, self._tokens, self.lengths = self._mask[order], self._tokens[order], self.lengths[order]

    def read(self, rows):
        """Read on in each row, and yield (place of its first token, scores behind each token) of each piece in turn.
        Shorter rows are filled up on the right, where nothing sees it."""
        import numpy as np

        longest = max(map(len, rows))
        tokens, real = np.zeros((len(rows), longest), np.int64), np.zeros((len(rows), longest), np.int64)
        for row, each in enumerate(rows):
            tokens[row, : len(each)] = each
            real[row, : len(each)] = 1
        size = self._graph.pieces(len(rows), longest) if longest else 1
        for start in range(0, longest, size):
            yield start, self._call(tokens[:, start : start + size], real[:, start : start + size])

    def step(self, tokens):
        """Read one token more in each row; the scores behind it, a row each."""
        import numpy as np

        given = np.array(tokens, np.int64)[:, None]
        return self._call(given, np.ones_like(given), self.lengths[:, None], DECODE)[:, 0]

    def _call(self, tokens, real, positions=None, name=PREFILL):
        import numpy as np

        graph, count = self._graph, tokens.shape[1]
        self._mask = np.concatenate([self._mask, real], axis=1)
        if not graph.has_past:
            tokens = self._tokens = np.concatenate([self._tokens, tokens], axis=1)
            positions = np.maximum(np.cumsum(self._mask, axis=1) - 1, 0)
        elif positions is None:
            positions = np.maximum(self.lengths[:, None] + np.cumsum(real, axis=1) - 1, 0)
        self.lengths = self.lengths + real.sum(axis=1)
        made, past = {_TOKENS: tokens, _MASK: self._mask, _POSITIONS: positions}, self._past
        if past is None:
            feeds = [self._fed(tensor, made, count) for tensor, _ in graph.fed]
            graph.predictor.check(feeds)
        else:  # what the graph itself has made needs no look
            feeds = [past[each] if each else self._fed(tensor, made, count) for tensor, each in graph.fed]
        outputs = graph.run(feeds, name)
        scores = outputs[graph.scores]
        if scores.ndim != 3 or scores.shape[0] != self._rows or scores.shape[1] < count:
            raise ModelError("the decoder's scores are %s for %d rows of %d tokens" % (scores.shape, self._rows, count))
        if graph.has_past:
            self._past = graph.past.kept(past, outputs, None)
        return scores[:, -count:]

    def _fed(self, tensor, made, count):
        import numpy as np

        name, graph = tensor.name, self._graph
        if name in made:
            return np.ascontiguousarray(made[name], tensor.element_type)
        if name in graph.past.places:
            return graph.past.empty(name, self._rows)
        if name == _IS_CACHED:
            return np.array([self._past is not None])
        return np.array(count, tensor.element_type).reshape([1] * len(tensor.shape or ()))
