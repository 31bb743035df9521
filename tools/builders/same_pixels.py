"""Inside a stack: whether steps make the pixels that the library's own transform makes, on pictures of three shapes.

Takes a JSON list of {library, effective or preset, steps} on standard input; prints one of the largest differences.
"""

import io
import json
import sys

import numpy as np
import torch

from mlmodelscope_worker.builder import torchvision_operators
from mlmodelscope_worker.pipeline import STEPS, Pipeline

torchvision_operators.provide(torch)

import torchvision  # noqa: E402
from PIL import Image  # noqa: E402
from timm.data import create_transform  # noqa: E402

SHAPES = ((375, 500), (501, 333), (97, 121))
"""Height and width: a landscape, a portrait with odd sides, and one that is smaller than any model wants."""


def pictures():
    """PNG files with edges, slopes and noise; the same each time."""
    for height, width in SHAPES:
        random = np.random.RandomState(height)
        down, across = np.mgrid[0:height, 0:width]
        slopes = np.stack([255 * down / height, 255 * across / width, 127 + 127 * np.sin(down * across / 900.0)], -1)
        noise = random.randint(-60, 60, (height, width, 3)) * ((down // 16 + across // 16) % 2)[..., None]
        file = io.BytesIO()
        Image.fromarray((slopes + noise).clip(0, 255).astype(np.uint8)).save(file, "PNG")
        yield file.getvalue()


def transform_of(item):
    if item["library"] == "timm":
        return create_transform(**item["effective"])
    name, _, member = item["weights"].partition(".")
    return torchvision.models.get_weight(f"{name}.{member}").transforms()


def steps_of(item):
    return Pipeline([{"name": name, "parameters": STEPS[name].resolve(value)} for name, value in item["steps"]])


def main():
    files = list(pictures())
    results = []
    for item in json.load(sys.stdin):
        theirs, ours = transform_of(item), steps_of(item)
        worst, shapes = 0.0, []
        for data in files:
            wanted = theirs(Image.open(io.BytesIO(data)).convert("RGB")).numpy()
            made = ours(data).array
            shapes.append(list(made.shape))
            if made.shape != wanted.shape:
                worst = float("inf")
            elif not np.array_equal(made, wanted):
                worst = max(worst, float(np.abs(made.astype(np.float64) - wanted).max()))
        results.append({"difference": worst, "shapes": shapes})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
