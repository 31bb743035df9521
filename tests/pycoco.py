"""The twelve (or ten) numbers that pycocotools gives for the same truth and answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def reference_numbers(data: Any, answers: Any, kind: str, folder: Path) -> list[float]:
    """Of `kind` `bbox`, `segm` or `keypoints`; skips where pycocotools is missing."""
    coco = pytest.importorskip("pycocotools.coco")
    from pycocotools.cocoeval import COCOeval

    truth, said = folder / "gt.json", folder / "dt.json"
    truth.write_text(json.dumps(data))
    said.write_text(json.dumps(answers))
    known = coco.COCO(str(truth))
    reference = COCOeval(known, known.loadRes(str(said)), kind)
    reference.evaluate()
    reference.accumulate()
    reference.summarize()
    return [float(each) for each in reference.stats]
