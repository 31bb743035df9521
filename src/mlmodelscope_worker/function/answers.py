"""What a manifest's functions answered, in the form that the host keeps."""

from ..failure import describe_failure
from ..output.answer import NO_CLASS, AnswerError, classify, spell
from ..protocol import MAX_HEADER
from ..task.classification import FORM

MOST_BYTES = MAX_HEADER // 2  # of a batch's answers: they travel in a header, with others


class ClassAnswers(object):
    """Classes and scores, which travel as rectangles of numbers."""

    def __init__(self, top_k, names, label_offset):
        self._top_k, self._names, self._label_offset = top_k, names, label_offset

    def settle(self, work, answers):
        """(content, buffers); an answer that cannot be used is a failed sample."""
        rows = _each(work, answers, lambda answer: classify(answer, self._top_k, self._names))
        if not rows:
            return {}, ()
        kept, scores = self._buffers(rows)
        return {"form": FORM, "k": kept.shape[1], "improbable": 0, "ties": {}}, (kept, scores)

    def _buffers(self, rows):
        """(classes, scores) as rectangles. A shorter answer is filled up with NO_CLASS: no other may be cut for it."""
        import numpy as np

        width = max(len(classes) for classes, _ in rows)
        kept = np.full((len(rows), width), NO_CLASS, np.int32)
        scores = np.zeros((len(rows), width), np.float32)
        for row, (classes, values) in enumerate(rows):
            kept[row, : len(classes)] = np.array(classes, np.int64) - self._label_offset
            scores[row, : len(values)] = values
        return kept, scores


class TextAnswers(object):
    """Answers of any other task, which travel as JSON in the header."""

    def settle(self, work, answers):
        """(content, no buffers)."""
        size = [0]

        def text_of(answer):
            text = spell(answer)
            size[0] += _size_inside_json(text)
            if size[0] > MOST_BYTES:
                raise AnswerError("the answers of one batch are larger than %d MiB" % (MOST_BYTES >> 20))
            return text

        return {"form": "texts", "texts": _each(work, answers, text_of)}, ()


def _each(work, answers, settle):
    """The good samples' answers; one that cannot be settled is a failed sample."""
    settled = []
    for slot, answer in zip(list(work.good), answers):
        try:
            settled.append(settle(answer))
        except Exception as error:
            reason = str(error) if isinstance(error, AnswerError) else describe_failure(error)
            work.fail("postprocess: %s" % reason, slot)
    return settled


def _size_inside_json(text):
    """Bytes that it takes as a text in the header of a message."""
    return len(text.encode("ascii", "backslashreplace")) + text.count('"') + text.count("\\")
