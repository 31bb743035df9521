"""What there is to see of a sample: what is true of it and what was answered, as shapes that lie over its picture.

A task makes them (`Task.shapes`); report, pages and `predict` draw whatever there is. Places are in pixels of the
original.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mlmodelscope.task.levels import OTHERS, Levels
from mlmodelscope.task.mask import map_png

Side = Literal["truth", "answer"]
Named = Callable[[int], str]
"""A class's name, by its number."""
SHOWN_ABOVE = 0.3
"""Answers with a lower score are hidden at first: detectors give many of them."""
MOST_MARKED = 500
"""Pieces of a text that are marked; it has more only where a model went astray."""
COLORS = ("#e4572e", "#17bebb", "#ffc914", "#7b5ea7", "#2e86ab", "#a5be00", "#f15bb5", "#8d6a4f")
"""Told apart in light and in dark, and by most who see colors differently; the pages have the same."""
CLEAR = "#00000000"
"""The color of what is not drawn, such as the background of a class map."""


@dataclass(frozen=True, slots=True)
class BoxShape:
    """A thing, by the rectangle around it."""

    side: Side
    left: float
    top: float
    right: float
    bottom: float
    name: str = ""
    score: float | None = None
    remark: str = ""
    """What is special about it: `crowd`, `difficult`."""
    kind: Literal["box"] = "box"


@dataclass(frozen=True, slots=True)
class MaskShape:
    """Pixels of one thing, or of all classes."""

    side: Side
    png: str
    """A PNG in base64 that is stretched over the whole picture as it is: in color, transparent where nothing is."""
    legend: tuple[tuple[str, str], ...] = ()
    """(name, color) of what is in it."""
    score: float | None = None
    shares: tuple[float, ...] = ()
    """Of all pixels, for each of the legend, where it is a map of classes."""
    box: tuple[float, float, float, float] | None = None
    """Left, top, right and bottom of a single thing."""
    area: int | None = None
    """Pixels of a single thing."""
    remark: str = ""
    """What is special about it: `crowd`."""
    kind: Literal["mask"] = "mask"

    @property
    def name(self) -> str:
        """Of what is drawn; of the background only where there is nothing else."""
        drawn = [name for name, color in self.legend if color != CLEAR]
        return ", ".join(drawn or [name for name, _ in self.legend])


@dataclass(frozen=True, slots=True)
class PointsShape:
    """Places that belong together, such as the joints of a person."""

    side: Side
    points: tuple[tuple[float, float], ...]
    lines: tuple[tuple[int, int], ...] = ()
    """Which of them are connected, by their places in `points`."""
    name: str = ""
    score: float | None = None
    box: tuple[float, float, float, float] | None = None
    """Left, top, right and bottom of what they are the points of, where it is known."""
    kind: Literal["points"] = "points"


@dataclass(frozen=True, slots=True)
class PictureShape:
    """A picture of its own, such as an enhanced one."""

    side: Side
    png: str
    """A PNG in base64."""
    name: str = ""
    score: float | None = None
    width: int = 0
    height: int = 0
    channels: int = 0
    low: float | None = None
    """The least value, where it is known."""
    high: float | None = None
    kind: Literal["picture"] = "picture"


@dataclass(frozen=True, slots=True)
class TextShape:
    """Words."""

    side: Side
    text: str
    name: str = ""
    score: float | None = None
    remark: str = ""
    """What is special about it: `cut off at 256 tokens`."""
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class LabelShape:
    """A class of the whole sample, of which there may be several."""

    side: Side
    name: str
    score: float | None = None
    kind: Literal["label"] = "label"


@dataclass(frozen=True, slots=True)
class SpansShape:
    """A text in which pieces are marked, such as names of people. Places are characters of the text."""

    side: Side
    text: str
    spans: tuple[tuple[int, int, str, float | None], ...] = ()
    """Start, end (behind the last character), type and how sure it is, in the order of the text; they may overlap."""
    name: str = ""
    score: float | None = None
    remark: str = ""
    """What is special about it: `cut off at 256 tokens`."""
    kind: Literal["spans"] = "spans"

    def pieces(self) -> list[tuple[str, tuple[str, ...]]]:
        """The text cut where a span begins or ends, each piece with the types of the spans that it lies in."""
        size = len(self.text)
        inside = [(max(0, start), min(end, size), name) for start, end, name, _ in self.spans[:MOST_MARKED]]
        borders = sorted({0, size, *(at for start, end, _ in inside if start < end for at in (start, end))})
        return [
            (self.text[start:end], tuple(name for first, last, name in inside if first <= start and end <= last))
            for start, end in zip(borders, borders[1:], strict=False)
        ]


Change = Literal["equal", "replace", "delete", "insert"]


@dataclass(frozen=True, slots=True)
class DifferenceShape:
    """An answer beside the true text, word by word."""

    side: Side
    parts: tuple[tuple[Change, str, str], ...]
    """What happened to some words: the change, the true words and the words of the answer."""
    name: str = ""
    score: float | None = None
    kind: Literal["difference"] = "difference"

    @property
    def text(self) -> str:
        """The words of the answer."""
        return " ".join(answered for _, _, answered in self.parts if answered)


@dataclass(frozen=True, slots=True)
class TokensShape:
    """A text token by token, with how likely each was."""

    side: Side
    tokens: tuple[tuple[str, int, float | None], ...]
    """What it adds to the text, its number in the vocabulary, and the logarithm of its probability where known."""
    more: int = 0
    """Tokens behind these that are left out."""
    name: str = ""
    score: float | None = None
    kind: Literal["tokens"] = "tokens"


@dataclass(frozen=True, slots=True)
class ChoicesShape:
    """How likely each of several choices is, by each rule that choices are compared by."""

    side: Side
    choices: tuple[str, ...]
    rules: tuple[tuple[str, tuple[float, ...], int], ...]
    """Its name, a number for each choice (logarithms of likelihoods, divided by what the rule says), and the choice
    that it takes."""
    right: tuple[int, ...] = ()
    used: str = ""
    """The rule that the dataset declares, where it is known."""
    name: str = ""
    score: float | None = None
    kind: Literal["choices"] = "choices"


Shape = (
    BoxShape
    | MaskShape
    | PointsShape
    | PictureShape
    | TextShape
    | LabelShape
    | SpansShape
    | DifferenceShape
    | TokensShape
    | ChoicesShape
)


_KINDS: dict[str, type[Shape]] = {
    "box": BoxShape,
    "mask": MaskShape,
    "points": PointsShape,
    "picture": PictureShape,
    "text": TextShape,
    "label": LabelShape,
    "spans": SpansShape,
    "difference": DifferenceShape,
    "tokens": TokensShape,
    "choices": ChoicesShape,
}


def read_shapes(plain: Sequence[Mapping[str, Any]]) -> tuple[Shape, ...]:
    """As JSON had them; kinds and facts of a newer release are left out."""
    known = [(_KINDS[each["kind"]], each) for each in plain if each["kind"] in _KINDS]
    return tuple(
        kind(**{name: _tupled(each[name]) for name in kind.__dataclass_fields__ if name in each})
        for kind, each in known
    )


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def is_shown(shape: Shape, above: float = SHOWN_ABOVE) -> bool:
    """Truth always is, and answers without a score."""
    return shape.side == "truth" or shape.score is None or shape.score >= above


def colors_of(shapes: Sequence[Shape]) -> dict[str, str]:
    """A color for each name, in the order in which they come."""
    names = dict.fromkeys(each.name for each in shapes)
    return {name: COLORS[place % len(COLORS)] for place, name in enumerate(names)}


def summary(shapes: Sequence[Shape], side: Side, above: float = SHOWN_ABOVE) -> str:
    """In a few words: `2 person, dog`."""
    shown = [each for each in shapes if each.side == side and is_shown(each, above)]
    words = [word for each in shown for word in _words(each)]
    return ", ".join(f"{count} {word}" if count > 1 else word for word, count in Counter(words).most_common())


def _words(shape: Shape) -> list[str]:
    if isinstance(shape, SpansShape):
        return [f"{name} {shape.text[max(0, start) : end]}" for start, end, name, _ in shape.spans[:MOST_MARKED]]
    if isinstance(shape, TokensShape | ChoicesShape):
        return []  # texts beside them say it in words
    return [shape.text if isinstance(shape, TextShape | DifferenceShape) else shape.name or shape.kind]


def class_map(levels: Levels, named: Named, void: Sequence[int] = (), side: Side = "answer") -> MaskShape:
    """A class for each pixel, row by row: an answer as a tint, the truth as lines around its classes, so that both can
    be seen over each other. `void` are numbers that are not drawn, nor is a class that is called background."""
    shape, colors = _map_shape(levels, named, void, side), _map_colors(levels, named, void)
    drawn = {place: colors[number] for place, number in enumerate(levels.numbers) if colors.get(number, CLEAR) != CLEAR}
    png = map_png(levels.plane, levels.width, levels.height, drawn, is_filled=side == "answer")
    return replace(shape, png=base64.b64encode(png).decode("ascii"))


def class_names(levels: Levels, named: Named, void: Sequence[int] = (), side: Side = "answer") -> MaskShape:
    """The same without its pixels, for lists."""
    return _map_shape(levels, named, void, side)


def _map_colors(levels: Levels, named: Named, void: Sequence[int]) -> dict[int, str]:
    return {
        number: CLEAR if _called(number, named).strip("_").lower() == "background" else COLORS[number % len(COLORS)]
        for number in levels.counts()
        if number not in void
    }


def _map_shape(levels: Levels, named: Named, void: Sequence[int], side: Side) -> MaskShape:
    colors, counts = _map_colors(levels, named, void), levels.counts()
    legend = tuple((_called(number, named), color) for number, color in colors.items())
    shares = tuple(counts[number] / max(1, len(levels.plane)) for number in colors)
    return MaskShape(side, "", legend, shares=shares)


def _called(number: int, named: Named) -> str:
    return "other classes" if number == OTHERS else named(number)


def named_by(names: Sequence[str] | Mapping[int, str]) -> Named:
    """Names by number; a number without one is called by it."""
    known = dict(enumerate(names)) if not isinstance(names, Mapping) else names
    return lambda number: known.get(number) or f"class {number}"
