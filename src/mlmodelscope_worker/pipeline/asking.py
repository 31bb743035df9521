"""What is asked of a language model: to choose, to read, or to write. The last step before it."""

import re

from ..parameters import Choice, Flag, Integer, Names, Number, Numbers, Text
from .encoding import Encoding
from .step import step
from .value import Opaque, SampleError
from .wording import text_to_read, words_of

_BLANKS = re.compile(r"\s+")
_KEEPS = Choice(
    "What a record keeps of each question beside its numbers: the whole `prompt`, up to 32,768 characters and 8,192 "
    "tokens a sample; the `tokens` of what is asked about or written, with how likely they are; or `nothing`.",
    "prompt",
    "tokens",
    "nothing",
)
_BY_THE_ENGINE = Encoding(None, None, "none", None, None, "together", "continuation", None, "left")


class Question(Opaque):
    """A prompt, what is asked about it, and the rows that a model is to answer: (context, continuation) in tokens.

    `texts` are the same in words; for engines that take words, or the turns of a chat, they are the rows, too.
    """

    kind, needed = "question", "a language model answers it"
    rows = ()

    def __init__(self, prompt, call, settings):
        self.prompt = prompt
        self.call = call
        self.settings = settings
        self.encoding = prompt.encoding or _BY_THE_ENGINE
        self.tokens = None
        self.dropped = []
        """Of each row: tokens of its context that did not fit."""

    def shared(self):
        return self

    def prepared(self, engine):
        """With its tokens, made by the engine's tokenizer where no other is named; twice is once."""
        if self.tokens is None and getattr(engine, "takes_words", False):
            self.tokens = self.texts = words_of(self, engine)
        elif self.tokens is None:
            self.tokens = getattr(self, "_" + self.call)(engine)
        return self

    def _choose(self, engine):
        """For each choice its own row; behind them, where that is asked for, the same without the question."""
        pairs = self.prompt.pairs
        if self.settings["unconditional"]:
            before = self.settings["unconditional_context"]
            pairs = pairs + [(before, continuation) for _, continuation in pairs]
        self.texts = pairs
        return [self._fitted(each, engine) for each in pairs]

    def _fitted(self, pair, engine):
        """The tokens of a context and what comes next, as far as the model can take them."""
        whole = self.encoding.pair(*pair, engine=engine)
        kept = self.encoding.fitted(*(whole + (engine,)))
        self.dropped.append(len(whole[0]) - len(kept[0]))
        return kept

    def _read(self, engine):
        """The windows of a text."""
        self.text = text_to_read(self.prompt)
        context = self.prompt.joined(self.prompt.questions[0])
        if context:
            self.texts = [(context, self.prompt.delimiter + self.text)]
            return [self._fitted(self.texts[0], engine)]
        self.texts = [("", self.text)]
        tokens = self.encoding.tokens(self.text, engine)
        if not tokens:
            raise SampleError("a text without tokens cannot be read")
        longest = self.settings["window"] or self.encoding.longest or engine.longest
        if not longest:
            raise SampleError("nobody says how many tokens the model takes: `window`")
        overlap = self.settings["overlap"]
        if overlap >= longest:
            raise SampleError("windows of %d tokens cannot have %d in common" % (longest, overlap))
        if self.settings["first"] == "score":
            prefix = self.encoding.prefix(engine)
            if (
                tokens[:1] == [prefix] and len(tokens) > 1 and not self.settings["special"]
            ):  # it stands in front already, and is no part of the text
                tokens = tokens[1:]
            found = rolling(tokens, prefix, longest, max(1, overlap))
        else:
            found = strided(tokens, longest, overlap)
        found = found[: self.settings["windows"]] if self.settings["windows"] else found
        scored = [each for _, continuation in found for each in continuation]
        if len(scored) < len(tokens):  # words and bytes are counted of what is scored, not of the rest
            self.text = self.encoding.decoder(engine)(scored)
        return found

    def _write(self, engine):
        """The context alone."""
        context = self.prompt.joined(self.prompt.questions[0])
        self.texts = [(context, "")]
        found = self.encoding.tokens(context, engine) if context else []
        if not found:
            found = [self.encoding.prefix(engine)]
        longest = self.encoding.longest or engine.longest
        room = longest - self.settings["longest"] if longest else len(found)
        if room <= 0:
            raise SampleError("%d tokens may be written, and the model takes %d" % (self.settings["longest"], longest))
        if len(found) > room:
            if self.encoding.cut == "refuse":
                raise SampleError("it has %d tokens, and %d fit before the answer" % (len(found), room))
            self.dropped.append(len(found) - room)
            found = found[-room:] if self.encoding.cut == "left" else found[:room]
        return [(found, [])]


def rolling(tokens, prefix, longest, overlap):
    """Windows that score every token once; the first begins with a token that stands for nothing."""
    found = [([prefix], tokens[:longest])]
    done = len(found[0][1])
    while done < len(tokens):
        end = min(done + longest - overlap + 1, len(tokens))
        found.append((tokens[max(0, end - longest - 1) : done], tokens[done:end]))
        done = end
    return found


def strided(tokens, longest, overlap):
    """Windows of so many tokens; a window's first token is scored only where it was seen before, which is never."""
    found, done = [], 0
    while done < len(tokens):
        start = max(0, done - overlap)
        end = min(start + longest, len(tokens))
        first = max(done, start + 1)
        if first < end:
            found.append((tokens[start:first], tokens[first:end]))
        done = end
    return found


def count_words(text):
    """As lm-evaluation-harness counts: what stands between blanks, a blank at either end included."""
    return len(_BLANKS.split(text))


@step(takes="prompt", gives="question")
def choose(
    prompt,
    *,
    unconditional: Flag("Also ask how likely each choice is without the question.") = False,
    unconditional_context: Text("What stands before a choice then.") = "",
    keep: _KEEPS = "prompt",
):
    """Ask how likely each choice is to come next."""
    settings = {"unconditional": unconditional, "unconditional_context": unconditional_context, "keep": keep}
    return Question(prompt, "choose", settings)


@step(takes="prompt", gives="question")
def read(
    prompt,
    *,
    window: Integer("Tokens that the model sees at once; by default as many as it takes.", at_least=2) = None,
    overlap: Integer("Tokens that a window has in common with the one before it.", at_least=0) = 0,
    first: Choice(
        "Whether the first token of a text is scored, behind a token that stands for nothing, or every window's "
        "first token is skipped.",
        "score",
        "skip",
    ) = "score",
    windows: Integer("At most so many windows of a text.", at_least=1) = None,
    special: Flag("Score a token, too, that the tokenizer puts in front, as lm-evaluation-harness does.") = False,
    keep: _KEEPS = "prompt",
):
    """Ask how likely a text is, token by token."""
    settings = {"window": window, "overlap": overlap, "first": first, "windows": windows, "special": special}
    return Question(prompt, "read", dict(settings, keep=keep))


@step(takes="prompt", gives="question")
def write(
    prompt,
    *,
    longest: Integer("At most so many tokens.", at_least=1, at_most=1000000) = 256,
    stop: Names("Texts that end an answer; they are not part of it.", most=64) = None,
    stop_tokens: Numbers("Tokens that end an answer; by default the model's own.", most=64) = None,
    temperature: Number("0 takes the likeliest token each time; else tokens are drawn.", at_least=0, at_most=100) = 0.0,
    top_k: Integer("Draw among so many of the likeliest tokens.", at_least=1) = None,
    top_p: Number("Draw among the likeliest tokens that make up this share.", above=0, at_most=1) = None,
    seed: Integer("Seed of the draw.", at_least=0, at_most=2**53) = 0,
    repeats: Integer("How many answers are drawn to each question.", at_least=1, at_most=1000) = 1,
    keep: _KEEPS = "prompt",
):
    """Ask for an answer in words."""
    settings = {
        "longest": longest,
        "stop": stop or [],
        "stop_tokens": None if stop_tokens is None else [int(each) for each in stop_tokens],
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "seed": seed,
        "repeats": repeats,
        "keep": keep,
    }
    return Question(prompt, "write", settings)
