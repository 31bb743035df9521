"""Answer steps that bring what is said about tokens back to the characters of the text: entities, and answers to
questions."""

import unicodedata

from ..parameters import Choice, Flag, Integer, Names, Number, ParameterError
from ..pipeline.library.wordpiece import is_chinese
from .boxes import Refused
from .step import answer_step

TAGGING = ("token_classification",)
ANSWERING = ("question_answering",)


def scores_of(values, frame):
    """Scores of the tokens of a sample, tokens x classes, without what the row was filled up with."""
    known = [role for role in ("logits", "probability", "tensor") if role in values]
    if len(known) != 1:
        raise Refused("one output of scores is needed; there is %s" % ", ".join(sorted(values)))
    found = values[known[0]]
    if found.ndim != 2:
        raise Refused("scores of tokens have an axis of tokens and one of classes; this has %d axes" % found.ndim)
    if not hasattr(frame, "of_row"):
        raise Refused("the input was not made by `tokenize`: nobody knows where its tokens lie")
    return frame.of_row(found, 0)


def words_of(line, text, parted_by="punctuation"):
    """Tokens by the word that they are pieces of: those whose characters touch, with nothing between that parts words.

    Chinese has no blanks: each of its characters is a word, unless a token has several.
    """
    found, last = [], None
    for place, (part, span) in enumerate(zip(line.parts, line.spans)):
        start, end = trimmed(span, text) if part == 0 and span is not None else (0, 0)
        if start == end:
            continue
        touches = last is not None and start <= last
        if touches and parted_by == "punctuation" and start == last:
            touches = _goes_on(text[last - 1], text[start])
        if touches:
            found[-1].append(place)
        else:
            found.append([place])
        last = end
    return found


def trimmed(span, text):
    """A span without blanks at its ends: some tokenizers count the blank before a word as part of it."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _goes_on(one, two):
    """Whether two characters that touch are of one word: letters, their marks, numbers."""
    return all(unicodedata.category(each)[0] in "LMN" and not is_chinese(each) for each in (one, two))


def _settle_tags(parameters):
    """Refuse tags that the scheme does not have."""
    letters = _LETTERS[parameters["scheme"]]
    tags = [read_tag(each, parameters["scheme"]) for each in parameters["labels"]]
    strange = [tag for tag, (letter, _) in zip(parameters["labels"], tags) if letter not in letters]
    if strange or all(letter == "O" for letter, _ in tags):
        what = "`%s` is not a tag of the scheme" % strange[0] if strange else "`labels` has no tag of the scheme"
        raise ParameterError(
            "%s %s" % (what, parameters["scheme"]),
            parameter="labels" if not strange else "scheme",
            hint="tags are a letter, a dash and a name; the scheme plain has names alone",
        )
    return parameters


@answer_step(TAGGING, settle=_settle_tags)
def join_tags(
    values,
    frame,
    *,
    labels: Names("The tag of each class, such as `O`, `B-PER`, `I-PER`, in the order of the output."),
    scheme: Choice(
        "What the letters mean: `BIO`; `IOB1`, where B only parts neighbors; `BILOU` and `BIOES`; `plain` has names "
        "without letters.",
        "BIO",
        "IOB1",
        "BILOU",
        "BIOES",
        "plain",
    ) = "BIO",
    words: Choice(
        "What counts for a word of several tokens: its `first` token, the `best` or the `mean` score, or each token is "
        "`apart`.",
        "first",
        "best",
        "mean",
        "apart",
    ) = "first",
    parted_by: Choice(
        "What parts words: blanks and `punctuation`, or `blank`s alone, as in texts that were cut into words before.",
        "punctuation",
        "blank",
    ) = "punctuation",
    strays: Choice(
        "Entities that do not begin and end as the scheme wants it: `keep` them, as conlleval does, or `drop` them.",
        "keep",
        "drop",
    ) = "keep",
):
    """Join tags of tokens to entities in the text's own characters."""
    scores = scores_of(values, frame)
    if scores.shape[1] != len(labels):
        raise Refused("the model has %d classes of tokens, and `labels` names %d" % (scores.shape[1], len(labels)))
    line = frame.lines[0]
    number = frame.text_of(0, 0)
    text = frame.cut_text(number)
    groups = words_of(line, text, parted_by)
    if words == "apart":
        groups = [[place] for group in groups for place in group]
    tagged = []
    for group in groups:
        chosen = _chosen(scores[group], words)
        start, _ = trimmed(line.spans[group[0]], text)
        _, end = trimmed(line.spans[group[-1]], text)
        tagged.append((labels[int(chosen.argmax())], start, end, float(chosen.max())))
    places = frame.places(number)
    return {
        "spans": [
            [places[start][0], places[end - 1][1], kind, score]
            for start, end, kind, score in entities(tagged, scheme, strays == "drop")
        ]
    }


def _chosen(scores, words):
    """The scores of a word, of those of its tokens."""
    if words == "mean":
        return scores.mean(axis=0)
    return scores[scores.max(axis=1).argmax()] if words == "best" else scores[0]


_LETTERS = {"BIO": "BIO", "IOB1": "BIO", "BILOU": "BILOU", "BIOES": "BIOES", "plain": "IO"}
_STARTS = {"BIO": "B", "IOB1": "BI", "BILOU": "BU", "BIOES": "BS", "plain": "I"}
_ENDS = {"BIO": "BI", "IOB1": "BI", "BILOU": "LU", "BIOES": "ES", "plain": "I"}
"""With which letters entities begin and end."""


def read_tag(tag, scheme):
    """(letter, type) of a tag; what is none, such as `[PAD]`, is outside of everything."""
    if scheme == "plain":
        return ("O", "") if tag in ("O", "0", "") else ("I", tag)
    if len(tag) < 3 or tag[1] not in "-_" or not tag[0].isalpha():
        return "O", ""
    return tag[0].upper(), tag[2:]


def entities(tagged, scheme, only_whole=False):
    """(start, end, type, score) of each entity; tags that do not follow the scheme are taken as its readers do."""
    found, open_kind = [], None
    for tag, start, end, score in tagged:
        letter, kind = read_tag(tag, scheme)
        if letter == "O":
            open_kind = None
            continue
        alone = letter in ("U", "S")
        if letter == "B" or alone or open_kind != kind:
            found.append([start, end, kind, score, letter, letter])
        else:
            found[-1][1], found[-1][3], found[-1][5] = end, min(found[-1][3], score), letter
        open_kind = None if alone or letter in ("L", "E") else kind
    return [
        tuple(each[:4]) for each in found if not only_whole or (each[4] in _STARTS[scheme] and each[5] in _ENDS[scheme])
    ]


@answer_step(ANSWERING)
def answer_span(
    values,
    frame,
    *,
    longest: Integer("An answer has at most so many tokens.", at_least=1) = 30,
    best: Integer("So many of the best starts and ends are tried.", at_least=1) = 20,
    may_be_none: Flag("Whether the first token stands for: there is no answer (SQuAD 2.0).") = False,
    margin: Number("How much better no answer must be than the best one.") = 0.0,
    within: Choice("Which of two texts has the answer.", "second", "first") = "second",
):
    """Choose the best start and end, and cut the answer out of the text."""
    import numpy as np

    if "start" not in values or "end" not in values or not hasattr(frame, "of_row"):
        raise Refused("outputs `start` and `end` about tokens are needed; there is %s" % ", ".join(sorted(values)))
    starts, ends = (frame.of_row(np.asarray(values[role]).reshape(-1), 0) for role in ("start", "end"))
    line = frame.lines[0]
    part = 1 if within == "second" and frame.is_pair else 0
    number = frame.text_of(0, part)
    own = np.array([place for place, each in enumerate(line.parts) if each == part and line.spans[place]], int)
    first, last = (own[np.argsort(-each[own], kind="mergesort")[:best]] for each in (starts, ends))
    pairs = [
        (float(starts[one] + ends[two]), -one, -two) for one in first for two in last if one <= two < one + longest
    ]
    none = float(starts[0] + ends[0])
    if not pairs or (may_be_none and none > max(pairs)[0] + margin):
        return {"text": "", "score": _finite(none)}
    score, one, two = max(pairs)
    start, end = line.spans[-one][0], line.spans[-two][1]
    if start >= end:
        return {"text": "", "score": _finite(score)}
    places = frame.places(number)
    return {"text": frame.original(number)[places[start][0] : places[end - 1][1]].strip(), "score": _finite(score)}


def _finite(score):
    """What JSON can tell: a model may rule a token out with minus infinity."""
    return score if abs(score) < float("inf") else None
