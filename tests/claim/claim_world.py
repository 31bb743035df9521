"""Models of the fake predictor with claims about pictures that are here, and about data that is not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mlmodelscope.claim.listing import Published
from mlmodelscope.claim.status import NOT_CHECKED, Standing
from mlmodelscope.record.checks import Check
from small_world import DATASET, MODEL, write_pictures

HELD = "{metric: top5, value: 100.0, dataset: pictures}"
"""There are three classes, so that the fifth place is always reached."""
TOO_HIGH = "{metric: top1, value: 100.0, dataset: pictures}"
TOO_LOW = "{metric: top5, value: 50.0, dataset: pictures}"
ELSEWHERE = "{metric: top1, value: 75.1, dataset: nowhere-val}"
OF_NOBODY = "{metric: mood, value: 5, dataset: pictures}"
MOMENT = datetime(2026, 1, 31, 10, tzinfo=UTC)


def write_claims(folder: Path, models: dict[str, list[str]], **fake: Any) -> Path:
    """Manifests of models by name, each with its claims; the dataset is `pictures`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 3, **fake}))
    for name, claims in models.items():
        text = MODEL.replace("name: toy", f"name: {name}")
        (folder / f"{name}.yml").write_text(f"{text}claims: [{', '.join(claims)}]\n")
    (folder / "pictures.yml").write_text(DATASET + "size: 12\n")
    if not (folder / "pictures").exists():
        write_pictures(folder / "pictures")
    return folder


def check_of(claim: str = "a", record: str = "r1", verdict: str = "reproduced", days: int = 0, **more: Any) -> Check:
    facts: dict[str, Any] = {
        "model": "toy@1.0.0",
        "metric": "top1",
        "value": "75.1",
        "dataset": "pictures",
        "cause": "",
        "measured": 0.751,
        "low": 0.74,
        "high": 0.76,
        "samples": 12,
        "population": 12,
        "stack": "current (fake 1.0)",
        "machine": "here (a processor)",
        "person": "somebody",
        "replication": None,
        "checked_at": MOMENT + timedelta(days=days),
    }
    return Check(claim=claim, record=record, verdict=verdict, **{**facts, **more})


def claim_of(model: str = "toy@1.0.0", dataset: str = "pictures", check: Check | None = None, **more: Any) -> Published:
    standing = Standing(check.verdict, check, 1) if check is not None else NOT_CHECKED
    facts: dict[str, Any] = {
        "metric": "top1",
        "value": "75.1",
        "symbol": "%",
        "conditions": "",
        "place": "",
        "key": f"{model}/{dataset}",
        "fits": True,
        "is_measurable": True,
    }
    return Published(model=model, dataset=dataset, standing=standing, **{**facts, **more})
