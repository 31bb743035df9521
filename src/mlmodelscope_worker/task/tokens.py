"""Token classification: spans of characters with their types."""

import operator

from ..output.boxes import Refused
from .reader import StepReader, task_reader
from .texts import plain_text

MOST_SPANS = 100000
MOST_TOKENS = 1000000


@task_reader("token_classification")
class TokenClassification(StepReader):
    """Reads `spans` as the answer steps leave them: [start, end, type] each, and perhaps how sure it is.

    `tokens`, where there are any, are the places [start, end] of the tokens that the model cut the text into.
    """

    def answer_of(self, values, frame):
        if "spans" not in values:
            raise Refused(
                "there are no spans, only %s: an answer step must make them" % (", ".join(sorted(values)) or "nothing")
            )
        spans = list(values["spans"])
        if len(spans) > MOST_SPANS:
            raise Refused("the model answered with %d spans; up to %d are kept" % (len(spans), MOST_SPANS))
        found = {"spans": [_span_of(each) for each in spans]}
        if values.get("tokens") is not None:
            found["tokens"] = _tokens_of(values["tokens"])
        return [], found


def _span_of(span):
    if len(span) not in (3, 4):
        raise Refused("a span has a start, an end and a type, this has %d parts" % len(span))
    start, end = int(span[0]), int(span[1])
    if not 0 <= start < end:
        raise Refused("a span from %d to %d is not a piece of text" % (start, end))
    score = None if len(span) < 4 or span[3] is None else float(span[3])
    if score is not None and not abs(score) < float("inf"):
        raise Refused("the model answered with not-a-number")
    return [start, end, plain_text(span[2]), score]


def _tokens_of(tokens):
    """Places of tokens, none of which begins before the last one ends."""
    if len(tokens) > MOST_TOKENS:
        raise Refused("the model answered with %d tokens; up to %d are kept" % (len(tokens), MOST_TOKENS))
    found, last = [], 0
    for each in tokens:
        if len(each) != 2:
            raise Refused("a token has a start and an end, this has %d parts" % len(each))
        start, end = operator.index(each[0]), operator.index(each[1])
        if not last <= start < end:
            raise Refused("a token from %d to %d does not follow the one before it" % (start, end))
        found.append([start, end])
        last = end
    return found
