"""Pictures that a model is to give back: each is its own truth, or has one of the same name."""

from __future__ import annotations

from pathlib import PurePosixPath

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import image_names
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset


@dataset_format("pictures", has_targets=True)
def read_pictures(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures that are what a model should answer, or that have a true one of the same name in `labels_url`."""
    names, root = image_names(source, dataset), str(source.path)
    true = {name: name for name in names} if labels is None else _partners(names, labels, dataset)
    folder = root if labels is None else str(labels.path)
    return [
        Unlabelled(
            name,
            {"file": f"{root}/{name}"},
            None,
            target={"picture": {"file": f"{folder}/{true[name]}"}, "name": true[name]},
        )
        for name in names
    ]


def _partners(names: list[str], labels: NamedFile, dataset: PlannedDataset) -> dict[str, str]:
    """The true picture of each: of the same name, or of the same name with another ending."""
    if not labels.path.is_dir():
        raise DatasetError(f"{labels.name} is not a folder of pictures")
    known = image_names(labels, dataset.model_copy(update={"include": "*"}))
    same, stems = set(known), {str(PurePosixPath(each).with_suffix("")): each for each in known}
    found = {}
    for name in names:
        partner = name if name in same else stems.get(str(PurePosixPath(name).with_suffix("")))
        if partner is None:
            raise DatasetError(f"`{name}` of {dataset.name} has no true picture of its name in {labels.name}")
        found[name] = partner
    return found
