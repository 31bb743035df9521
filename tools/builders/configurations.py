"""Inside a stack: what timm and torchvision say of the pictures that their models take, as JSON on standard output."""

import json
import sys

import torch

from mlmodelscope_worker.builder import torchvision_operators

torchvision_operators.provide(torch)

import timm  # noqa: E402
import torchvision  # noqa: E402
from timm.data import resolve_data_config  # noqa: E402


def timm_configurations():
    names = sorted(set(timm.list_models()) | set(timm.list_models(pretrained=True)))
    for name in names:
        config = timm.get_pretrained_cfg(name)
        if config is None:
            continue
        plain = {key: value for key, value in config.to_dict().items() if value is not None}
        for use_test_size in (False, True):
            effective = resolve_data_config(pretrained_cfg=plain, use_test_size=use_test_size)
            yield {"name": name, "test_size": use_test_size, "config": plain, "effective": effective}


def torchvision_presets():
    for name in torchvision.models.list_models():
        for weights in torchvision.models.get_model_weights(name):
            preset = weights.transforms()
            fields = {key: _plain(value) for key, value in vars(preset).items() if not key.startswith("_")}
            yield {"name": str(weights), "preset": type(preset).__name__, "fields": fields}


def _plain(value):
    if hasattr(value, "value"):  # an interpolation
        return value.value
    return list(value) if isinstance(value, (list, tuple)) else value


if __name__ == "__main__":
    found = {"timm": list(timm_configurations()), "torchvision": list(torchvision_presets())}
    json.dump(found, sys.stdout, default=list)
