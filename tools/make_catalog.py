"""Write the facts that ship with the package, from sources that lie in folders: see the table at the top.

    python tools/make_catalog.py FOLDER

FOLDER has one folder or file for each source, in the layout of `_SOURCES`: wheels unpacked, repositories at their
commits. The bytes depend on nothing but those files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mlmodelscope.catalog.facts import SHIPPED, Source, write_facts
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, find_form, read_entries

# (folder, label, form, origin, version, license)
_SOURCES = (
    ("timm", "timm", "timm", "pypi:timm, results of huggingface/pytorch-image-models",
     "1.0.31, results aa4b5850", "Apache-2.0"),
    ("torchvision", "torchvision", "torchvision", "pypi:torchvision", "0.24.1", "BSD-3-Clause"),
    ("mmpretrain", "mmpretrain", "openmmlab", "https://github.com/open-mmlab/mmpretrain", "ee7f2e88", "Apache-2.0"),
    ("mmdetection", "mmdetection", "openmmlab", "https://github.com/open-mmlab/mmdetection", "cfd5d3a9",
     "Apache-2.0"),
    ("mmsegmentation", "mmsegmentation", "openmmlab", "https://github.com/open-mmlab/mmsegmentation", "b040e147",
     "Apache-2.0"),
    ("onnx", "onnx", "onnx", "https://github.com/onnx/models", "b1eeaa1a", "Apache-2.0"),
    ("keras", "keras", "keras", "https://github.com/keras-team/keras-io", "983729da", "Apache-2.0"),
)  # fmt: skip


def main(folder: Path) -> None:
    made = []
    for name, label, form, origin, version, terms in _SOURCES:
        reading = Reading(Files(folder / name))
        entries = read_entries(find_form(reading.files, form), reading)
        claims = sum(len(each.claims) for each in entries)
        left_out = dict(sorted(reading.left_out.items()))
        source = Source(label, form, origin, version, terms, len(entries), claims, left_out, reading.files.digest)
        made.append((source, entries))
        print(f"{label}: {len(entries)} models, {claims} claims, left out: {left_out}")
    raw = write_facts(made)
    SHIPPED.write_bytes(raw)
    print(f"{SHIPPED}: {len(raw)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
