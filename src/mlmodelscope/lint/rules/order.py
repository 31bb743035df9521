"""Crop and resize in another order than the model's family was trained with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding, Severity
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.schema import Input, ModelManifest

# The first that fits a model's name. Inception-ResNet is an Inception.
_FAMILIES = (
    (re.compile(r"inception|xception|nasnet|efficientnet", re.IGNORECASE), ("crop", "resize")),
    (
        re.compile(r"resnet|resnext|vgg|densenet|squeezenet|alexnet|shufflenet|googlenet|mnasnet", re.IGNORECASE),
        ("resize", "crop"),
    ),
)
_IN_WORDS = {
    ("crop", "resize"): "takes the central 87.5 % or so, then resizes them to the model's size",
    ("resize", "crop"): "resizes the shorter side to 256 or so, then takes the centre of 224",
}
_IMAGENET = re.compile(r"image-?net|ilsvrc", re.IGNORECASE)


@rule("M060", "unusual-order", "warning", ("model",))
def unusual_order(subject: Subject) -> Iterator[Finding]:
    """Crop and resize are in the other order than usual for this family of models.

    ResNet, VGG and their relatives are evaluated with the shorter side resized to 256 and the centre of 224 cut out;
    Inception, NASNet and EfficientNet with the central 87.5 % cut out and resized. The other order shows the model
    objects of another size and costs up to some percent. The family is told by the model's name; if this one was
    trained otherwise, ignore it. An information only where the shape is kept: then the model sees the same part of the
    image either way, interpolated a little differently.

    Wrong:

        name: resnet50
        inputs:
          - type: image
            processing:
              decode:
              crop: {method: center, percentage: 87.5}
              resize: {dimensions: [224, 224]}

    Right:

        name: resnet50
        inputs:
          - type: image
            processing:
              decode:
              resize: {short_side: 256}
              crop: {method: center, dimensions: [224, 224]}
    """
    usual = next((order for pattern, order in _FAMILIES if pattern.search(subject.model.name)), None)
    for number, layer in enumerate(subject.model.inputs):
        names = [step.name for step in layer.processing]
        order = tuple(name for name in names if name in ("crop", "resize"))
        if usual is not None and order == usual[::-1]:
            at = ("inputs", number, "processing", names.index(order[0]))
            hint = f"this family usually {_IN_WORDS[usual]}"
            severity: Severity | None = "info" if _keeps_shape(layer) else None
            yield subject.finding(at, f"`{order[0]}` comes before `{order[1]}`", hint, severity=severity)


def _keeps_shape(layer: Input) -> bool:
    """Whether crop and resize take the centre without squeezing it, in whichever order."""
    crop, resize = ({step.name: step.parameters for step in layer.processing}[name] for name in ("crop", "resize"))
    return bool(crop.get("percentage") and (crop.get("square") or resize.get("keep_aspect_ratio")))


@rule("M061", "squeezed-image", "info", ("model",))
def squeezed_image(subject: Subject) -> Iterator[Finding]:
    """An ImageNet classifier gets squeezed images.

    The whole image is resized to a square without a crop, so that a wide object becomes a narrow one. Published
    accuracies nearly always come from a crop that keeps the shape, and are not reached this way. The original project's
    agents did it for every model, whatever the manifest said.

    Wrong:

        processing:
          decode:
          resize: {dimensions: [224, 224]}

    Right:

        processing:
          decode:
          resize: {short_side: 256}
          crop: {method: center, dimensions: [224, 224]}
    """
    if not _is_imagenet_classifier(subject.model):
        return
    for number, layer in enumerate(subject.model.inputs):
        names = [step.name for step in layer.processing]
        for index, step in enumerate(layer.processing):
            squeezes = step.parameters.get("dimensions") and not step.parameters.get("keep_aspect_ratio")
            if step.name == "resize" and squeezes and "crop" not in names:
                at = ("inputs", number, "processing", index)
                yield subject.finding(at, "the image is resized without keeping its aspect ratio, and not cropped")


def _is_imagenet_classifier(model: ModelManifest) -> bool:
    words = [claim.dataset or "" for claim in model.claims]
    words.append(model.training_dataset.name if model.training_dataset else "")
    return model.task == "classification" and any(map(_IMAGENET.search, words))
