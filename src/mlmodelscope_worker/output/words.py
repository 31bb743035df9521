"""Answer steps that make words of a model's tokens: the best of a CTC model, and tokens back to text."""

from ..generation import NO_TOKEN
from ..parameters import Choice, File, Integer, Numbers
from ..pipeline import library as libraries
from ..pipeline.tokens import opened
from .boxes import Refused
from .step import answer_step

WRITING = ("speech_recognition", "translation", "summarization", "text_generation", "question_answering")


@answer_step(("speech_recognition",), share=True)
def ctc(values, share, *, blank: Integer("The number of the class that stands for nothing.", at_least=0) = 0):
    """Take the best class of each moment, join repetitions and drop blanks (greedy CTC).

    Where a sound was filled up to share a batch, its share of the moments is read, and not what stands for the fill.
    """
    import numpy as np

    known = [role for role in ("logits", "probability", "tensor") if role in values]
    if len(known) != 1 or values[known[0]].ndim != 2:
        raise Refused("one output of moments x classes is needed; there is %s" % ", ".join(sorted(values)))
    scores = values[known[0]]
    if blank >= scores.shape[1]:
        raise Refused("`blank` is %d, and the model has %d classes" % (blank, scores.shape[1]))
    best = np.argmax(share.of(scores), axis=1)
    changes = np.append(True, best[1:] != best[:-1])
    return {"tokens": best[changes & (best != blank)]}


def _vocabulary(library, file):
    unknown = 0 if library == "wordpiece" else None  # only who cuts a text needs one
    return opened(library, file, False, unknown)


def _open(parameters):
    _vocabulary(parameters["library"], parameters["file"])


@answer_step(WRITING, ready=_open)
def detokenize(
    values,
    frame,
    *,
    file: File("Which of the manifest's `files` has the vocabulary."),
    library: Choice("What reads that file.", *libraries.DETOKENIZERS) = "tokenizers",
    leave_out: Numbers("Tokens that stand for no text.", most=65536) = None,
):
    """Make a text of tokens."""
    if "tokens" not in values:
        raise Refused("there are no tokens, only %s" % ", ".join(sorted(values)))
    dropped = set(leave_out or ()) | {NO_TOKEN}
    tokens = [int(each) for each in values["tokens"] if int(each) not in dropped]
    return {"text": _vocabulary(library, file).text(tokens)}
