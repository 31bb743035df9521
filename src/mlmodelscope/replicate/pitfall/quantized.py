"""Which integers a model that takes integers gets for a pixel."""

from __future__ import annotations

from mlmodelscope.manifest.schema import Step
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope.replicate.pitfall.values import quantization_of, rewritten, schemes

_ALL = ("cast", "mean", "rescale", "normalize", "quantize")
_INTEGERS = ("int8", "uint8")


def _as_the_file_says(plan: Plan, file: ModelFile) -> Edits:
    """Scale and zero point are in the model file; what real values they stand for is not."""
    told = quantization_of(plan, file)
    if told is None or plan.input is None:
        return
    scale, zero_point = told
    words = f"scale {scale:.6g} and zero point {zero_point}, as the model file says"
    at = find(plan, "quantize")
    if at is not None:
        for edited in replaced(plan, at, changed(steps_of(plan)[at], scale=scale, zero_point=zero_point)):
            yield words, edited
        return
    last = step("quantize", scale=scale, zero_point=zero_point, element_type=plan.input.element_type)
    for name, arithmetic in schemes(plan).items():
        yield f"{name}, quantized with {words}", rewritten(plan, [*arithmetic, last], _ALL)


@pitfall("quantization", "Quantisation parameters", from_file=_as_the_file_says)
def quantization(plan: Plan) -> Edits:
    """A quantised model's integers stand for other real values than was thought.

    A zero point was forgotten or applied twice, bytes were taken for signed ones, or were scaled before.
    """
    stored = find(plan, "dequantize")
    if stored is not None:
        yield from _other_stored(plan, stored)
    if plan.input is None or plan.input.element_type not in _INTEGERS:
        return
    at = find(plan, "quantize")
    if at is not None:
        yield from _other_parameters(plan, at)
    for words, arithmetic in _plain(plan.input.element_type).items():
        yield words, rewritten(plan, arithmetic, _ALL)


def _other_stored(plan: Plan, at: int) -> Edits:
    """What features that are stored as integers stand for."""
    now = steps_of(plan)[at]
    scale, zero_point = now.parameters["scale"], now.parameters["zero_point"]
    points = {-zero_point: "with the other sign", 0: "0", 128: "128", -128: "-128", zero_point + 128: "128 higher"}
    points |= {zero_point - 128: "128 lower"}
    for value, words in points.items():
        if value != zero_point:
            for edited in replaced(plan, at, changed(now, zero_point=value)):
                yield f"zero point {words} where they are stored", edited
    for value, words in ((1 / scale, "turned upside down"), (1.0, "1"), (1 / 128, "1/128"), (1 / 255, "1/255")):
        if abs(value - scale) > 1e-9:
            for edited in replaced(plan, at, changed(now, scale=value)):
                yield f"scale {words} where they are stored", edited
    yield "fed as they are stored", with_steps(plan, (*steps_of(plan)[:at], *steps_of(plan)[at + 1 :]))


def _other_parameters(plan: Plan, at: int) -> Edits:
    now = steps_of(plan)[at]
    for zero_point in (0, 128, -128, 127):
        if zero_point != now.parameters["zero_point"]:
            for edited in replaced(plan, at, changed(now, zero_point=zero_point)):
                yield f"zero point {zero_point}", edited
    for scale, words in ((1 / 255, "1/255"), (1 / 128, "1/128"), (1 / 127.5, "1/127.5"), (1.0, "1")):
        if abs(scale - now.parameters["scale"]) > 1e-6:
            for edited in replaced(plan, at, changed(now, scale=scale)):
                yield f"scale {words}", edited


def _plain(element_type: str) -> dict[str, list[Step]]:
    """What integer models usually take for a byte, where no file says it."""
    last = step("cast", element_type=element_type, mode="saturate")
    if element_type == "uint8":
        return {"bytes as they are": [last]}
    return {
        "bytes less 128": [step("mean", values=128), last],
        "bytes halved": [step("quantize", scale=2.0, zero_point=0, element_type="int8")],
        "bytes as they are, clipped at 127": [last],
        "bytes as they are, wrapped around at 127": [step("cast", element_type="int8", mode="value")],
    }
