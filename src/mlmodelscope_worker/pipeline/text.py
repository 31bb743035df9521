"""A text, perhaps with a second one beside it, and what is done to its characters before it becomes tokens."""

import unicodedata

from ..parameters import Choice, Flag
from .step import step
from .value import Opaque, SampleError

MOST_CHARACTERS = 1 << 24


class Text(Opaque):
    """`text` as it is by now, and `pair` where there is a second one. Which character of the original each one comes
    from is only worked out when somebody asks (`places`)."""

    kind, needed = "text", "`tokenize` makes them"

    def __init__(self, text, pair=None, before=None, change=None):
        self.text = text
        self.pair = pair
        self._before = before
        self._change = change

    @property
    def original(self):
        """(text, pair) as the dataset has them."""
        found = self
        while found._before is not None:
            found = found._before
        return found.text, found.pair

    def changed(self, change):
        """Both texts, changed by a function of one of them."""
        pair = None if self.pair is None else change(self.pair)
        return Text(change(self.text), pair, self, change)

    def places(self, part):
        """For each border between characters of a part its place in the original; None where nobody can tell."""
        text = (self.text, self.pair)[part]
        if self._before is None:
            return list(range(len(text) + 1))
        earlier = self._before.places(part)
        moved = borders((self._before.text, self._before.pair)[part], text, self._change)
        return None if earlier is None or moved is None else [earlier[each] for each in moved]


def read_text(content):
    """One text of a sample, as the host sends it."""
    text = content.get("text")
    if not isinstance(text, str):
        raise SampleError("it has no text")
    if len(text) > MOST_CHARACTERS:
        raise SampleError("a text of %d characters; at most %d" % (len(text), MOST_CHARACTERS))
    return text


def clusters(text):
    """Characters with the marks that belong to them: what Unicode's forms change together."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not (unicodedata.combining(text[place]) or _goes_on(text[place - 1], text[place])):
            yield start, text[start:place]
            start = place


def _goes_on(one, two):
    """Whether two parts of a Korean syllable are written one behind the other."""
    return (
        "\u1100" <= one <= "\u11ff"
        and "\u1160" <= two <= "\u11ff"
        or ("\uac00" <= one <= "\ud7a3" and "\u11a7" <= two <= "\u11ff")
    )


def borders(before, after, change):
    """For each border of `after` its place in `before`, where `change` made one of the other; None if that is unclear.

    Blanks are lost and squeezed across borders, so they are matched first, from left to right.
    """
    found, at, done = [], 0, 0
    for start, cluster in clusters(before):
        made = change(cluster) if not cluster.isspace() else ""
        if cluster.isspace():
            if after[at : at + 1].isspace() and (done == at or not after[at - 1 : at].isspace()):
                found.append(start)
                at += 1
            continue
        if after[at : at + len(made)] != made:
            return None
        found.extend([start] * len(made))
        at += len(made)
    if at != len(after):
        return None
    return found + [len(before)]


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
        if whitespace == "squeeze":
            return " ".join(content.split())
        return content.strip() if whitespace == "strip" else content

    return text.changed(change)
