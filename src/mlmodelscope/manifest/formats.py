"""What a dataset's `format` may be called. How each is read is no business of a manifest: see `dataset/format.py`."""

from __future__ import annotations

from mlmodelscope.plugins.installed import PREFIX, plugins_in

GROUP = "datasets"
BUILT_IN = {
    "folder": "mlmodelscope.dataset.images",
    "list": "mlmodelscope.dataset.images",
    "imagenet": "mlmodelscope.dataset.images",
    "cifar10": "mlmodelscope.dataset.cifar",
    "cifar100": "mlmodelscope.dataset.cifar",
    "mnist": "mlmodelscope.dataset.mnist",
    "arrays": "mlmodelscope.dataset.arrays",
    "rows": "mlmodelscope.dataset.rows",
    "coco": "mlmodelscope.dataset.coco",
    "voc": "mlmodelscope.dataset.voc",
    "yolo": "mlmodelscope.dataset.yolo",
    "masks": "mlmodelscope.dataset.masks",
    "panoptic": "mlmodelscope.dataset.panoptic",
    "pictures": "mlmodelscope.dataset.pictures",
    "files": "mlmodelscope.dataset.files",
    "functions": "mlmodelscope.dataset.files",
    "raw": "mlmodelscope.dataset.raw_files",
    "table": "mlmodelscope.dataset.table",
    "documents": "mlmodelscope.dataset.documents",
    "huggingface": "mlmodelscope.dataset.huggingface",
    "conll": "mlmodelscope.dataset.conll",
    "squad": "mlmodelscope.dataset.squad",
    "parallel": "mlmodelscope.dataset.parallel",
    "spans": "mlmodelscope.dataset.standoff",
    "factrueval": "mlmodelscope.dataset.factrueval",
    "audio": "mlmodelscope.dataset.audio",
}
"""Formats of ours, and the module that reads each, which is imported when such a dataset is opened."""

FINDS_SPLITS = ("huggingface", "factrueval", "audio")
"""Formats whose files tell to which split they belong."""

READ_BY_TASK = ("table", "documents", "huggingface", "audio")
"""Formats whose truth is another for each task."""


def format_names() -> list[str]:
    """Ours, and those that installed packages add; nothing is imported for it."""
    return [*BUILT_IN, *sorted({each.name for each in plugins_in(PREFIX + GROUP)} - BUILT_IN.keys())]


def is_format(name: str) -> bool:
    return name in BUILT_IN or name in format_names()
