"""Steps from what is known: what a tensor's shape proves, what the command line says, what closes a pipeline."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mlmodelscope.author.draft import Draft, DraftStep
from mlmodelscope.author.request import Request, antialiases, per_channel, resize_library
from mlmodelscope.author.tensors import ImageShape
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope_worker.pipeline.library import DCT_METHODS

GEOMETRY = ("resize", "crop", "pad")
ARITHMETIC = ("mean", "rescale", "normalize")

_IMAGENET = (
    "- rescale: 255",
    "- normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}",
)
_MINUS_ONE_TO_ONE = ("- mean: 127.5", "- rescale: 127.5")


def resize_step(
    value: dict[str, Any], method: str, library: str, because: str = "", guess: bool = False, **more: Any
) -> DraftStep:
    return DraftStep("resize", {**value, "method": method, "library": library, **more}, because, guess)


def normalize_steps(
    scale: float | None, mean: list[float] | None, std: list[float] | None, because: str
) -> list[DraftStep]:
    """x / scale, then (x - mean) / std; what is missing or does nothing is left out."""
    steps = []
    if scale is not None and scale != 1:
        steps.append(DraftStep("rescale", scale, f"{because}: divides" if because else ""))
    flat_mean = None if mean is None or not any(mean) else per_channel(mean)
    flat_std = None if std is None or all(value == 1 for value in std) else per_channel(std)
    if flat_mean is not None and flat_std is not None:
        steps.append(DraftStep("normalize", {"mean": flat_mean, "std": flat_std}, because))
    elif flat_mean is not None:
        steps.append(DraftStep("mean", flat_mean, because))
    elif flat_std is not None:
        steps.append(DraftStep("rescale", flat_std, because))
    return steps


def proven_steps(image: ImageShape, producer: str | None) -> list[DraftStep]:
    """What a file's shape proves, no more: sizes, not how they are reached."""
    born_in_caffe = "caffe" in (producer or "").lower()
    color = "GRAY" if image.channels == 1 else "BGR" if born_in_caffe else "RGB"
    order = "" if image.channels == 1 else ", and BGR Caffe's order" if born_in_caffe else ", and so is the order RGB"
    why = f"no file says what decodes; Pillow is usual{order}"
    steps = [DraftStep("decode", {"library": "pillow", "color_layout": color}, why, guess=True)]
    if image.height is not None and image.width is not None:
        steps.append(
            resize_step(
                {"dimensions": [image.height, image.width]},
                "bilinear",
                "pillow",
                "only the size is the file's; crop, aspect ratio and method are not in it",
                guess=True,
            )
        )
    return steps


def apply_flags(draft: Draft, request: Request) -> None:
    """What the author says replaces what was found, part by part."""
    if draft.steps is None:
        return
    steps = list(draft.steps)
    if request.color or request.library:
        steps = _with_decode(steps, request)
    if request.resize or request.crop or request.method or request.library:
        steps = _with_geometry(steps, request)
    if request.mean or request.std or request.scale:
        steps = [step for step in steps if step.name not in ARITHMETIC]
        scale, mean, std = request.scale_values, request.mean_values, request.std_values
        if scale is not None:
            steps.append(DraftStep("rescale", scale))
        if mean is not None and std is not None:
            steps.append(DraftStep("normalize", {"mean": mean, "std": std}))
        elif mean is not None:
            steps.append(DraftStep("mean", mean))
        elif std is not None:
            steps.append(DraftStep("rescale", std))
        largest = max(mean) if isinstance(mean, list) else mean
        if scale is None and largest is not None and 0 < largest < 1:
            draft.notes.append("the mean is below 1 while pixels are 0 to 255: is --scale 255 meant as well?")
    draft.steps = steps


def _with_decode(steps: list[DraftStep], request: Request) -> list[DraftStep]:
    first = next((step for step in steps if step.name == "decode"), DraftStep("decode", {}))
    value = dict(first.value or {})
    if request.color:
        value["color_layout"] = request.color.upper()
    if request.library in DCT_METHODS:
        value["library"] = request.library
    rest = [step for step in steps if step.name != "decode" and not (request.color and step.name == "color")]
    settled = bool(request.color and request.library)
    return [
        replace(first, value=value, guess=first.guess and not settled, because="" if settled else first.because),
        *rest,
    ]


def _with_geometry(steps: list[DraftStep], request: Request) -> list[DraftStep]:
    before = [step for step in steps if step.name == "decode"]
    geometry = [step for step in steps if step.name in GEOMETRY]
    after = [step for step in steps if step.name not in ("decode", *GEOMETRY)]
    value = request.resize_value
    if value is not None:
        kept = [step for step in geometry if step.name == "crop" and request.crop is None and not step.guess]
        if not kept and request.crop is None and "short_side" in value:
            squeezed = next((step.value for step in geometry if "dimensions" in (step.value or {})), None)
            if squeezed:  # the shape that the file proves is still what must come out
                kept = [DraftStep("crop", {"method": "center", "dimensions": squeezed["dimensions"]})]
        geometry = [resize_step(value, "bilinear", "pillow"), *kept]
    if request.crop_value is not None:
        crop = DraftStep("crop", request.crop_value)
        resizes = [step for step in geometry if step.name != "crop"]
        # A share of the image is cut out before it is scaled, a number of pixels afterwards.
        geometry = [crop, *resizes] if "percentage" in request.crop_value else [*resizes, crop]
    return [*before, *(_with_method(step, request) for step in geometry), *after]


def _with_method(step: DraftStep, request: Request) -> DraftStep:
    if step.name != "resize" or not (request.method or request.library):
        return step
    value = dict(step.value)
    method = request.method or value.get("method", "bilinear")
    library = resize_library(request.library or value.get("library"), method)
    value |= {"method": method, "library": library}
    if "antialias" in value:
        value["antialias"] = antialiases(library, method)
    return replace(step, value=value)


def closing_steps(draft: Draft, tensor: TensorInfo, image: ImageShape) -> list[DraftStep]:
    """From pixels or normalised numbers to what the tensor holds: quantisation, element type, order of axes."""
    normalised = any(step.name in ARITHMETIC for step in draft.steps or ())
    steps = _quantize(draft, tensor, normalised)
    remarks: tuple[str, ...] = ()
    if (
        not normalised
        and not steps
        and not draft.steps_are_whole
        and tensor.element_type in ("float32", "float16", "float64", "bfloat16", None)
    ):
        remarks = _suggestion(draft, image)
    steps.append(DraftStep("layout", image.layout.value, image.layout.because, image.layout.guess, remarks))
    return steps


def _quantize(draft: Draft, tensor: TensorInfo, normalised: bool) -> list[DraftStep]:
    quantization, kind = tensor.quantization, tensor.element_type
    if kind not in ("uint8", "int8"):
        return []
    if quantization is None or len(quantization.scale) != 1 or not 0 < quantization.scale[0] < 1e12:
        if quantization is not None and len(quantization.scale) > 1:
            draft.unknown.append("the input is quantised with a scale for each channel, which no step can do")
        return [DraftStep("cast", {"element_type": kind, "mode": "saturate"}, f"the model takes {kind}")]
    scale, zero = quantization.scale[0], quantization.zero_point[0] if quantization.zero_point else 0
    if normalised:
        value = {"scale": scale, "zero_point": zero, "element_type": kind}
        return [DraftStep("quantize", value, "scale and zero point are the file's")]
    low = -128 if kind == "int8" else 0
    real = f"the file's integers stand for {scale * (low - zero):.4g} to {scale * (low + 255 - zero):.4g}"
    if kind == "uint8":
        why = f"{real}; that this range is all of 0 to 255, so that a pixel goes in as it is, is usual"
        return [DraftStep("cast", {"element_type": "uint8", "mode": "saturate"}, why, guess=True)]
    why = f"{real}; that this range is all of 0 to 255, so that a pixel goes in less 128, is usual"
    return [
        DraftStep("mean", 128, why, guess=True),
        DraftStep("cast", {"element_type": "int8", "mode": "saturate"}, "the model takes int8"),
    ]


def _suggestion(draft: Draft, image: ImageShape) -> tuple[str, ...]:
    if any(step.name == "cast" for step in draft.steps or ()):
        return ()
    draft.ask("mean", "What is subtracted from pixels, for example 123.675,116.28,103.53 (empty: nothing)")
    draft.ask("std", "What is divided by then, for example 58.395,57.12,57.375 (empty: nothing)")
    tensorflow = draft.get("framework.name") in ("tensorflow", "tflite")
    if image.channels == 1:
        lines: tuple[str, ...] = ("- rescale: 255",)
        why = "pixels between 0 and 1 are usual for grey images"
    elif tensorflow:
        lines, why = _MINUS_ONE_TO_ONE, "pixels between -1 and 1 are usual with TensorFlow"
    else:
        lines, why = _IMAGENET, "this is usual for networks trained on ImageNet with PyTorch"
    return (
        "nothing says how pixels are normalised; as written, the model gets 0 to 255",
        f"guess: {why}; take the # away if it is so:",
        *lines,
    )


def final_size(steps: list[DraftStep]) -> tuple[int, int] | None:
    """Height and width after the steps, where they decide both."""
    size: tuple[int, int] | None = None
    for step in steps:
        if step.name not in GEOMETRY or not isinstance(step.value, dict):
            continue
        dimensions = step.value.get("dimensions")
        if isinstance(dimensions, list) and len(dimensions) >= 2:
            size = (dimensions[-2], dimensions[-1])
        elif step.name == "resize" or "percentage" in step.value:
            size = None
    return size
