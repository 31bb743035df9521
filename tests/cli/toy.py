"""A model and a dataset as files, for the verbs that are tried on them: the fake predictor and some pictures."""

import json
from pathlib import Path
from typing import Any

from small_world import DATASET, MODEL, write_pictures

CLAIM = "claims: [{metric: top1, value: 75.1, dataset: imagenet-val}]\n"


def write_toy(folder: Path, pictures: int = 12, **fake: Any) -> None:
    """`toy.yml` and `pictures.yml` with all that they name; `fake` goes into the model file."""
    (folder / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, **fake}))
    (folder / "toy.yml").write_text(MODEL + CLAIM)
    (folder / "pictures.yml").write_text(DATASET)
    write_pictures(folder / "pictures", pictures)
