"""Evidence as lines of text: flipped samples with their answers side by side, and small pictures where colours work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap
from typing import TextIO

from mlmodelscope.replicate.evidence import Choice, Evidence, Flip, Sight
from mlmodelscope.report import words
from mlmodelscope.worker.variants import Picture

_BAR = 12
_SCORE = 9
_SIDE = 28  # columns of a small picture; a character is twice as high as wide and shows two pixels
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Abilities:
    """What the output can show."""

    width: int = 100
    blocks: bool = False
    """Characters beyond ASCII."""
    colors: bool = False
    """Sixteen million of them."""


def abilities_of(stream: TextIO, environment: Mapping[str, str], width: int) -> Abilities:
    """A terminal shows blocks where it speaks UTF-8, and pictures where it says that it knows all colours."""
    if not stream.isatty():
        return Abilities(width)
    blocks = (stream.encoding or "").lower().replace("-", "") == "utf8"
    colors = environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") and not environment.get("NO_COLOR")
    return Abilities(width, blocks, blocks and colors)


def describe_flips(evidence: Evidence) -> str:
    """The numbers in one sentence."""
    right, wrong, other = (evidence.count(kind) for kind in ("fixed", "broken", "other answer"))
    samples = words.plural(evidence.compared, "sample")
    if evidence.is_graded:
        said = f"Of {samples}, {right} become better and {wrong} worse."
        return f"{said} {other} get another answer that is as good." if other else said
    return f"Of {samples}, {right} become right, {wrong} become wrong, {other} get another wrong answer."


def describe_change(flip: Flip, evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """(what, before, after) of a sample whose answer is more or less good: its claimed number first, if it has one."""
    if flip.number is not None and evidence.measure is not None:
        before, after = (words.in_unit(each, evidence.measure.unit) for each in flip.number)
        yield evidence.measure.title, before, after
    if flip.quality is not None:
        yield "quality", words.percent(flip.quality[0]), words.percent(flip.quality[1])


def describe_difference(sight: Sight) -> str:
    """How far what the model sees differs, in its own units."""
    if sight.is_same:
        return "The model sees the same; only its answer is read otherwise."
    reason = sight.after.reason or sight.before.reason
    apart = sight.difference
    if apart is None:
        if reason:
            return f"{reason}."
        if sight.before.tensor == sight.after.tensor:
            return "There is no difference picture: two stacks made them, each with a scale of its own."
        shapes = f"{sight.before.tensor or 'nothing'} before, {sight.after.tensor or 'nothing'} after"
        return f"There is no difference picture: the shapes differ ({shapes})."
    if not apart.largest:
        return "The tensors are the same, value by value."
    share = words.percent(apart.share, 0).replace("\N{NO-BREAK SPACE}", " ")
    said = f"{share} of the values differ, by {apart.largest:.3g} at most; {apart.mean:.3g} is the mean of all"
    return f"{said}; {reason}." if reason else f"{said}. Black is {sight.after.low:.3g}, white {sight.after.high:.3g}."


def stretched(stretch: float) -> str:
    """By how much the picture of a difference is brighter than it is."""
    if abs(stretch - 1) < 0.05:
        return "as it is"
    return f"× {stretch:.2g}" if stretch >= 1 or stretch > 0.5 else f"÷ {1 / stretch:.2g}"


def evidence_lines(evidence: Evidence, able: Abilities, shown: int = 3, listed: int = 12) -> Iterator[str]:
    """The most telling samples in full, the others in a line each."""
    yield describe_flips(evidence)
    if evidence.without_pictures:
        yield f"Nothing could be looked at: {evidence.without_pictures}"
    for flip in evidence.flips[:shown]:
        yield ""
        yield from _card(flip, evidence, able)
    rest = evidence.flips[shown : shown + listed]
    if rest:
        yield ""
        yield from _table(rest, evidence, able)
    left = len(evidence.flips) - shown - len(rest)
    if left > 0:
        yield f"and {words.count(left)} more"


def _card(flip: Flip, evidence: Evidence, able: Abilities) -> Iterator[str]:
    truth = f" is {_clean(flip.label, able)}" if flip.label is not None else ""
    yield f"{_clean(flip.sample, able)}{truth}: {flip.spelled}"
    half = max(40, min(64, (able.width - 4) // 2))
    yield f"  {'as the manifest says':<{half}}  with {_clean(evidence.cause.words, able)}"
    most = largest_score((*flip.before, *flip.after), evidence.probabilities)
    for pair in zip_longest(flip.before, flip.after):
        left, right = (_answer(each, most, evidence.probabilities, half, able) if each else "" for each in pair)
        yield f"  {left:<{half}}  {right}".rstrip()
    for what, *sides in describe_change(flip, evidence):
        left, right = (f"{what} {each}".replace("\N{NO-BREAK SPACE}", " ") for each in sides)
        yield f"  {left:<{half}}  {right}"
    if flip.sight is not None:
        said = _clean(describe_difference(flip.sight), able)
        yield from wrap(said, able.width, initial_indent="  ", subsequent_indent="  ")
        if able.colors:
            yield from _pictures(flip.sight)


def largest_score(choices: Sequence[Choice], probabilities: bool) -> float:
    """What a full bar stands for."""
    return 1.0 if probabilities else max((each.score for each in choices), default=0.0)


def share_of(score: float, most: float) -> float:
    """The length of a bar, 0 to 1."""
    return min(1.0, max(0.0, score / most)) if most > 0 else 0.0


def spell_score(score: float, probabilities: bool) -> str:
    return words.percent(score) if probabilities else words.significant(score)


def _answer(choice: Choice, most: float, probabilities: bool, width: int, able: Abilities) -> str:
    mark = ("✓" if able.blocks else "*") if choice.is_right else " "
    room = width - _BAR - _SCORE - 4
    name = _start(_clean(choice.name, able), room, able)
    score = spell_score(choice.score, probabilities).replace("\N{NO-BREAK SPACE}", " ")
    return f"{mark} {name:<{room}} {_bar(share_of(choice.score, most), able):<{_BAR}} {score:>{_SCORE}}"


def _bar(share: float, able: Abilities) -> str:
    if not able.blocks:
        return "#" * round(share * _BAR)
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _table(flips: Sequence[Flip], evidence: Evidence, able: Abilities) -> Iterator[str]:
    rows = [("sample", "" if evidence.is_graded else "is", "before", "after", "")]
    rows += [(flip.sample, flip.label or "", *both_ways(flip, evidence), flip.spelled) for flip in flips]
    room = max(12, (able.width - 30 - 12 - 8) // 3)
    cut = [
        (_end(_clean(row[0], able), 30, able), *(_start(_clean(cell, able), room, able) for cell in row[1:]))
        for row in rows
    ]
    widths = [max(len(row[column]) for row in cut) for column in range(5)]
    for row in cut:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def both_ways(flip: Flip, evidence: Evidence) -> tuple[str, str]:
    """What was answered before and after, or how good it was, in a word."""
    for _, before, after in describe_change(flip, evidence):
        return before.replace("\N{NO-BREAK SPACE}", " "), after.replace("\N{NO-BREAK SPACE}", " ")
    first, second = (each[0].name if each else "failed" for each in (flip.before, flip.after))
    return first, second


def _start(text: str, room: int, able: Abilities) -> str:
    return text if len(text) <= room else text[: room - 1] + _cut(able)


def _end(text: str, room: int, able: Abilities) -> str:
    """The end of a file's name says more than its beginning."""
    return text if len(text) <= room else _cut(able) + text[-(room - 1) :]


def _cut(able: Abilities) -> str:
    return "…" if able.blocks else "~"


def _pictures(sight: Sight) -> Iterator[str]:
    titled = [("before", sight.before.picture), ("after", sight.after.picture)]
    apart = sight.difference
    if apart is not None and apart.picture is not None and apart.stretch is not None:
        titled.append((f"difference {stretched(apart.stretch)}", apart.picture))
    drawn = [(title, list(half_blocks(picture))) for title, picture in titled if picture is not None]
    if not drawn:
        return
    yield "  " + "  ".join(f"{title:<{_SIDE}}" for title, _ in drawn).rstrip()
    for rows in zip(*(rows for _, rows in drawn), strict=False):
        yield "  " + "  ".join(rows)


def half_blocks(picture: Picture, side: int = _SIDE) -> Iterator[str]:
    """A picture as characters: the upper half of each has one colour, the lower another."""
    rows = max(1, round(side * picture.height / picture.width / 2))
    for row in range(rows):
        cells = []
        for column in range(side):
            upper, lower = (_color(picture, (2 * row + half) / (2 * rows), column / side) for half in (0, 1))
            cells.append(f"\x1b[38;2;{upper}m\x1b[48;2;{lower}m▀")
        yield "".join(cells) + "\x1b[0m"


def _color(picture: Picture, down: float, across: float) -> str:
    y, x = int(down * picture.height), int(across * picture.width)
    at = (y * picture.width + x) * picture.channels
    values = picture.pixels[at : at + picture.channels]
    return ";".join(str(value) for value in (values if picture.channels == 3 else bytes(values) * 3))


def _clean(text: str, able: Abilities) -> str:
    """Other people's words: nothing in them may steer the terminal."""
    shown = "".join(each if each.isprintable() else "?" for each in text)
    return shown if able.blocks else shown.encode("ascii", "replace").decode("ascii")
