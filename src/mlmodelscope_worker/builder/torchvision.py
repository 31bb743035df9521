"""torchvision: the architectures of its own registry, such as `resnet50`; nothing is downloaded."""

import inspect

from ..predictor.predictor import ModelError, Tensor
from . import torchvision_operators
from .built import Built, unknown
from .weights import fill

_DETECTORS = ("fasterrcnn", "maskrcnn", "keypointrcnn", "retinanet", "ssd", "fcos")


def build(torch, build):
    torchvision_operators.provide(torch)
    import torchvision

    models = torchvision.models
    if build.architecture not in models.list_models():
        raise unknown(build, torchvision.__version__, models.list_models())
    maker = models.get_model_builder(build.architecture)
    if build.architecture.startswith(_DETECTORS) or "raft" in build.architecture:
        raise ModelError(
            "%s takes lists or pairs of pictures, which the builder does not make: export it and name the file"
            % build.architecture
        )
    options = dict(build.options)
    if "weights_backbone" in inspect.signature(maker).parameters:
        options["weights_backbone"] = None  # it would be downloaded otherwise
    if build.architecture in _SLOW:
        options.setdefault("init_weights", False)
    try:
        module = models.get_model(build.architecture, weights=None, **options)
    except (TypeError, ValueError, RuntimeError, AssertionError, KeyError) as error:
        words = (torchvision.__version__, build.architecture, str(error)[:300])
        raise ModelError("torchvision %s cannot build %s: %s" % words)
    fill(torch, module, build)
    kind = str(next(module.parameters()).dtype).replace("torch.", "")
    is_video = "video" in maker.__module__
    shape = (None, 3, None, None, None) if is_video else (None, 3, None, None)
    outputs = [Tensor("out" if "segmentation" in maker.__module__ else "output", None, None)]
    return Built(module.eval(), [Tensor("x", kind, shape)], outputs)


_SLOW = ("googlenet", "inception_v3")  # their initial weights take minutes to draw
