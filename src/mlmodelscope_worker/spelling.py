"""What a language model is shown of a document, in words and in tokens: for people, and for the record."""

from .pieces import clean

MOST_CHARACTERS = 32768
"""Of the texts that a record keeps of a sample; of longer ones the middle is left out."""
MOST_TOKENS = 8192
"""Of a sample: those of its answer first, then those that stand right before it."""


class Room(object):
    """How much more may be told; without limits all of it."""

    def __init__(self, characters=None, tokens=None):
        self._characters, self._tokens = characters, tokens

    def text(self, text):
        """{text, omitted, end}: what is left out stood between `text` and `end`."""
        most = len(text) if self._characters is None else min(self._characters, len(text))
        if self._characters is not None:
            self._characters -= most
        if most == len(text):
            return {"text": clean(text), "omitted": 0, "end": ""}
        half = (most + 1) // 2
        end = text[len(text) - (most - half) :] if most > half else ""
        return {"text": clean(text[:half]), "omitted": len(text) - most, "end": clean(end)}

    def tokens(self, tokens, pieces, last):
        """{tokens, pieces, more}: the last ones, or the first; `more` are so many that are left out."""
        most = len(tokens) if self._tokens is None else min(self._tokens, len(tokens))
        if self._tokens is not None:
            self._tokens -= most
        kept = [int(each) for each in (tokens[len(tokens) - most :] if last else tokens[:most])]
        return {"tokens": kept, "pieces": pieces.of(kept), "more": len(tokens) - most}


def kept_room():
    return Room(MOST_CHARACTERS, MOST_TOKENS)


def spell(question, pieces, room, written=(), with_prompt=True):
    """{call, contexts, rows}: contexts stand once, however many rows have them.

    A row has `context`, its number among the contexts; `choice`, its number among the choices or None; `alone`, whether
    the question is left out; and what comes next as `text` (None where only tokens are known) and tokens.
    `written` are the Written of each repetition.
    """
    asked = _written_rows(question, written) if question.call == "write" else _rows(question)
    rows, contexts, numbers = [], [], {}
    for context, continuation, tokens, more in asked:
        key = (str(context), None if tokens is None else tuple(tokens[0]))
        if key not in numbers:
            numbers[key] = len(contexts)
            contexts.append((context, None if tokens is None else tokens[0], more.pop("dropped", 0)))
        more.pop("dropped", None)
        row = dict({"context": numbers[key], "choice": None, "alone": False}, **more)
        row.update(_told(continuation, None if tokens is None else tokens[1], pieces, room, False))
        rows.append(row)
    told = []
    for context, tokens, dropped in contexts if with_prompt else ():
        turns = context if isinstance(context, list) else None
        found = _told(None if turns else context, tokens, pieces, room, True)
        told.append(dict(found, dropped=dropped, turns=turns and [_turn(each, room) for each in turns]))
    return {"call": question.call, "contexts": told, "rows": rows}


def _told(text, tokens, pieces, room, last):
    found = {"text": None, "omitted": 0, "end": ""} if text is None else room.text(text)
    if tokens is None:
        return dict(found, tokens=None, pieces=None, more=0)
    return dict(found, **room.tokens(list(tokens), pieces, last))


def _turn(turn, room):
    return dict(room.text(turn["content"]), role=turn["role"])


def _rows(question):
    """(context, continuation, their tokens or None, more) of each row."""
    words = question.tokens is question.texts
    count = len(question.prompt.questions) if len(question.prompt.questions) > 1 else len(question.prompt.choices)
    for number, tokens in enumerate(question.tokens):
        more = {"dropped": question.dropped[number] if number < len(question.dropped) else 0}
        if question.call == "choose":
            more.update(choice=number % count, alone=number >= count)
        if len(question.texts) != len(question.tokens):  # windows of one text
            yield None, None, tokens, more
            continue
        context, continuation = question.texts[number]
        if not words:
            context, continuation = question.encoding.spaced(context, continuation)
        yield context, continuation, None if words else tokens, more


def _written_rows(question, written):
    """The prompt, with each answer; or with nothing, where there is none yet."""
    words = question.tokens is question.texts
    context, before = question.texts[0][0], question.tokens[0][0]
    more = {"dropped": question.dropped[0] if question.dropped else 0}
    for each in written or (None,):
        said = [] if each is None else [token for token in each.tokens if token is not None]
        text = "" if each is None else each.text
        yield context, text, None if words else (before, said), dict(more)
