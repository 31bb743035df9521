"""How a prompt becomes tokens: where context and continuation part, what stands in front, what is cut."""

from ..parameters import Choice, File, Integer, ParameterError
from . import library as libraries
from .step import step
from .tokens import opened
from .value import SampleError


class Encoding(object):
    """One way to make tokens; without a library the tokenizer of the engine that runs the model does it."""

    def __init__(self, library, file, special_tokens, start, empty, join, spaces, longest, cut):
        self.library, self.file = library, file
        self._special, self._start, self.empty = special_tokens, start, empty
        self._join, self._spaces = join, spaces
        self.longest, self.cut = longest, cut

    def _plain(self, text, special, engine):
        if self.library is None:
            return list(engine.encode(text, special))
        return list(opened(self.library, self.file, False, None).line(text, special).ids)

    def tokens(self, text, engine, is_first=True):
        """The tokens of a text; one that is the first of all gets what stands in front."""
        if not is_first or self._special == "none":
            found = self._plain(text, False, engine)
        else:
            found = self._plain(text, True, engine)
            if self._special == "once" and len(found) > 1 and found[0] == found[1]:
                found = found[1:]
        return [self._start] + found if is_first and self._start is not None else found

    def spaced(self, context, continuation):
        """Both, with the blanks between them where they belong."""
        if self._spaces == "context":
            return context, continuation
        kept = context.rstrip()
        return kept, context[len(kept) :] + continuation

    def check_words(self):
        """An engine that takes words makes tokens its own way."""
        for name, value in (("library", self.library), ("start", self._start), ("longest", self.longest)):
            if value is not None:
                raise SampleError("this engine takes words and makes tokens itself: leave `%s` out" % name)

    def pair(self, context, continuation, engine):
        """(tokens of the context, tokens of what comes next)."""
        context, continuation = self.spaced(context, continuation)
        if not context:
            return self._without_context(continuation, engine)
        before = self.tokens(context, engine)
        if self._join == "apart":
            return before, self.tokens(continuation, engine, is_first=False)
        return before, self.tokens(context + continuation, engine)[len(before) :]

    def _without_context(self, continuation, engine):
        found = self.tokens(continuation, engine, is_first=False)
        first = self.prefix(engine)
        return (found[:1], found[1:]) if found[:1] == [first] else ([first], found)

    def prefix(self, engine):
        """The token that stands before a text without any context."""
        first = self.empty if self.empty is not None else getattr(engine, "prefix", None)
        if first is None:
            raise SampleError("it has no context, and nobody says which token stands for that: `empty`")
        return first

    def decoder(self, engine):
        """What makes a text of tokens."""
        return engine.decode if self.library is None else opened(self.library, self.file, False, None).text

    def fitted(self, context, continuation, engine):
        """Both, cut so that the model can take them. A model sees all but the very last token."""
        longest = self.longest or engine.longest
        excess = len(context) + len(continuation) - 1 - longest if longest else 0
        if not continuation:
            raise SampleError("there is no token that could be asked about")
        if excess <= 0:
            return context, continuation
        if self.cut == "refuse" or excess >= len(context):
            raise SampleError("it has %d tokens, and %d fit" % (len(context) + len(continuation), longest))
        kept = context[excess:] if self.cut == "left" else context[: len(context) - excess]
        return kept, continuation


def _settle(parameters):
    if parameters["library"] is not None and parameters["file"] is None:
        raise ParameterError("the file with the vocabulary is missing", parameter="file")
    if parameters["library"] not in ("tokenizers", None) and parameters["special_tokens"] != "none":
        raise ParameterError(
            "a file of %s does not say which special tokens there are" % parameters["library"],
            parameter="special_tokens",
            hint="say the first one with `start`",
        )
    return parameters


def _ready(parameters):
    if parameters["library"] is not None:
        opened(parameters["library"], parameters["file"], False, None)


@step(takes="prompt", settle=_settle, ready=_ready)
def encode_prompt(
    prompt,
    *,
    library: Choice(
        "What cuts texts into tokens, with a file of the manifest's; by default the model's own tokenizer.",
        *libraries.TOKENIZERS,
    ) = None,
    file: File("Which of the manifest's `files` has the vocabulary.") = None,
    special_tokens: Choice(
        "Whether the special tokens are added that the file says, such as one for the beginning: `once` leaves a "
        "first one out that the text already has.",
        "none",
        "always",
        "once",
    ) = "none",
    start: Integer("A token in front of everything.", at_least=0) = None,
    empty: Integer("The token that stands before a text without context; by default the model's own.", at_least=0) = (
        None
    ),
    join: Choice(
        "Whether context and continuation are cut into tokens `together` and parted then, or each by itself.",
        "together",
        "apart",
    ) = "together",
    spaces: Choice("Where blanks go that end the context.", "continuation", "context") = "continuation",
    longest: Integer("At most so many tokens are given to the model; by default as many as it takes.", at_least=1) = (
        None
    ),
    cut: Choice("Where tokens of the context are dropped that do not fit.", "left", "right", "refuse") = "left",
):
    """Say how a prompt becomes tokens."""
    made = Encoding(library, file, special_tokens, start, empty, join, spaces, longest, cut)
    return prompt.changed(encoding=made)
