"""What a library does to pictures before its models, written out as our steps: configuration in, `processing` out.

The same readers serve `init --from`; here they are asked by what reads whole libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.draft import DraftStep, plain
from mlmodelscope.author.importer.registry import Context
from mlmodelscope.author.importer.timm import read as read_timm
from mlmodelscope.author.importer.torchvision import read as read_torchvision

Processing = list[dict[str, Any]]
"""Steps as a manifest's `processing` has them."""


def timm_processing(config: Mapping[str, Any], *, use_test_size: bool = False) -> Processing:
    """Of a `pretrained_cfg`. With `use_test_size` at the size of timm's own tables, where it has one."""
    chosen = {key: value for key, value in config.items() if not key.startswith("test_")}
    if use_test_size:
        for name in ("input_size", "crop_pct"):
            if config.get(f"test_{name}") is not None:
                chosen[name] = config[f"test_{name}"]
    draft = read_timm({"pretrained_cfg": chosen}, Context("pretrained_cfg"))
    return _written(draft.steps or [], "NCHW")


def torchvision_processing(preset: str, fields: Mapping[str, Any]) -> Processing:
    """Of a preset such as `ImageClassification` and its fields, which `weights.transforms()` has."""
    known = {key: value for key, value in fields.items() if value is not None and key != "training"}
    draft = read_torchvision({"transforms": {"type": preset, **known}, "meta": {}}, Context("transforms"))
    return _written(draft.steps or [], "NCHW")


def _written(steps: list[DraftStep], layout: str) -> Processing:
    written = [{step.name: plain(step.value)} for step in steps if step.name != "layout"]
    return [*written, {"layout": layout}]
