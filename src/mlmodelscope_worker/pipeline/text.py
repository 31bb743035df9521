"""A text, perhaps with a second one beside it, and what is done to its characters before it becomes tokens."""

import unicodedata

from ..parameters import Choice, Flag
from .step import step
from .value import Opaque, SampleError

MOST_CHARACTERS = 1 << 21
_SIGMAS = ("\u03c2", "\u03c3")  # at the end of a word, and elsewhere


class Text(Opaque):
    """`text` as it is by now, and `pair` where there is a second one. Which characters of the original each one comes
    from is only worked out when somebody asks (`places`)."""

    kind, needed = "text", "`tokenize` makes them"

    def __init__(self, text, pair=None, before=None, follow=None):
        self.text = text
        self.pair = pair
        self._before = before
        self._follow = follow

    @property
    def original(self):
        """(text, pair) as the dataset has them."""
        found = self
        while found._before is not None:
            found = found._before
        return found.text, found.pair

    def changed(self, change, follow):
        """Both texts, changed by a function of one of them; `follow(before, after)` tells where characters went."""
        pair = None if self.pair is None else change(self.pair)
        return Text(change(self.text), pair, self, follow)

    def places(self, part):
        """For each character of a part (start, end) of what it comes from in the original; None if that is unclear."""
        text = (self.text, self.pair)[part]
        if self._before is None:
            return [(place, place + 1) for place in range(len(text))]
        earlier = self._before.places(part)
        moved = None if earlier is None else self._follow((self._before.text, self._before.pair)[part], text)
        return None if moved is None else [(earlier[start][0], earlier[end - 1][1]) for start, end in moved]


def read_text(content):
    """One text of a sample, as the host sends it."""
    text = content.get("text")
    if not isinstance(text, str):
        raise SampleError("it has no text")
    if len(text) > MOST_CHARACTERS:
        raise SampleError("a text of %d characters; at most %d" % (len(text), MOST_CHARACTERS))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SampleError("its character %d is half of a surrogate pair, which no text has" % error.start)
    return text


def clusters(text, change):
    """(start, characters) that are changed together, such as a letter and the marks that belong to it."""
    start = 0
    for place in range(1, len(text)):
        if text[place] > "\x7f":
            if unicodedata.combining(text[place]):
                continue
            own = text[start:place]
            if change(own + text[place]) != change(own) + change(text[place]):
                continue
        yield start, text[start:place]
        start = place
    if text:
        yield start, text[start:]


def follow_characters(change):
    """What tells where characters went that `change` made of others, a cluster at a time."""

    def plain(text):
        return change(text).replace(*_SIGMAS)  # which of the two it is depends on the whole word

    def follow(before, after):
        found, made = [], []
        for start, cluster in clusters(before, plain):
            made.append(plain(cluster))
            found.extend([(start, start + len(cluster))] * len(made[-1]))
        return found if "".join(made) == after.replace(*_SIGMAS) else None

    return follow


def follow_strip(before, after):
    first = len(before) - len(before.lstrip())
    return [(first + place, first + place + 1) for place in range(len(after))]


def follow_squeeze(before, after):
    """A blank stands for the whole run that it was made of."""
    found, blank = [], None
    for place, each in enumerate(before):
        if each.isspace():
            blank = place if blank is None else blank
            continue
        if blank is not None and found:
            found.append((blank, place))
        blank = None
        found.append((place, place + 1))
    return found


@step(takes="text")
def normalize_text(
    text,
    *,
    form: Choice("Unicode's form afterwards.", "keep", "NFC", "NFD", "NFKC", "NFKD") = "keep",
    case: Choice("What becomes of capital letters.", "keep", "lower", "upper", "fold") = "keep",
    accents: Choice("Whether marks over and under letters stay.", "keep", "strip") = "keep",
    whitespace: Choice(
        "`strip` cuts blanks off at both ends, `squeeze` also makes every run of blanks a single one.",
        "keep",
        "strip",
        "squeeze",
    ) = "keep",
    control: Flag("Drop control characters other than blanks.") = False,
):
    """Bring a text's characters into one form: Unicode, case, accents and blanks, in this order."""

    def change(content):
        if form != "keep":
            content = unicodedata.normalize(form, content)
        if case != "keep":
            content = {"lower": content.lower, "upper": content.upper, "fold": content.casefold}[case]()
        if accents == "strip":
            apart = unicodedata.normalize("NFD", content)
            bare = "".join(each for each in apart if not unicodedata.combining(each))
            content = unicodedata.normalize("NFC" if form in ("keep", "NFC", "NFKC") else "NFD", bare)
        if control:
            content = "".join(each for each in content if each.isspace() or unicodedata.category(each) != "Cc")
        return content

    text = text.changed(change, follow_characters(change))
    if whitespace == "squeeze":
        return text.changed(lambda content: " ".join(content.split()), follow_squeeze)
    return text.changed(str.strip, follow_strip) if whitespace == "strip" else text
