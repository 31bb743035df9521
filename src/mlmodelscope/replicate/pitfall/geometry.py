"""Which part of a picture the model sees, and how it is scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope_worker.pipeline import library

_FRACTIONS = (1.0, 0.95, 0.9, 0.875, 0.8)
_ALIKE = 0.005


@dataclass(frozen=True)
class Frame:
    """What the steps between decoding and arithmetic come to: a part of the picture, brought to a size."""

    height: int
    width: int
    fraction: float | None
    """Side of the centre square that is kept, as a share of the shorter side; nothing where all is squeezed in."""
    crops_first: bool
    resize: Step
    first: int
    last: int
    """Positions of the steps that it is read from."""

    def steps(self) -> list[Step]:
        size = [self.height, self.width]
        common = {key: self.resize.parameters[key] for key in ("method", "library", "antialias")}
        if self.fraction is None:
            return [step("resize", dimensions=size, **common)]
        if self.crops_first:
            part = step("crop", percentage=100 * self.fraction, square=True)
            return [part, step("resize", dimensions=size, **common)]
        side = round(min(size) / self.fraction)
        return [step("resize", short_side=side, **common), step("crop", dimensions=size)]


def frame_of(plan: Plan) -> Frame | None:
    """The frame of a plan whose crop and resize stand side by side, as in almost all of them."""
    steps, at = steps_of(plan), find(plan, "resize")
    if at is None:
        return None
    resize, size = steps[at], steps[at].parameters["dimensions"]
    before = steps[at - 1] if at and steps[at - 1].name == "crop" else None
    after = steps[at + 1] if at + 1 < len(steps) and steps[at + 1].name == "crop" else None
    if size is not None and before is not None and before.parameters["percentage"]:
        return Frame(size[0], size[1], before.parameters["percentage"] / 100, True, resize, at - 1, at)
    short = resize.parameters["short_side"]
    if short and after is not None and after.parameters["dimensions"]:
        height, width = after.parameters["dimensions"]
        return Frame(height, width, min(height, width) / short, False, resize, at, at + 1)
    if size is not None and before is None and after is None:
        fraction = 1.0 if resize.parameters["keep_aspect_ratio"] else None
        return Frame(size[0], size[1], fraction, False, resize, at, at)
    return None


def _framed(plan: Plan, old: Frame, new: Frame) -> Plan:
    steps = steps_of(plan)
    return with_steps(plan, (*steps[: old.first], *new.steps(), *steps[old.last + 1 :]))


@pitfall("cropping", "Cropping", "first paper, Figure 6; second paper, pitfall 4")
def cropping(plan: Plan) -> Edits:
    """Another part of the picture: no crop, a crop of another size, or the whole picture squeezed into the size."""
    frame = frame_of(plan)
    if frame is None:
        return
    if frame.fraction is not None:
        yield "no crop: the whole picture squeezed in", _framed(plan, frame, replace(frame, fraction=None))
    for fraction in _FRACTIONS:
        if frame.fraction is None or abs(frame.fraction - fraction) > _ALIKE:
            words = f"the centre {100 * fraction:g} %" if fraction < 1 else "the whole centre square"
            yield words, _framed(plan, frame, replace(frame, fraction=fraction))


@pitfall("crop-order", "Order of crop and resize")
def crop_order(plan: Plan) -> Edits:
    """Cropping first and then resizing is not the same as resizing first: borders and rounding differ."""
    frame = frame_of(plan)
    if frame is not None and frame.fraction is not None:
        words = "resized, then cropped" if frame.crops_first else "cropped, then resized"
        yield words, _framed(plan, frame, replace(frame, crops_first=not frame.crops_first))


@pitfall("resizing", "Resizing", "second paper, Figure 5")
def resizing(plan: Plan) -> Edits:
    """Another interpolation, another library's interpolation of the same name, or one that averages when it shrinks."""
    at = find(plan, "resize")
    if at is None:
        return
    now = steps_of(plan)[at]
    for name, methods in library.RESIZE_METHODS.items():
        for method in methods:
            choices = library.antialias_choices(name, method)
            for antialias in choices:
                chosen = (name, method, antialias)
                if chosen == tuple(now.parameters[key] for key in ("library", "method", "antialias")):
                    continue
                for edited in replaced(plan, at, changed(now, library=name, method=method, antialias=antialias)):
                    averaged = (
                        " with averaging" if antialias and len(library.antialias_choices(name, method)) > 1 else ""
                    )
                    yield f"{method} by {name}{averaged}", edited
