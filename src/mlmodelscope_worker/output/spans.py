"""Answer steps that bring what is said about tokens back to the characters of the text: entities, and answers to
questions."""

from ..parameters import Choice, Flag, Integer, Names, Number
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


def words_of(line, text):
    """Tokens by the word that they are pieces of: tokens whose characters touch, with no blank between, are one."""
    found, last = [], None
    for place, (part, span) in enumerate(zip(line.parts, line.spans)):
        if part != 0 or span is None or span[0] == span[1]:
            continue
        start = span[0]
        while start < span[1] and text[start].isspace():
            start += 1
        touches = last is not None and start == last and text[start : start + 1].isalnum() and text[last - 1].isalnum()
        if touches:
            found[-1].append(place)
        else:
            found.append([place])
        last = span[1]
    return found


@answer_step(TAGGING)
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
):
    """Join tags of tokens to entities in the text's own characters."""
    import numpy as np

    scores = scores_of(values, frame)
    if scores.shape[1] != len(labels):
        raise Refused("the model has %d classes of tokens, and `labels` names %d" % (scores.shape[1], len(labels)))
    line = frame.lines[0]
    number = frame.text_of(0, 0)
    places = frame.places(number)
    text = frame.cut_text(number)
    groups = words_of(line, text)
    if words == "apart":
        groups = [[place] for group in groups for place in group]
    tagged = []
    for group in groups:
        own = scores[group]
        chosen = (
            own[0]
            if words in ("first", "apart")
            else own.mean(axis=0)
            if words == "mean"
            else own[own.max(axis=1).argmax()]
        )
        start, end = line.spans[group[0]][0], line.spans[group[-1]][1]
        while start < end and text[start].isspace():
            start += 1
        tagged.append((labels[int(np.argmax(chosen))], start, end, float(chosen.max())))
    spans = [[places[start], places[end], kind, score] for start, end, kind, score in entities(tagged, scheme)]
    return {"spans": spans}


def entities(tagged, scheme):
    """(start, end, type, score) of each entity; tags that do not follow the scheme are taken as its readers do."""
    found, open_kind = [], None
    for tag, start, end, score in tagged:
        letter, kind = ("I", tag) if scheme == "plain" else (tag[:1].upper(), tag[2:])
        if letter == "O" or tag in ("O", "0", ""):
            open_kind = None
            continue
        alone = letter in ("U", "S")
        begins = letter == "B" or alone or open_kind != kind
        if scheme == "IOB1" and letter == "B":
            begins = True
        if begins:
            found.append([start, end, kind, score])
        else:
            found[-1][1] = end
            found[-1][3] = min(found[-1][3], score)
        open_kind = None if alone or letter in ("L", "E") else kind
    return [tuple(each) for each in found]


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

    starts, ends = (frame.of_row(np.asarray(values[role]).reshape(-1), 0) for role in ("start", "end"))
    line = frame.lines[0]
    part = 1 if within == "second" and 1 in line.parts else 0
    number = frame.text_of(0, part)
    own = [place for place, each in enumerate(line.parts) if each == part and line.spans[place] is not None]
    allowed = set(own)
    first = [
        place for place in np.argsort(-starts, kind="mergesort")[: best + len(starts) - len(own)] if place in allowed
    ]
    last = [place for place in np.argsort(-ends, kind="mergesort")[: best + len(ends) - len(own)] if place in allowed]
    pairs = [
        (float(starts[one] + ends[two]), -one, -two)
        for one in first[:best]
        for two in last[:best]
        if one <= two < one + longest
    ]
    none = float(starts[0] + ends[0])
    if not pairs or (may_be_none and none > max(pairs)[0] + margin):
        return {"text": "", "score": none}
    score, one, two = max(pairs)
    places = frame.places(number)
    text = frame.original(number)[places[line.spans[-one][0]] : places[line.spans[-two][1]]]
    return {"text": text.strip(), "score": score}
