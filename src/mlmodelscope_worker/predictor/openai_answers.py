"""What a server of the completions and chat protocol answers, believed only where it fits together."""

import math
import re

from ..clock import nanoseconds
from .openai_client import Again, parsed
from .predictor import ModelError
from .remote_address import printable
from .remote_http import Garbled

_MOST_LINE = 1 << 22
_SPELLED = re.compile(r"[^\x00-\x7f]|^bytes:|^<.*>$")  # tokens that are written otherwise than they stand in the text
_SLACK = 1e-4  # by which rounding may put a logarithm above that of certainty, or below the likeliest's


def scored(said, context, continuation):
    """(logarithms of the continuation's tokens, whether each was the likeliest), from a prompt that was echoed.

    The offsets of tokens in the text decide where the continuation begins: a token belongs to it that ends behind
    that place. The token that the server had to add at the end is no part of it.
    """
    import numpy as np

    prompt = context + continuation
    choice = _choice(said)
    text = choice.get("text")
    if not isinstance(text, str) or not text.lstrip().startswith(prompt.strip()):
        raise NoLogarithms()
    tokens, logs, offsets, tops = _told(choice)
    starts = _starts(tokens, offsets, prompt, text[max(0, text.find(prompt)) :])
    ends = starts[1:] + [max(len(prompt), starts[-1])]
    found, best = [], []
    for place, (start, end) in enumerate(zip(starts, ends)):
        if not 0 <= start < len(prompt) or max(end, start + 1) <= len(context):
            continue
        if logs[place] is None:
            if not (context or start or found):
                continue  # the very first token, before which there is nothing
            raise ModelError("the server scores no first token: say with `prefix` what stands before a text")
        found.append(_logarithm(logs[place]))
        best.append(_is_likeliest(found[-1], tops[place]))
    if not found:
        raise Again("echoed no token of the continuation")
    return np.array(found, "<f8"), np.array(best, bool)


def _choice(said):
    choices = said.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise Again("answered without exactly one choice")
    return choices[0]


def _told(choice):
    """(tokens, logarithms, offsets, logarithms of the likeliest) that are as many of each."""
    told = choice.get("logprobs")
    if not isinstance(told, dict):
        raise NoLogarithms()
    tokens, logs, offsets = told.get("tokens"), told.get("token_logprobs"), told.get("text_offset")
    tops = told.get("top_logprobs") or [None] * len(tokens or ())
    if not all(isinstance(each, list) for each in (tokens, logs, offsets, tops)) or not tokens:
        raise NoLogarithms()
    if not len(tokens) == len(logs) == len(offsets) == len(tops):
        counts = (len(tokens), len(logs), len(offsets))
        raise Again("gave %d tokens, %d logarithms and %d offsets" % counts)
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in offsets):
        raise Again("gave offsets that are no whole numbers")
    if any(after < before for before, after in zip(offsets, offsets[1:])):
        raise Again("gave offsets that go backwards")
    return tokens, logs, offsets, tops


class NoLogarithms(Exception):
    """The server answers, and tells no logarithms of the prompt's tokens."""


def _starts(tokens, offsets, prompt, echoed):
    """Offsets counted from where the prompt begins: some servers count a special token before it as text, or a blank
    that their vocabulary puts in front."""
    starts = [each - offsets[0] for each in offsets]
    for first, text in enumerate(tokens[:2]):
        bare = text if not isinstance(text, str) or prompt.startswith(text) else text.lstrip(" ")
        if bare and isinstance(text, str) and prompt.startswith(bare):
            shift = offsets[first] + len(text) - len(bare)
            starts = [max(0, each - shift) if place >= first else -1 for place, each in enumerate(offsets)]
            break
    else:
        first = 0
    for place, (text, start) in enumerate(zip(tokens, starts)):
        is_plain = isinstance(text, str) and not _SPELLED.search(text)
        if is_plain and place > first and echoed[start : start + len(text)] != text:
            raise Again("gave offsets that do not fit its tokens: %r is not at %d" % (printable(text, 40), start))
    return starts


def _logarithm(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Again("gave %s as the logarithm of a probability" % printable(value, 40))
    if value > _SLACK:
        raise Again("gave %g as the logarithm of a probability" % value)
    return min(float(value), 0.0)


def _is_likeliest(value, top):
    others = list(top.values()) if isinstance(top, dict) else []
    others = [each for each in others if isinstance(each, (int, float)) and each == each]
    return bool(others) and value >= max(others) - _SLACK


class Text(object):
    """A text as it comes: all at once, or piece by piece."""

    def __init__(self, is_chat):
        self._is_chat = is_chat
        self._pieces = []
        self.moments = []
        self.finish = None
        self.count = None
        self.model = self.fingerprint = None

    @property
    def text(self):
        return "".join(self._pieces)

    def take(self, kind, pieces):
        """Read an answer of either kind to its end; `Again` where it has none."""
        if kind != "text/event-stream":
            self._event(parsed(b"".join(bytes(piece) for piece in pieces), kind), "message")
        else:
            for event in _events(pieces):
                self._event(event, "delta")
        if self.finish is None:
            raise Again("broke off in the middle of its answer")
        return self

    def _event(self, said, key):
        if said.get("error"):
            raise Again("broke off with an error: %s" % printable(said["error"]))
        usage = said.get("usage")
        if isinstance(usage, dict) and isinstance(usage.get("completion_tokens"), int):
            self.count = max(0, usage["completion_tokens"])
        self.model, self.fingerprint = said.get("model") or self.model, said.get("system_fingerprint")
        choices = said.get("choices")
        if not isinstance(choices, list) or not all(isinstance(each, dict) for each in choices):
            raise Again("answered without a choice")
        for each in choices[:1]:
            part = each.get(key) or {} if self._is_chat else each
            piece = part.get("content" if self._is_chat else "text") if isinstance(part, dict) else None
            if piece is not None and not isinstance(piece, str):
                raise Again("answered with something else than a text")
            if piece:
                self._pieces.append(piece)
                self.moments.append(nanoseconds())
            self.finish = each.get("finish_reason") or self.finish

    @property
    def ending(self):
        if self.finish == "content_filter":
            raise ModelError("the server withheld its answer: content_filter")
        return "length" if self.finish == "length" else "stop"


def _events(pieces):
    """The objects of an event stream, up to [DONE] or its end."""
    held, data = b"", []
    try:
        for piece in pieces:
            held += bytes(piece)
            lines = held.split(b"\n")
            held = lines.pop()
            if len(held) > _MOST_LINE:
                raise Again("sent a line without an end")
            for line in lines:
                line = line.rstrip(b"\r")
                if line.startswith(b"data:"):
                    data.append(line[5:].strip())
                elif not line and data:
                    content, data = b"\n".join(data), []
                    if content == b"[DONE]":
                        _finish(pieces)
                        return
                    yield parsed(content)
    finally:
        pieces.close()
    if data and data != [b"[DONE]"]:
        yield parsed(b"\n".join(data))


def _finish(pieces):
    """Read what ends an answer, so that the connection can be used again; whatever else comes closes it."""
    try:
        next(pieces, None)
    except (OSError, Garbled):
        pass  # the answer is there


def spelled(value):
    """A word of the server's for the record, or None."""
    return printable(value) if isinstance(value, str) and value else None


def listed_models(said):
    """Names that a server lists."""
    rows = said.get("data")
    rows = rows if isinstance(rows, list) else []
    return [printable(each["id"]) for each in rows if isinstance(each, dict) and isinstance(each.get("id"), str)]
