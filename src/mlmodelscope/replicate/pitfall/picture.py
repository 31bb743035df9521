"""How a stored picture becomes pixels: colours, axes, decoders."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope_worker.pipeline import library

_OTHER_COLOR = {"RGB": "BGR", "BGR": "RGB"}
_BROUGHT_BACK = ("semantic_segmentation", "image_enhancement")
"""Tasks whose answers are pictures: of a turned one none can be brought back."""


@pitfall("color-layout", "Colour layout", "first paper, Figure 3; second paper, Figure 4")
def color_layout(plan: Plan) -> Edits:
    """The channels are in another order than the model was trained with: OpenCV and Caffe say BGR, most others RGB."""
    at = find(plan, "color")
    at = find(plan, "decode") if at is None else at
    if at is None:
        return
    now = steps_of(plan)[at].parameters["color_layout"]
    if now in _OTHER_COLOR:
        new = changed(steps_of(plan)[at], color_layout=_OTHER_COLOR[now])
        for edited in replaced(plan, at, new):
            yield f"{_OTHER_COLOR[now]} instead of {now}", edited


@pitfall("data-layout", "Data layout", "first paper, Figure 4; second paper, Figure 5")
def data_layout(plan: Plan) -> Edits:
    """The axes are in another order than the model takes them.

    Height and width may be swapped; or the memory of one order is handed over as if it were the other, which shapes do
    not show.
    """
    steps = steps_of(plan)
    at = find(plan, "transpose")
    if at is not None:
        yield "height and width as they are", with_steps(plan, steps[:at] + steps[at + 1 :])
    elif (place := find(plan, "decode")) is not None and plan.task not in _BROUGHT_BACK:
        yield (
            "height and width swapped",
            with_steps(plan, (*steps[: place + 1], step("transpose"), *steps[place + 1 :])),
        )
    taken = find(plan, "reinterpret")
    if taken is not None:
        order = steps[taken].parameters["data_layout"]
        yield (
            f"axes moved to {order}",
            with_steps(plan, (*steps[:taken], step("layout", data_layout=order), *steps[taken + 1 :])),
        )
    elif (moved := find(plan, "layout")) is not None:
        order = steps[moved].parameters["data_layout"]
        yield (
            f"memory taken for {order} as it is",
            with_steps(plan, (*steps[:moved], step("reinterpret", data_layout=order), *steps[moved + 1 :])),
        )


@pitfall("decoding", "Decoder", "first paper, Figure 5; second paper, Figures 6 and 7", weight=0.3)
def decoding(plan: Plan) -> Edits:
    """Another library decodes the picture, or the same one with a faster, less exact inverse DCT."""
    at = find(plan, "decode")
    if at is None:
        return
    now = steps_of(plan)[at]
    for name, methods in library.DCT_METHODS.items():
        for dct in methods:
            if (name, dct) != (now.parameters["library"], now.parameters["dct"]):
                for edited in replaced(plan, at, changed(now, library=name, dct=dct)):
                    yield f"decoded by {name}" + (", fast DCT" if dct == "fast" else ""), edited


@pitfall("exif", "EXIF orientation", weight=0.3)
def exif(plan: Plan) -> Edits:
    """Photographs carry a note that they were taken with a turned camera; some libraries turn them, others do not."""
    at = find(plan, "decode")
    if at is not None:
        other = "ignore" if steps_of(plan)[at].parameters["exif"] == "apply" else "apply"
        for edited in replaced(plan, at, changed(steps_of(plan)[at], exif=other)):
            yield f"EXIF orientation: {other}", edited
