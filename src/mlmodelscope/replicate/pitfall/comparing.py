"""What is compared of two pictures: in which colors, within which border, over which range and window."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import measured
from mlmodelscope.replicate.pitfall.enhancing import is_enhancer
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, steps_of

_RANGES = {"studio": "luma", "full": "luma-full"}
_SPANS = {"studio": "16 to 235", "full": "0 to 255"}
_BORDERS = (0, 2, 3, 4, 6, 8)


@pitfall("luma-range", "Range of luma")
def luma_range(plan: Plan) -> Edits:
    """Luma goes from 16 to 235 by MATLAB's rule and from 0 to 255 by JPEG's, which moves PSNR by more than a dB."""
    if not is_enhancer(plan):
        return
    at, color = find(plan, "luma"), plan.measure.get("color")
    now = None if at is None else steps_of(plan)[at].parameters["range"]
    for name, span in _SPANS.items():
        compared = measured(plan, color=_RANGES[name]) if color != "rgb" else plan
        if color not in ("rgb", _RANGES[name]):
            yield f"luma of {span} compared", compared
        if at is None or name == now:
            continue
        for other in replaced(plan, at, changed(steps_of(plan)[at], range=name)):
            yield f"luma of {span} as the input", other
        if compared is not plan:
            for both in replaced(compared, at, changed(steps_of(plan)[at], range=name)):
                yield f"luma of {span} as the input and compared", both


@pitfall("measured-color", "Colors that are compared")
def measured_color(plan: Plan) -> Edits:
    """PSNR is that of luma in papers on super-resolution, and of RGB in most other places."""
    if not is_enhancer(plan) or find(plan, "luma") is not None:  # an answer that is luma has no colors
        return
    if plan.measure.get("color") != "rgb":
        yield "RGB compared", measured(plan, color="rgb")
    else:
        for name, span in _SPANS.items():
            yield f"luma of {span} compared", measured(plan, color=_RANGES[name])


@pitfall("border", "Border that is cut off", weight=0.5)
def border(plan: Plan) -> Edits:
    """So many pixels of each side are left out of the comparison; often the scale, or a little more, or none."""
    if is_enhancer(plan):
        for width in sorted({*_BORDERS, *_scales(plan)}):
            if width != plan.measure.get("border"):
                yield f"a border of {width} cut off" if width else "no border cut off", measured(plan, border=width)


def _scales(plan: Plan) -> set[int]:
    """By how much the model enlarges, as its steps tell."""
    factors = [float(each.parameters["factor"]) for each in steps_of(plan) if each.name == "scale"]
    return {round(1 / each) for each in factors if each < 1}


@pitfall("data-range", "Range of the values", weight=0.5)
def data_range(plan: Plan) -> Edits:
    """The range that PSNR and SSIM are set against: 255 for bytes, 1 for fractions, and not the one for the other."""
    if is_enhancer(plan):
        for span in (255.0, 1.0, 2.0, 219.0, 510.0, 65535.0):
            if span != plan.measure.get("data_range"):
                yield f"a range of {span:g}", measured(plan, data_range=span)


@pitfall("ssim-window", "Window of SSIM", weight=0.5)
def ssim_window(plan: Plan) -> Edits:
    """The window of SSIM is a Gaussian in its paper, and 7 x 7 equal pixels by default in scikit-image."""
    if is_enhancer(plan):
        other = "uniform" if plan.measure.get("window") == "gaussian" else "gaussian"
        words = "7 x 7 equal pixels" if other == "uniform" else "a Gaussian of sigma 1.5"
        yield f"SSIM with a window of {words}", measured(plan, window=other)
