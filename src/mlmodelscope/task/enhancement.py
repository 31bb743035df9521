"""Image enhancement: super-resolution, denoising, and whatever else gives a better picture back.

The truth is a picture, an answer is one, too. Which colors are compared, how wide a border is cut off and what is
rounded are options: published numbers differ in them by more than methods differ from one another.
"""

from __future__ import annotations

import contextlib
import json
import math
import zlib
from array import array
from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.foreign_picture import png_of
from mlmodelscope.task.measure import DECIBEL, MEASURES, NUMBER
from mlmodelscope.task.png import value_range, write_png
from mlmodelscope.task.ruled import RuledMeasure, RuledTally, shown_of
from mlmodelscope.task.shape import Named, PictureShape
from mlmodelscope.task.task import TASKS, Column, Option, Task
from mlmodelscope.task.task import Number as Measured
from mlmodelscope_worker.parameters import Choice, Integer, Number
from mlmodelscope_worker.registry import add

NAME = "image_enhancement"
_MOST_BYTES = 1 << 26
OPTIONS = {
    "color": Option(
        Choice(
            "What is compared: luma of 16 to 235 as papers on super-resolution have it, luma of 0 to 255, or RGB. "
            "An answer of one channel is taken for that luma.",
            "luma",
            "luma-full",
            "rgb",
        ),
        "luma",
    ),
    "border": Option(Integer("So many pixels of each side are cut off first; often the scale.", at_least=0), 0),
    "data_range": Option(Number("From the smallest to the largest value that there may be.", above=0), 255.0),
    "window": Option(
        Choice(
            "What SSIM looks at around a pixel: a Gaussian of sigma 1.5 with population covariance (Wang 2004), or "
            "7 x 7 equal pixels with sample covariance, as scikit-image does it by default.",
            "gaussian",
            "uniform",
        ),
        "gaussian",
    ),
    "rounding": Option(
        Choice(
            "What is rounded to whole numbers: nothing, the answer as if it had been saved, or luma as well.",
            "no",
            "answer",
            "compared",
        ),
        "no",
    ),
}


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    """Where a picture lies is a matter of this machine; what it is called is not."""
    found: dict[str, Any] = {"target": json.dumps({"picture": target["name"]}) if isinstance(target, Mapping) else None}
    if answer is not None:
        found |= {"picture": answer.arrays["picture"].content, "form": answer.fields["form"]}
        found["size"] = list(answer.fields["size"])
    shown = shown_of(score)
    return {**found, "psnr": shown.get("psnr"), "ssim": shown.get("ssim"), "score": score}


def _plain(row: Mapping[str, Any]) -> Any:
    """A picture as a program reads it: a PNG file, or float32 numbers that zlib has packed."""
    if row["picture"] is None:
        return None
    height, width, channels = row["size"]
    content = b64encode(row["picture"]).decode("ascii")
    return {"height": height, "width": width, "channels": channels, "form": row["form"], "content": content}


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[PictureShape]:
    """The true picture, where its file is available, and the answer."""
    found = []
    with contextlib.suppress(OSError, KeyError, TypeError):  # another machine's, or none
        content = png_of(Path(target["picture"]["file"]).read_bytes())
        if content is not None:
            found.append(PictureShape("truth", b64encode(content).decode("ascii")))
    if row.get("picture") is not None:
        with contextlib.suppress(ValueError, zlib.error):
            found.append(_answered(row))
    return found


def _glance(row: Mapping[str, Any], named: Named) -> list[PictureShape]:
    if row.get("picture") is None:
        return []
    height, width, channels = row["size"]
    return [PictureShape("answer", "", f"{width} x {height}", width=width, height=height, channels=channels)]


def _answered(row: Mapping[str, Any]) -> PictureShape:
    """The answer as a file that browsers show; a row may be a stranger's, so no more is unpacked than its size says."""
    height, width, channels = row["size"]
    reach: tuple[float, float] | None
    if row["form"] == "png":
        png, reach = bytes(row["picture"]), value_range(row["picture"])
    else:
        values = _floats(row)
        reach = min(values, default=0.0), max(values, default=0.0)
        known = (0.0 if math.isnan(each) else each for each in values)
        png = write_png(bytes(round(min(255.0, max(0.0, each))) for each in known), width, height, channels)
    low, high = reach or (None, None)
    return PictureShape("answer", b64encode(png).decode("ascii"), "", None, width, height, channels, low, high)


def _floats(row: Mapping[str, Any]) -> array[float]:
    height, width, channels = row["size"]
    wanted = 4 * height * width * channels
    content = zlib.decompressobj().decompress(row["picture"], min(wanted, _MOST_BYTES))
    if len(content) != wanted:
        raise ValueError("the picture has another size than its row says")
    return array("f", content)


def _sentence(samples: int, numbers: Mapping[str, Measured]) -> str:
    if "psnr" not in numbers:
        return ""
    return f"PSNR {numbers['psnr'].value:.2f} dB on {samples:,} sample{'' if samples == 1 else 's'}"


task = Task(
    NAME,
    "Image enhancement",
    partial(RuledTally, NAME),
    headline=("psnr", "ssim"),
    is_ruled=True,
    options=OPTIONS,
    roles=(("image",), ("tensor",)),
    is_single=True,
    has_classes=False,
    columns=(
        Column("target", "string"),
        Column("picture", "binary"),
        Column("form", "string"),
        Column("size", "list<int32>"),
        Column("psnr", "float64"),
        Column("ssim", "float64"),
        Column("score", "binary"),
    ),
    values=_values,
    plain=_plain,
    shapes=_shapes,
    glance=_glance,
    quality="Quality is 1 less the RMSE of a picture as a share of the data range.",
    sentence=_sentence,
)
add(TASKS.things, NAME, task, TASKS.code)

for _each in (
    RuledMeasure(
        "psnr",
        "PSNR",
        (NAME,),
        unit=DECIBEL,
        bounds=(-math.inf, math.inf),
        about="Peak signal-to-noise ratio, 20 log10(range / RMSE) of each picture, the mean of the pictures.",
    ),
    RuledMeasure(
        "ssim",
        "SSIM",
        (NAME,),
        unit=NUMBER,
        bounds=(-1.0, 1.0),
        about="Structural similarity (Wang 2004: Gaussian window, sigma 1.5, unless `window` is another), their mean.",
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
