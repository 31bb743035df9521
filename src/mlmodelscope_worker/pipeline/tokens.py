"""Tokens: numbers that stand for pieces of a text, and the steps that make, cut and fill them."""

import functools
import os

from ..parameters import Choice, File, Flag, Integer, ParameterError
from ..predictor import ModelError
from . import library as libraries
from .block import Block, InBlock
from .step import step
from .value import Frame, SampleError, Tensor

SPECIAL = -1
MOST_BYTES = 1 << 28
TENSORS = ("ids", "mask", "types", "positions", "length", "ones", "zeros")


class Line(object):
    """The tokens of one row: their numbers, which of two texts each belongs to, and where it lies in that text.

    `parts` are 0 and 1, and -1 for tokens that stand for no text; `spans` are (start, end) in characters, or None.
    """

    __slots__ = ("ids", "_types", "_mask", "_parts", "_spans")

    def __init__(self, ids, types=None, parts=None, spans=None, mask=None):
        """Each but the numbers is a list, or what makes it when it is asked for, which is seldom: by default all
        tokens are real, of type 0 and of the first text."""
        self.ids = ids
        self._types = types
        self._mask = mask
        self._parts = parts
        self._spans = spans

    @property
    def types(self):
        if self._types is None:
            self._types = [0] * len(self.ids)
        elif not isinstance(self._types, list):
            self._types = self._types()
        return self._types

    @property
    def is_real(self):
        """Whether no token is there to fill the row up."""
        return self._mask is None

    @property
    def mask(self):
        if self._mask is None:
            self._mask = [1] * len(self.ids)
        return self._mask

    @property
    def parts(self):
        if self._parts is None:
            self._parts = [0] * len(self.ids)
        elif not isinstance(self._parts, list):
            self._parts = self._parts()
        return self._parts

    @property
    def raw_parts(self):
        """The same, in which tokens of no text may be anything but 0 and 1."""
        return self.parts

    @property
    def spans(self):
        if self._spans is None:
            self._spans = [None] * len(self.ids)
        elif not isinstance(self._spans, list):
            self._spans = self._spans()
        return self._spans

    def kept(self, places):
        """Some of its tokens, in their order."""

        def some(row):
            return [row[place] for place in places]

        mask = None if self._mask is None else some(self._mask)
        return Line(
            some(self.ids), lambda: some(self.types), lambda: some(self.parts), lambda: some(self.spans), mask=mask
        )

    def without(self, first, end):
        """The same without the tokens from one place to another."""
        return LineWithout(self, first, end)

    def filled(self, missing, token, side):
        """The same with so many more tokens that stand for nothing."""

        def more(row, value):
            return [value] * missing + row if side == "left" else row + [value] * missing

        return Line(
            more(list(self.ids), token),
            more(self.types, 0),
            lambda: more(self.parts, SPECIAL),
            lambda: more(self.spans, None),
            mask=more(self.mask, 0),
        )


class LineWithout(Line):
    """A row without some of its tokens; what else is known of the others is asked for seldom."""

    __slots__ = ("_whole", "_first", "_end")

    def __init__(self, whole, first, end):
        self._whole, self._first, self._end = whole, first, end
        self.ids = self._some(whole.ids)
        self._mask = None if whole._mask is None else self._some(whole._mask)

    def _some(self, row):
        return row[: self._first] + row[self._end :]

    @property
    def types(self):
        return self._some(self._whole.types)

    @property
    def parts(self):
        return self._some(self._whole.parts)

    @property
    def spans(self):
        return self._some(self._whole.spans)


class TokenFrame(Frame):
    """Where the tokens of a sample lie in its texts."""

    def __init__(self, tokens):
        self._tokens = tokens
        self.lines = tokens.lines
        self.side = tokens.fill[1] if tokens.fill else "right"
        """On which side shorter rows are filled up when samples share a batch."""
        self.is_pair = tokens.is_pair

    def text_of(self, row, part):
        """The number of the text that a part of a row is: 0 is the sample's first, 1 its second."""
        number = row if self._tokens.several else part
        return 1 - number if self._tokens.is_swapped else number

    def original(self, number):
        """That text, as the dataset has it."""
        return self._tokens.text.original[number]

    def cut_text(self, number):
        """That text as it was cut into tokens."""
        return (self._tokens.text.text, self._tokens.text.pair)[number]

    def places(self, number):
        """For each character of the text that was cut into tokens (start, end) of its place in the original."""
        found = self._tokens.text.places(number)
        if found is None:
            raise SampleError("nobody can tell where the characters of the changed text lie in the original")
        return found

    @property
    def to_original(self):
        return tuple(tuple(line.ids) for line in self.lines)

    def of_row(self, tensor, row):
        """The part of a row's outputs that stands for its tokens, without what it was filled up with."""
        count = len(self.lines[row].ids)
        if len(tensor) < count:
            raise SampleError("the model answered about %d of %d tokens" % (len(tensor), count))
        return tensor[len(tensor) - count :] if self.side == "left" else tensor[:count]


class Tokens(object):
    """The tokens of a sample; its array is their numbers unless `take` chooses another tensor."""

    __slots__ = ("text", "lines", "several", "fill", "is_swapped", "is_pair", "_frame")
    kind, fresh = "tokens", False

    def __init__(self, text, lines, several=False, fill=None, is_swapped=False, is_pair=False):
        self.text = text
        self.lines = lines
        self.several = several
        self.fill = fill
        """(token, side) where rows are filled up to the longest of their batch."""
        self.is_swapped = is_swapped
        self.is_pair = is_pair
        """Whether a row is two texts, one of which may have no tokens."""
        self._frame = None

    @property
    def frame(self):
        if self._frame is None:
            self._frame = TokenFrame(self)
        return self._frame

    @property
    def array(self):
        return self.tensor("ids").array

    @property
    def rows(self):
        return self.tensor("ids").rows

    def with_array(self, array, fresh=True):
        return Tensor(array, fresh, self.frame, self.fill, self.several)

    def with_rows(self, change):
        return self.tensor("ids").with_rows(change)

    def shared(self):
        return self

    def with_lines(self, change, fill=None):
        lines = [change(line) for line in self.lines] if change is not None else self.lines
        if fill is None and lines == self.lines:
            return self
        return Tokens(self.text, lines, self.several, fill or self.fill, self.is_swapped, self.is_pair)

    def tensor(self, name):
        """One tensor of numbers, for each row."""
        import numpy as np

        fill = _fill_of(self.fill, name)
        if not self.several:
            return Tensor(np.array(_numbers(self.lines[0], name), np.int64), True, self.frame, fill)
        made = [np.array(_numbers(line, name), np.int64) for line in self.lines]
        return Tensor(made, True, self.frame, fill, True)


def _fill_of(fill, name):
    """What rows of one tensor are filled up with where those of tokens are."""
    if fill is None or name == "ids":
        return fill
    return None if name == "length" else (int(name == "ones"), fill[1])


def _numbers(line, name):
    if name == "ids":
        return line.ids
    if name == "mask":
        return line.mask
    if name == "types":
        return line.types
    if name in ("ones", "zeros"):
        return [int(name == "ones")] * len(line.ids)
    return list(range(len(line.ids))) if name == "positions" else sum(line.mask)


class Guarded(object):
    """A tokenizer whose file does not fit a text fails that sample: libraries in Rust panic, which is no Exception."""

    def __init__(self, name, found):
        self._name = name
        self._found = found
        self.takes_many = hasattr(found, "lines")

    def lines(self, given, special):
        return self._asked("cut the texts", self._found.lines, given, special)

    def line(self, text, special):
        return self._asked("cut the text", self._found.line, text, special)

    def pair(self, text, other, special):
        return self._asked("cut the texts", self._found.pair, text, other, special)

    def text(self, tokens):
        return self._asked("make a text of the tokens", self._found.text, tokens)

    def _asked(self, what, method, *given):
        try:
            return method(*given)
        except (SampleError, ModelError, KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            line = str(error).split("\n")[0][:200]
            raise SampleError("%s cannot %s: %s" % (self._name, what, line or type(error).__name__))


@functools.lru_cache(maxsize=16)
def opened(name, path, lowercase, unknown):
    """A tokenizer, read once: something with `line(text, special)`, `pair(text, other, special)`, and
    `lines(texts, special)` where it takes many at once."""
    module = libraries.load(name)
    try:
        size = os.path.getsize(path)
        if size > MOST_BYTES:
            raise ModelError("the tokenizer's file has %d bytes; at most %d" % (size, MOST_BYTES))
        return Guarded(name, module.read(path, lowercase, unknown))
    except (ModelError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # libraries in Rust panic, which is no Exception
        line = str(error).split("\n")[0][:200]
        raise ModelError("%s cannot read the tokenizer's file: %s" % (name, line or type(error).__name__))


def _open(parameters):
    opened(*(parameters[name] for name in ("library", "file", "lowercase", "unknown")))


def _settle_tokenize(parameters):
    if parameters["special_tokens"] and parameters["library"] != "tokenizers":
        raise ParameterError(
            "a file of %s does not say which special tokens there are" % parameters["library"],
            parameter="special_tokens",
            hint="leave `special_tokens` out, and say them in a step `special_tokens`",
        )
    return parameters


_BY_THE_FILE = {
    "anyOf": [
        {"properties": {"special_tokens": {"const": False}}},
        {"properties": {"library": {"const": "tokenizers"}}},
    ]
}


def _tokenize_all(texts, file, library, special_tokens, pair, order, lowercase, unknown):
    made = opened(library, file, lowercase, unknown)
    if not made.takes_many:
        raise NotImplementedError
    orders = [_in_order(each, pair, order) for each in texts]
    given = [each for one, _ in orders for each in one]
    lines = iter(made.lines(given, special_tokens))
    return [_tokens(text, [next(lines) for _ in one], swapped, one) for text, (one, swapped) in zip(texts, orders)]


def _in_order(text, pair, order):
    """(what becomes a row each: texts, or a tuple of two, whether the second text comes first)."""
    first, second = text.text, text.pair
    if second is None:
        return (first,), False
    is_swapped = order == "swapped"
    if is_swapped:
        first, second = second, first
    if pair == "first":
        return (first,), is_swapped
    return ((first, second) if pair == "apart" else ((first, second),)), is_swapped


def _tokens(text, lines, is_swapped, given):
    return Tokens(text, lines, len(given) > 1, None, is_swapped, isinstance(given[0], tuple))


@step(takes="text", gives="tokens", settle=_settle_tokenize, rules=[_BY_THE_FILE], ready=_open, together=_tokenize_all)
def tokenize(
    text,
    *,
    file: File("Which of the manifest's `files` has the vocabulary."),
    library: Choice("What reads that file and cuts a text into tokens.", *libraries.TOKENIZERS) = "tokenizers",
    special_tokens: Flag("Add the special tokens that the file says, such as [CLS] and [SEP].") = False,
    pair: Choice(
        "Two texts of a sample become one row `together`, or a row each, `apart`; or the second is left out: `first`.",
        "together",
        "apart",
        "first",
    ) = "together",
    order: Choice("Which text of a pair comes first.", "as_given", "swapped") = "as_given",
    lowercase: Flag("For `wordpiece`: lower case without accents, as uncased vocabularies want it.") = False,
    unknown: Integer("For `wordpiece` and `bpe`: the token of what the vocabulary does not have.", at_least=0) = None,
):
    """Cut a text into tokens, in the order and by the rules of a vocabulary."""
    made = opened(library, file, lowercase, unknown)
    given, is_swapped = _in_order(text, pair, order)
    lines = [
        made.pair(each[0], each[1], special_tokens) if isinstance(each, tuple) else made.line(each, special_tokens)
        for each in given
    ]
    return _tokens(text, lines, is_swapped, given)


@step(takes="tokens")
def special_tokens(
    tokens,
    *,
    first: Integer("The token in front.", at_least=0) = None,
    between: Integer("The token between two texts.", at_least=0) = None,
    last: Integer("The token at the end.", at_least=0) = None,
    types: Choice(
        "Whether the second text's tokens are of type 1, as BERT has it, or all of type 0.", "bert", "none"
    ) = ("bert"),
):
    """Add tokens that stand for no text: in front, between two texts, at the end."""

    def wrap(line):
        cut = next((place for place, part in enumerate(line.parts) if part == 1), len(line.ids))
        pieces = [(first, 0, range(cut)), (between if tokens.is_pair else None, 0, range(cut, len(line.ids)))]
        made = []
        for token, kind, here in pieces + [(last, int(tokens.is_pair), ())]:
            if token is not None:
                made.append((token, kind, SPECIAL, None))
            made.extend((line.ids[at], max(0, line.parts[at]), line.parts[at], line.spans[at]) for at in here)
        ids, kinds, parts, spans = ([each[row] for each in made] for row in range(4))
        return Line(ids, kinds if types == "bert" else None, parts, spans)

    return tokens.with_lines(wrap)


@step(takes="tokens", main="length")
def truncate(
    tokens,
    *,
    length: Integer("At most so many tokens, special ones included.", at_least=1),
    side: Choice("Where tokens are dropped.", "right", "left") = "right",
    strategy: Choice(
        "Which of two texts is cut: the longer one, token by token; only the first; only the second.",
        "longest_first",
        "only_first",
        "only_second",
    ) = "longest_first",
):
    """Drop tokens of the text until a row is short enough; special tokens stay."""

    def cut(line):
        if len(line.ids) <= length:
            return line
        if strategy == "longest_first":
            cut = _cut_one(line, len(line.ids) - length, side)
            if cut is not None:
                return cut
        own = [[place for place, part in enumerate(line.parts) if part == number] for number in (0, 1)]
        counts = _counts(strategy, [len(each) for each in own], length - len(line.ids) + len(own[0]) + len(own[1]))
        kept = set()
        for places, count in zip(own, counts):
            kept.update(places[:count] if side == "right" else places[len(places) - count :])
        return line.kept([place for place, part in enumerate(line.parts) if part == SPECIAL or place in kept])

    return tokens.with_lines(cut)


def _cut_one(line, excess, side):
    """A row of one text, whose tokens stand side by side, without those that are too many; None for other rows."""
    parts = line.raw_parts
    count = parts.count(0)
    if 1 in parts or excess > count:
        return None
    first = parts.index(0)
    end = first + count
    if parts[first:end].count(0) < count:
        return None
    return line.without(first, first + excess) if side == "left" else line.without(end - excess, end)


def _counts(strategy, counts, room):
    """How many tokens of each of two texts are left where there is room for so many of both together."""
    if room < 0:
        raise SampleError("the special tokens alone are more than `truncate` leaves room for")
    if strategy == "longest_first":
        shorter = min(min(counts), room // 2)
        longer = min(max(counts), room - shorter)
        return (longer, shorter) if counts[0] > counts[1] else (shorter, longer)
    which = int(strategy == "only_second")
    left = room - counts[1 - which]
    if left <= 0:
        words = ("second" if which else "first", counts[which], sum(counts) - room)
        raise SampleError("only the %s text may be cut, and of its %d tokens %d are too many" % words)
    return (counts[0], left) if which else (left, counts[1])


@step(takes="tokens")
def pad_tokens(
    tokens,
    *,
    length: Integer(
        "All rows get so many tokens; without it as many as the longest of their batch.", at_least=1
    ) = None,
    token: Integer("What they are filled up with.", at_least=0) = 0,
    side: Choice("Where it is added.", "right", "left") = "right",
):
    """Fill rows up to one length, so that samples can share a batch; the mask says which tokens are real."""
    if length is None:
        return tokens.with_lines(None, fill=(token, side))

    def fill(line):
        missing = length - len(line.ids)
        if missing < 0:
            raise SampleError("%d tokens do not fit into %d: `truncate` first" % (len(line.ids), length))
        return line.filled(missing, token, side) if missing else line

    return tokens.with_lines(fill)


def _take_all(all_tokens, tensor):
    """One array of all rows, where they are of one length or filled up to one."""
    fill = _fill_of(all_tokens[0].fill, tensor)
    if tensor == "length":
        raise NotImplementedError
    lines = [line for each in all_tokens for line in each.lines]
    is_mask = tensor == "mask" and all([line.is_real for line in lines])
    block = Block.mask(lines, fill) if is_mask else Block.of([_numbers(line, tensor) for line in lines], fill)
    made, first = [], 0
    for each in all_tokens:
        made.append(InBlock(block, first, len(each.lines), each))
        first += len(each.lines)
    return made


@step(takes="tokens", gives="tensor", main="tensor", together=_take_all)
def take(tokens, *, tensor: Choice("Which numbers an input of the model takes.", *TENSORS)):
    """Choose one tensor of the tokens: their numbers, which are real, of which text, their places, how many; or as
    many ones or zeros, for models that were fed so."""
    return tokens.tensor(tensor)
