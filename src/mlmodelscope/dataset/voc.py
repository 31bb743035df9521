"""Pascal VOC's annotations: beside each picture an XML file with the things in it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from mlmodelscope.dataset.boxes import Boxes
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import image_names
from mlmodelscope.dataset.sample import Listing, NamedFile, Unlabelled
from mlmodelscope.dataset.text import read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

CLASSES = [
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
]
_MOST_BYTES = 4 << 20


@dataset_format("voc", has_targets=True)
def read_voc(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures, and for each an XML file of the same name in VOC's form (`labels_url` is their folder)."""
    if labels is None or not labels.path.is_dir():
        raise DatasetError(f"{dataset.name} names no `labels_url`: the folder with an XML file for each picture")
    root, found, names = str(source.path), [], set()
    for name in image_names(source, dataset):
        file = labels.path / PurePosixPath(name).with_suffix(".xml")
        picture = _picture(file, name)
        names |= set(picture.more["name"]) if picture.boxes else set()
        found.append((name, picture))
    classes = CLASSES if names <= set(CLASSES) else sorted(names)
    numbers = {name: number for number, name in enumerate(classes)}
    samples = []
    for name, picture in found:
        kinds = picture.more.pop("name", [])
        picture.classes = [numbers[each] for each in kinds]
        samples.append(Unlabelled(name, {"file": f"{root}/{name}"}, None, target=picture.target))
    return Listing(samples, classes)


def _picture(file: Path, name: str) -> Boxes:
    tree = _tree(file)
    try:
        size = tuple(int(float(tree.findtext(f"size/{side}") or "")) for side in ("height", "width"))
    except (ValueError, OverflowError):
        raise DatasetError(f"{file.name} does not say how large `{name}` is") from None
    found = Boxes(name, size if all(side > 0 for side in size) else None)  # type: ignore[arg-type]
    for number, each in enumerate(tree.findall("object"), 1):
        what = f"object {number} of {file.name}"
        try:
            corners = [float(each.findtext(f"bndbox/{side}") or "") for side in ("xmin", "ymin", "xmax", "ymax")]
        except ValueError:
            raise DatasetError(f"{what} has no `bndbox` of four numbers") from None
        kind = (each.findtext("name") or "").strip()
        if not kind:
            raise DatasetError(f"{what} has no `name`")
        found.add(what, corners, -1, difficult=each.findtext("difficult") == "1", name=kind)
    return found


def _tree(file: Path) -> ElementTree.Element:
    if not file.is_file():
        raise DatasetError(f"there is no {file.name} among the annotations")
    if file.stat().st_size > _MOST_BYTES:
        raise DatasetError(f"{file.name} is larger than an annotation can be")
    text = read_text(NamedFile(file, file.name))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # entities grow without bound, or read other files
        raise DatasetError(f"{file.name} declares entities, which an annotation has no use for")
    try:
        return ElementTree.fromstring(text)  # nosec B314 # it has no entities, see above
    except ElementTree.ParseError as error:
        raise DatasetError(f"{file.name} is not XML: {error}") from None
