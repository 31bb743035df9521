"""What every engine that runs a language model looks like from outside: it scores continuations, and it writes.

Tokens are whole numbers, and a row is (context, continuation). How a text becomes tokens is said by the steps before;
an engine has a tokenizer of its own only where its files bring one.
"""

import zlib

from .predictor import NotSupported, Predictor

PREFILL, DECODE = "prefill", "decode"
"""What an engine does: it reads what is given until the first token comes, and then token by token."""


def seed_of(context, settings):
    """The seed of one text: it follows from what stands before it, so that no batch and no order changes it."""
    return (settings["seed"] + zlib.crc32(repr(context).encode("utf-8"))) % (1 << 31)


def is_followed(settings):
    """Whether a text is looked at while it grows: for an end that was asked for, or since somebody reads along."""
    return bool(settings["stop"] or settings.get("is_read_along"))


class Written(object):
    """What came of one context: tokens, and why they end. `moments` are when each came, in nanoseconds."""

    __slots__ = ("tokens", "text", "ending", "moments")

    def __init__(self, tokens, text, ending, moments=()):
        self.tokens = tokens
        self.text = text
        self.ending = ending
        """`stop`, or `length` where there was no more room."""
        self.moments = moments


class LanguageModel(Predictor):
    """A loaded language model. Subclasses implement `score` and `write`."""

    longest = None
    """Tokens that it takes at once."""
    size = None
    """How many tokens it knows; None where nobody tells."""
    side_by_side = 1
    """How many threads may ask it at the same time."""
    prefix = None
    """The token that stands before a text without context."""
    stop_tokens = ()
    """Those that end an answer, by the model's own files."""
    takes_words = False
    """Whether it takes texts as they are, and makes tokens of them itself, out of sight."""
    takes_turns = False
    """Whether it takes the turns of a chat, and writes them down by a template of its own, out of sight."""
    notes = ()
    """What a reader should know of how it was opened."""
    tokens_run = None
    """Tokens that went through the model so far, those of contexts that are shared once; None where nobody counts."""

    def encode(self, text, special):
        """Tokens of a text by the model's own vocabulary; `special` adds those that its files say."""
        raise NotSupported("this model brings no tokenizer: name one in `encode_prompt`")

    def decode(self, tokens):
        """A text of tokens, without special ones."""
        raise NotSupported("this model brings no tokenizer: name one in `encode_prompt`")

    def name_of(self, token):
        """How the vocabulary spells a token that is no text, such as one for the beginning; "" where nobody knows."""
        return ""

    def expect(self, call, batch_size):
        """Called once before anything is asked: `choose`, `read` or `write`, of so many samples at a time. An engine
        that cannot do it says so here."""

    def profile_steps(self, use):
        """Steps, each a Profile, of what `use()` makes the engine do: `prefill` and `decode`."""
        raise NotSupported("this engine's layers cannot be profiled here")

    def score(self, rows):
        """For each row ([logarithm of each token of the continuation], [whether it was the likeliest]).

        Where one row alone fails its place may have a ModelError; an engine that takes words gets texts for tokens.
        """
        raise NotImplementedError

    def write(self, contexts, settings, decode, is_over):
        """A Written for each context, or the ModelError that it came to.

        `decode` makes a text of tokens; `is_over(text)` says whether a text has come to one of the ends that were asked
        for, which the caller cuts off. It is asked after every token where `is_followed(settings)`.
        """
        raise NotImplementedError


def tokens_of(rows):
    """Tokens that must go through a model to score some rows, where what they have in common is computed once."""
    contexts = {tuple(context[:-1]) for context, _ in rows}
    return sum(map(len, contexts)) + sum(len(continuation) for _, continuation in rows)
