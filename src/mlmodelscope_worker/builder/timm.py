"""timm: the architectures of its own registry, such as `resnet50.a1_in1k`; nothing is downloaded."""

import os
import sys

from ..predictor.predictor import ModelError, Tensor
from . import torchvision_operators
from .built import Built, unknown
from .weights import fill


def build(torch, build):
    os.environ["HF_HUB_OFFLINE"] = "1"
    torchvision_operators.provide(torch)
    import timm

    name, _, tag = build.architecture.partition(".")
    known = set(timm.list_models()) | set(timm.list_models(pretrained=True))
    if name not in known or (tag and build.architecture not in known):
        raise unknown(build, timm.__version__, known)
    try:
        module = timm.create_model(build.architecture, pretrained=False, **build.options)
    except (TypeError, ValueError, RuntimeError, AssertionError, KeyError) as error:
        raise ModelError("timm %s cannot build %s: %s" % (timm.__version__, build.architecture, str(error)[:300]))
    fill(torch, module, build, _adapter(module, name))
    channels = build.options.get("in_chans") or module.pretrained_cfg.get("input_size", (3,))[0]
    kind = str(next(module.parameters()).dtype).replace("torch.", "")
    return Built(module.eval(), [Tensor("x", kind, (None, channels, None, None))], [Tensor("output", None, None)])


def _adapter(module, name):
    """The function beside an architecture with which timm itself renames tensors of older files."""
    from timm.models import model_entrypoint

    rename = getattr(sys.modules[model_entrypoint(name).__module__], "checkpoint_filter_fn", None)
    return None if rename is None else lambda tensors: rename(tensors, module)
