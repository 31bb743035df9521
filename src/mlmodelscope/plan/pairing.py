"""Whether a model and a dataset can belong together: what cannot be right is refused, what may be wrong is said.

The same check serves everybody who plans: with what the manifests say, with the lists of classes where they are here
already, and once more when the model is open and has told how many outputs it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.language import is_language_pair

_CLASSES = {"cifar10": 10, "cifar100": 100}
_CHANNELS = {"cifar10": 3, "cifar100": 3, "mnist": 1}
_FAR = 2
"""How many times more outputs than classes cannot be padding or a background any more."""
_FAR_FROM_FOLDERS = 8
"""The same for classes that nobody has listed: folders may be there for some of the classes only."""


@dataclass(frozen=True)
class Classes:
    """What is known of the classes on both sides."""

    outputs: int | None = None
    """Classes that the model tells apart."""
    names: Sequence[str] = ()
    """What the model's manifest calls them."""
    classes: Sequence[str] = ()
    """What the dataset calls its own."""
    is_listed: bool = True
    """Whether the dataset's classes are a list of all of them, and not only the folders that there are."""


def check_manifests(model: ModelManifest, dataset: DatasetManifest, known: Classes | None = None) -> tuple[str, ...]:
    """What may be wrong with a pairing; PlanError where it cannot be right."""
    if is_language_pair(model, dataset):
        return ()
    if dataset.task not in (model.task, "general") and model.task != "general":
        raise PlanError(f"{model.name} is for {model.task}, {dataset.name} for {dataset.task}")
    if model.postprocess is not None or model.job_type == "training" or not model.outputs:
        return ()
    known = known or Classes()
    first = model.outputs[0]
    declared = first.shape[-1] if first.shape and first.shape[-1] > 1 else None
    outputs = known.outputs or declared
    found = check_classes(
        model.name, dataset.name, first.label_offset, Classes(outputs, known.names, known.classes), dataset.format
    )
    return (*found, *_colors(model, dataset))


def check_classes(model: str, dataset: str, offset: int, known: Classes, format: str | None = None) -> tuple[str, ...]:
    """The same for the classes alone."""
    classes = len(known.classes) or _CLASSES.get(format or "")
    outputs = known.outputs or len(known.names)
    shared = _share_a_name(known)
    unlike: tuple[str, ...] = ()
    if known.names and known.classes and not shared:
        listed = f"`{known.names[0][:40]}` and `{known.classes[0][:40]}`"
        unlike = (f"{model} and {dataset} have no class name in common (such as {listed}): are they the same classes?",)
    if not classes or not outputs:
        return unlike
    expected = classes + max(0, offset)
    many = f"{model} has {outputs} {'outputs' if known.outputs else 'class names'}, {dataset} has {classes} classes"
    is_far = outputs >= _FAR * expected or _FAR * outputs <= expected
    if known.is_listed and is_far and not shared:
        raise PlanError(
            f"{many}: these cannot be the same classes",
            hint="choose a dataset of the classes that the model was trained on (`mlmodelscope datasets`); "
            "if this one has some of them, list all of the model's classes in its `classes_url`",
        )
    if not known.is_listed:
        return (*unlike, *([f"{many} in its folders"] if outputs >= _FAR_FROM_FOLDERS * expected else []))
    if outputs == expected or (not known.outputs and outputs == classes):
        return unlike
    background = (
        "; a background class in front needs `label_offset: 1`" if outputs == classes + 1 and not offset else ""
    )
    return (*unlike, f"{many}{f' and the label offset is {offset}' if offset else ''}{background}")


def _share_a_name(known: Classes) -> bool:
    ours = {_plain(name) for name in known.names}
    return any(_plain(name) in ours for name in known.classes)


def _plain(name: str) -> str:
    return name.lower().partition(",")[0].replace("_", " ").strip()


def _colors(model: ModelManifest, dataset: DatasetManifest) -> Iterator[str]:
    is_picture = dataset.shape is not None and len(dataset.shape) == 3
    channels = dataset.shape[2] if dataset.shape and is_picture else _CHANNELS.get(dataset.format)
    steps = model.inputs[0].processing if model.inputs else ()
    layout = next((step.parameters.get("color_layout") for step in steps if step.name == "decode"), None)
    if layout is None or channels is None:
        return
    if layout == "GRAY" and channels == 3:
        yield f"{model.name} takes gray pictures, those of {dataset.name} are in color: they are converted"
    elif layout != "GRAY" and channels == 1:
        yield f"{model.name} takes pictures in color, those of {dataset.name} are gray: each channel gets the same"
