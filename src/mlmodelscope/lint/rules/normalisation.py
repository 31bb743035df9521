"""Means and divisors that do not suit the values that the pixels have at that moment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.schema import Step

# Means of ImageNet and CIFAR in R, G, B order, as they are published in many places.
_RGB_MEANS = (
    (123.68, 116.779, 103.939),
    (123.675, 116.28, 103.53),
    (122.7717, 115.9465, 102.9801),
    (122.67892, 116.66877, 104.00699),
    (123.0, 117.0, 104.0),
    (0.485, 0.456, 0.406),
    (0.4914, 0.4822, 0.4465),
    (0.5071, 0.4867, 0.4408),
)
_BYTE, _UNIT, _ABSURD = 200.0, 1.01, 1000.0


@dataclass(frozen=True)
class Pixels:
    """What is known of the values before a step."""

    low: float
    high: float
    color: str
    centred: bool = False

    @property
    def span(self) -> float:
        return self.high - self.low


def follow(steps: Sequence[Step]) -> Iterator[tuple[int, Step, Pixels | None]]:
    """Each step with the pixels that it gets, and at the end those that the model gets, under the number of steps."""
    pixels: Pixels | None = None
    for index, step in enumerate(steps):
        yield index, step, pixels
        pixels = _after(step, pixels)
    yield len(steps), Step(name="", parameters={}), pixels


def _after(step: Step, pixels: Pixels | None) -> Pixels | None:
    given: dict[str, Any] = step.parameters
    if step.name == "decode":
        return Pixels(0.0, 255.0, str(given.get("color_layout")))
    if pixels is None:
        return None
    if step.name == "color":
        return Pixels(pixels.low, pixels.high, str(given.get("color_layout")), pixels.centred)
    if _scales(step):
        return _divided(pixels, [255.0] if str(given.get("element_type")).startswith("float") else [1 / 255])
    if step.name == "mean":
        return _centred(pixels, numbers(given.get("values")))
    if step.name == "rescale":
        return _divided(pixels, numbers(given.get("divisor")))
    if step.name == "normalize":
        return _divided(_centred(pixels, numbers(given.get("mean"))), numbers(given.get("std")))
    return None if step.name == "quantize" else pixels


def _scales(step: Step) -> bool:
    return step.name == "cast" and step.parameters.get("mode") in ("scale", "truncate")


def _centred(pixels: Pixels, means: list[float]) -> Pixels:
    if not means:
        return pixels
    return Pixels(pixels.low - max(means), pixels.high - min(means), pixels.color, True)


def _divided(pixels: Pixels, divisors: list[float]) -> Pixels:
    ends = [end / divisor for end in (pixels.low, pixels.high) for divisor in divisors if divisor]
    return Pixels(min(ends), max(ends), pixels.color, pixels.centred) if ends else pixels


def numbers(value: Any) -> list[float]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [
        float(each) for each in values if isinstance(each, (int, float)) and abs(each) < 1e300 and math.isfinite(each)
    ]


def means_of(step: Step) -> list[float]:
    key = {"mean": "values", "normalize": "mean"}.get(step.name)
    return numbers(step.parameters.get(key)) if key else []


def divisors_of(step: Step) -> list[float]:
    key = {"rescale": "divisor", "normalize": "std"}.get(step.name)
    return numbers(step.parameters.get(key)) if key else []


def _moments(subject: Subject) -> Iterator[tuple[tuple[str | int, ...], Step, Pixels]]:
    for number, layer in enumerate(subject.model.inputs):
        for index, step, pixels in follow(layer.processing):
            if pixels is not None and index < len(layer.processing):
                yield ("inputs", number, "processing", index), step, pixels


def _is_fraction(values: list[float]) -> bool:
    return bool(values) and all(0 < value <= 1 for value in values) and any(value != 1 for value in values)


@rule("M050", "mean-of-fractions", "warning", ("model",))
def mean_of_fractions(subject: Subject) -> Iterator[Finding]:
    """A mean for pixels of 0 to 1 is subtracted from pixels of 0 to 255.

    A mean such as 0.485 is that of pixels that were divided by 255 before. Without the division nearly nothing is
    subtracted, and accuracy drops to a few percent or to chance.

    Wrong:

        processing:
          decode:
          normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}

    Right:

        processing:
          decode:
          cast: {element_type: float32, mode: scale}
          normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
    """
    for path, step, pixels in _moments(subject):
        if pixels.high >= _BYTE and not pixels.centred and _is_fraction(means_of(step)):
            yield subject.finding(
                path,
                f"the mean {_spell(means_of(step))} is one for pixels of 0 to 1, but here they are still 0 to 255",
                "divide by 255 first: `cast: {element_type: float32, mode: scale}`",
            )


@rule("M051", "mean-of-bytes", "warning", ("model",))
def mean_of_bytes(subject: Subject) -> Iterator[Finding]:
    """A mean for pixels of 0 to 255 is subtracted from pixels of 0 to 1.

    The pixels were divided before. Subtracting 123.68 makes all of them about -123, and every image looks the same to
    the model.

    Wrong:

        processing:
          decode:
          rescale: 255
          mean: [123.68, 116.78, 103.94]

    Right:

        processing:
          decode:
          mean: [123.68, 116.78, 103.94]
    """
    for path, step, pixels in _moments(subject):
        if pixels.high <= _UNIT and pixels.low >= 0 and any(value > 1 for value in means_of(step)):
            text = f"the mean {_spell(means_of(step))} is one for pixels of 0 to 255, but here they are 0 to 1"
            yield subject.finding(path, text)


@rule("M052", "divided-twice", "warning", ("model",))
def divided_twice(subject: Subject) -> Iterator[Finding]:
    """Pixels are divided by 255 though they are 0 to 1 already.

    What the model gets is nearly zero everywhere, and it answers the same for every image.

    Wrong:

        processing:
          decode:
          cast: {element_type: float32, mode: scale}
          rescale: 255

    Right:

        processing:
          decode:
          cast: {element_type: float32, mode: scale}
    """
    for path, step, pixels in _moments(subject):
        to_fractions = _scales(step) and str(step.parameters.get("element_type")).startswith("float")
        divides = divisors_of(step) or ([255.0] if to_fractions else [])
        if pixels.span <= _UNIT and any(100 <= divisor <= 256 for divisor in divides):
            yield subject.finding(path, f"divides by {_spell(divides)}, but the pixels are 0 to 1 already")


@rule("M053", "divisor-of-other-scale", "warning", ("model",))
def divisor_of_other_scale(subject: Subject) -> Iterator[Finding]:
    """A divisor suits pixels of another scale.

    A standard deviation such as 0.229 is that of pixels of 0 to 1; dividing pixels of 0 to 255 by it makes numbers in
    the thousands. One such as 58.4 is that of pixels of 0 to 255. Some tools also mean a factor where this divides:
    0.017 there is 58.8 here.

    Wrong:

        processing:
          decode:
          normalize: {mean: [123.68, 116.28, 103.53], std: [0.229, 0.224, 0.225]}

    Right:

        processing:
          decode:
          normalize: {mean: [123.68, 116.28, 103.53], std: [58.395, 57.12, 57.375]}
    """
    for path, step, pixels in _moments(subject):
        divisors = divisors_of(step)
        if pixels.high >= _BYTE and _is_fraction(means_of(step)):
            continue  # M050: the mean is wrong in the same way
        if pixels.span >= _BYTE and _is_fraction(divisors):
            single = f"; to multiply by {divisors[0]:g} is to divide by {1 / divisors[0]:.4g}"
            factor = single if len(divisors) == 1 else ""
            text = f"divides pixels of a span of {pixels.span:.4g} by {_spell(divisors)}"
            yield subject.finding(path, text, "a divisor below 1 suits pixels of 0 to 1" + factor)
        elif pixels.span <= _UNIT and divisors and all(1 < divisor < 100 for divisor in divisors):
            text = f"divides pixels of a span of {pixels.span:.4g} by {_spell(divisors)}"
            yield subject.finding(path, text, "such a divisor suits pixels of 0 to 255")


@rule("M054", "absurd-range", "warning", ("model",))
def absurd_range(subject: Subject) -> Iterator[Finding]:
    """What the model gets has an absurd range.

    Models are fed numbers of about -3 to 3, 0 to 1, or -128 to 255. Beyond a thousand a decimal point was lost, or
    something was multiplied that should have been divided.

    Wrong:

        processing:
          decode:
          mean: [12368, 11678, 10394]

    Right:

        processing:
          decode:
          mean: [123.68, 116.78, 103.94]
    """
    told = {found.line for check in (mean_of_fractions, divisor_of_other_scale) for found in check(subject)}
    for number, layer in enumerate(subject.model.inputs):
        *_, (_, _, pixels) = follow(layer.processing)
        if pixels is not None and max(abs(pixels.low), abs(pixels.high)) > _ABSURD and not told:
            yield subject.finding(
                ("inputs", number, "processing"), f"the model would get values of {pixels.low:.4g} to {pixels.high:.4g}"
            )


@rule("M055", "mean-order", "warning", ("model",))
def mean_order(subject: Subject) -> Iterator[Finding]:
    """The mean is in the other order than the colours.

    ImageNet's mean is largest for red and smallest for blue. In the other order than the channels, red and blue get
    each other's: a percent or so of accuracy, which is what many papers argue about. In the original project's dialect
    the mean is in R, G, B order even where the model wants BGR.

    Wrong:

        processing:
          decode: {color_layout: BGR}
          mean: [123.68, 116.78, 103.94]

    Right:

        processing:
          decode: {color_layout: BGR}
          mean: [103.94, 116.78, 123.68]
    """
    for path, step, pixels in _moments(subject):
        means = means_of(step)
        order = _order(means)
        if order is not None and pixels.color in ("RGB", "BGR") and order != pixels.color:
            yield subject.finding(
                path,
                f"the mean {_spell(means)} is a known one in {order} order, but the channels are {pixels.color} here",
            )


def _order(means: list[float]) -> str | None:
    for known in _RGB_MEANS:
        near = 1.0 if known[0] > 1 else 0.005
        for order, triple in (("RGB", known), ("BGR", known[::-1])):
            if len(means) == 3 and all(abs(a - b) <= near for a, b in zip(means, triple, strict=True)):
                return order
    return None


def _spell(values: list[float]) -> str:
    texts = [f"{value:g}" for value in values]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
