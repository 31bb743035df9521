"""What queries to a language model are made of, and when each token of an answer came.

A query is a batch of questions, which the engine itself is asked: nothing is remembered from one query to the next.
"""

from array import array

from ...clock import nanoseconds
from ...failure import describe_failure
from ...messages import UNKNOWN
from ...predictor import Lost, ModelError
from ...predictor.language_model import tokens_of
from .random_questions import random_questions

_MOST_QUERIES = 1 << 40


class Questions(object):
    """`numbered` are calls that take turns without end, each with its number; `calls` the same without a number."""

    def __init__(self, session, samples, buffers, end_to_end, random=None):
        self.notes, self.end_to_end = [], end_to_end
        self._session, self._buffers, self._told = session, buffers, {}
        if random is not None:
            if end_to_end:
                raise ModelError("random tokens go to the model itself: no pipeline takes them")
            usable = asked = random_questions(session.predictor, random)
        else:
            usable, asked = self._prepared(samples)
        given, size = usable if end_to_end else asked, session.batch_size
        turns = max(1, len(given) // size)
        self._batches = [[given[(turn * size + slot) % len(given)] for slot in range(size)] for turn in range(turns)]
        self.numbered = _Numbered(self)
        self.calls = [(self._answer, batch) for batch in self._batches]

    def _prepared(self, samples):
        usable, asked, reason = [], [], "there are none"
        for sample in samples:
            try:
                asked.append(self._session.prepare(sample, self._buffers))
                usable.append(sample)
            except Lost:
                raise
            except Exception as error:
                reason = describe_failure(error)
        if not usable:
            raise ModelError("none of the samples can be used: %s" % reason)
        if len(usable) < len(samples):
            self.notes.append("%d samples that fail are left out: %s" % (len(samples) - len(usable), reason))
        return usable, asked

    def lanes(self, asked, scenario):
        """How many queries may be under way."""
        return self._session.predictor.side_by_side if scenario == "server" else 1

    def turn(self, number):
        """The query of a number: (function, its argument)."""

        def call(batch):
            begin = nanoseconds()
            self._told[number] = (begin, self._answer(batch))

        return call, self._batches[number % len(self._batches)]

    def _answer(self, batch):
        if not self.end_to_end:
            return self._session.ask_engine(batch)
        asked = [self._session.prepare(sample, self._buffers) for sample in batch]
        found = self._session.ask_engine(asked)
        for question, each in found:
            self._session.told_of(question, each)
        return found

    def begin(self):
        self._told = {}

    def told(self, queries, calls_per_query=1):
        """What came of the first queries, a row for each text: [number of its query, its tokens, tokens of the answer,
        nanoseconds from the beginning of the query to the first of them, and to the last], as arrays."""
        rows, failed, reason = [array("q") for _ in range(5)], 0, None
        for number in range(queries * calls_per_query):
            query = number // calls_per_query
            begin = self._told[query * calls_per_query][0]
            for question, found in self._told[number][1]:
                if isinstance(found, Exception):
                    failed, reason = failed + 1, describe_failure(found)
                    continue
                for column, value in zip(rows, (query,) + _row(question, found, begin)):
                    column.append(value)
        self._told = {}
        if failed and not len(rows[0]):
            raise ModelError("no question was answered: %s" % reason)
        notes = ["%d questions were not answered, and count for nothing: %s" % (failed, reason)] if failed else []
        return rows, notes


def _row(question, found, begin):
    """(tokens of a text, tokens of the answer, nanoseconds to the first, to the last)."""
    given = _given(question)
    if question.call != "write":
        return given, 0, UNKNOWN, UNKNOWN
    moments = found.moments
    count = max(len(found.tokens), len(moments))
    if not len(moments):
        return given, count, UNKNOWN, UNKNOWN
    return given, count, moments[0] - begin, moments[-1] - begin


def _given(question):
    """Tokens that a question gives to the model; unknown where it is asked in words."""
    context = question.tokens[0][0]
    if not all(isinstance(each, int) for each in context):
        return UNKNOWN
    return len(context) if question.call == "write" else tokens_of(question.tokens)


class _Numbered(object):
    """Calls without end."""

    def __init__(self, questions):
        self._questions = questions

    def __len__(self):
        return _MOST_QUERIES

    def __getitem__(self, number):
        return self._questions.turn(number)
