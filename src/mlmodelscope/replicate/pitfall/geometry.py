"""Which part of a picture the model sees, and how it is scaled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope_worker.pipeline import library

_FRACTIONS = (0.875, 1.0, 0.9, 0.8, 0.95)
"""Parts of the shorter side, the most common first."""
_USUAL_SIDES = (232, 256, 320)
"""Lengths to which the shorter side is often brought before a square of another size is cut out."""
_LEAST = 0.72
_PIXELS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
_FINER = (-0.05, -0.04, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.04, 0.05)
_ALIKE = 0.005


@dataclass(frozen=True)
class Frame:
    """What the steps between decoding and arithmetic come to: a part of the picture, brought to a size."""

    height: int
    width: int
    fraction: float
    """Side of the part as a share of the picture's."""
    is_square: bool
    """Whether the part is a square of the shorter side; else it has the picture's shape and is squeezed in."""
    crops_first: bool
    resize: Step
    first: int
    last: int
    """Positions of the steps that it is read from."""
    offset: str = "floor"
    """How half a pixel of a crop's place is rounded."""
    method: str = "center"
    """Where the part lies."""

    def steps(self) -> list[Step]:
        size = [self.height, self.width]
        common = {key: self.resize.parameters[key] for key in ("method", "library", "antialias")}
        if not self.is_square:
            whole = step("resize", dimensions=size, **common)
            part = step("crop", percentage=100 * self.fraction, method=self.method)
            return [whole] if self.fraction == 1 else [part, whole]
        if self.crops_first:
            part = step("crop", percentage=100 * self.fraction, square=True, offset=self.offset, method=self.method)
            return [part, step("resize", dimensions=size, **common)]
        side = round(min(size) / self.fraction)
        rounding = self.resize.parameters["rounding"]
        return [
            step("resize", short_side=side, rounding=rounding, **common),
            step("crop", dimensions=size, offset=self.offset, method=self.method),
        ]

    @property
    def words(self) -> str:
        if not self.is_square:
            return "no crop: the whole picture squeezed in" if self.fraction == 1 else f"{self._share} of each side"
        where = "centre" if self.method == "center" else "corner"
        part = f"the whole {where} square" if self.fraction == 1 else f"the {where} {self._share}"
        return f"{part}, cropped before it is resized" if self.crops_first else part

    @property
    def _share(self) -> str:
        return f"{100 * self.fraction:.4g} %"


def frame_of(plan: Plan) -> Frame | None:
    """The frame of a plan whose crop and resize stand side by side, as in almost all of them."""
    steps, at = steps_of(plan), find(plan, "resize")
    if at is None:
        return None
    resize, size = steps[at], steps[at].parameters["dimensions"]
    before = steps[at - 1] if at and steps[at - 1].name == "crop" else None
    after = steps[at + 1] if at + 1 < len(steps) and steps[at + 1].name == "crop" else None
    if size is not None and before is not None and before.parameters["percentage"]:
        fraction, is_square = before.parameters["percentage"] / 100, before.parameters["square"]
        return Frame(size[0], size[1], fraction, is_square, True, resize, at - 1, at, *_place(before))
    short = resize.parameters["short_side"]
    if short and after is not None and after.parameters["dimensions"]:
        size = after.parameters["dimensions"]
        return Frame(size[0], size[1], min(size) / short, True, False, resize, at, at + 1, *_place(after))
    if size is not None and before is None and after is None:
        return Frame(size[0], size[1], 1.0, resize.parameters["keep_aspect_ratio"], False, resize, at, at)
    return None


def _place(crop: Step) -> tuple[str, str]:
    return crop.parameters["offset"], crop.parameters["method"]


def _given(resize: Step) -> dict[str, object]:
    return {key: value for key, value in resize.parameters.items() if value is not None}


def _framed(plan: Plan, old: Frame, new: Frame) -> Plan:
    steps = steps_of(plan)
    return with_steps(plan, (*steps[: old.first], *new.steps(), *steps[old.last + 1 :]))


def _other_crops(plan: Plan) -> Edits:
    """The same frame, a little larger or smaller."""
    frame = frame_of(plan)
    if frame is not None:
        for fraction in _fractions_near(frame):
            new = replace(frame, fraction=fraction)
            yield new.words, _framed(plan, frame, new)
        for words, edited in crop_offset(plan):
            yield f"{frame.words}, {words}", edited


def _fractions_near(frame: Frame) -> Iterator[float]:
    """Pixel by pixel where a square is cut out of a resized picture, else percent by percent."""
    if frame.is_square and not frame.crops_first:
        size = min(frame.height, frame.width)
        side = round(size / frame.fraction)
        for more in (*(-each for each in reversed(_PIXELS)), *_PIXELS):
            if side + more >= size:
                yield size / (side + more)
        return
    for share in _FINER:
        if 0 < frame.fraction + share <= 1:
            yield round(frame.fraction + share, 4)


@pitfall("cropping", "Cropping", "first paper, Figure 6", finer=_other_crops, is_ranked=True)
def cropping(plan: Plan) -> Edits:
    """Another part of the picture: no crop, a crop of another size, or the whole picture squeezed into the size."""
    frame = frame_of(plan)
    if frame is None:
        return
    # Where there is no square yet, nobody knows whether it is cut out before or after.
    orders = (frame.crops_first,) if frame.is_square else (False, True)
    squares = [(True, fraction, crops_first) for fraction in _FRACTIONS for crops_first in orders]
    parts = [*squares[: len(orders)], (False, 1.0, False), (False, 0.875, True), *squares[len(orders) :]]
    if not all(orders):
        parts += [(True, fraction, False) for fraction in _usual_fractions(min(frame.height, frame.width))]
    for is_square, fraction, crops_first in parts:
        if is_square == frame.is_square and abs(fraction - frame.fraction) <= _ALIKE:
            continue
        new = replace(frame, is_square=is_square, fraction=fraction, crops_first=crops_first)
        yield new.words, _framed(plan, frame, new)
        if (is_square, fraction, crops_first, frame.is_square) == (True, _FRACTIONS[0], False, False):
            # Nor does anybody know how the longer side would have been rounded.
            rounded = replace(new, resize=step("resize", **{**_given(frame.resize), "rounding": "round"}))
            yield f"{new.words}, the longer side rounded to the nearest", _framed(plan, frame, rounded)


def _usual_fractions(size: int) -> list[float]:
    """227 out of 256 is neither 90 nor 87.5 %."""
    shares = [size / side for side in _USUAL_SIDES if _LEAST <= size / side < 1]
    return [each for each in shares if all(abs(each - known) > _ALIKE for known in _FRACTIONS)]


@pitfall("crop-order", "Order of crop and resize", weight=0.5)
def crop_order(plan: Plan) -> Edits:
    """Cropping first and then resizing is not the same as resizing first: borders and rounding differ."""
    frame = frame_of(plan)
    if frame is not None and frame.is_square:
        words = "resized, then cropped" if frame.crops_first else "cropped, then resized"
        yield words, _framed(plan, frame, replace(frame, crops_first=not frame.crops_first))


@pitfall("crop-offset", "Place of the crop", weight=0.3)
def crop_offset(plan: Plan) -> Edits:
    """The crop lies a pixel beside, since halves are rounded otherwise; or it is a corner, not the centre."""
    at = find(plan, "crop")
    if at is not None:
        now = steps_of(plan)[at].parameters
        other = "top_left" if now["method"] == "center" else "center"
        words = "the corner instead of the centre" if other == "top_left" else "the centre instead of the corner"
        yield from _with(plan, at, words, method=other)
        for offset in ("floor", "round", "ceil"):
            if offset != now["offset"]:
                yield from _with(plan, at, f"the crop's place rounded by {offset}", offset=offset)
    at = find(plan, "resize")
    if at is not None and steps_of(plan)[at].parameters["keep_aspect_ratio"]:
        for rounding in ("floor", "round", "ceil"):
            if rounding != steps_of(plan)[at].parameters["rounding"]:
                yield from _with(plan, at, f"the longer side rounded by {rounding}", rounding=rounding)


@pitfall("resizing", "Resizing", weight=0.5)
def resizing(plan: Plan) -> Edits:
    """Another interpolation, another library's interpolation of the same name, or one that averages when it shrinks."""
    for name, methods in library.RESIZE_METHODS.items():
        if name != "numpy":
            yield from _interpolations(plan, name, methods)


@pitfall("half-pixel", "Alignment of pixels", weight=0.3)
def half_pixel(plan: Plan) -> Edits:
    """Where a pixel lies: at its centre, at its corner, or so that the outermost ones stay where they are.

    TensorFlow 1 took corners unless it was told `align_corners`; almost everybody else takes centres.
    """
    yield from _interpolations(plan, "numpy", library.RESIZE_METHODS["numpy"])


def _interpolations(plan: Plan, name: str, methods: tuple[str, ...]) -> Iterator[tuple[str, Plan]]:
    at = find(plan, "resize")
    if at is None:
        return
    now = steps_of(plan)[at]
    for method in methods:
        choices = library.antialias_choices(name, method)
        for antialias in choices:
            if (name, method, antialias) != tuple(now.parameters[key] for key in ("library", "method", "antialias")):
                averaged = " with averaging" if antialias and len(choices) > 1 else ""
                words = f"{method} by {name}{averaged}"
                yield from _with(plan, at, words, library=name, method=method, antialias=antialias)


def _with(plan: Plan, at: int, words: str, **parameters: object) -> Iterator[tuple[str, Plan]]:
    """The plan with other parameters of one step, where it can have them."""
    for edited in replaced(plan, at, changed(steps_of(plan)[at], **parameters)):
        yield words, edited
