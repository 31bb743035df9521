"""Token classification: spans of characters with their types."""

from ..output.boxes import Refused
from .reader import StepReader, task_reader
from .texts import plain_text

MOST_SPANS = 100000


@task_reader("token_classification")
class TokenClassification(StepReader):
    """Reads `spans` as the answer steps leave them: [start, end, type] each, and perhaps how sure it is."""

    def answer_of(self, values, frame):
        if "spans" not in values:
            raise Refused(
                "there are no spans, only %s: an answer step must make them" % (", ".join(sorted(values)) or "nothing")
            )
        spans = list(values["spans"])
        if len(spans) > MOST_SPANS:
            raise Refused("the model answered with %d spans; up to %d are kept" % (len(spans), MOST_SPANS))
        return [], {"spans": [_span_of(each) for each in spans]}


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
