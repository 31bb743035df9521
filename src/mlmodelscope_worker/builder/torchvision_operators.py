"""torchvision beside a PyTorch for CPUs: PyPI's wheels are compiled for CUDA, and then its own operators are missing.

Without them it cannot even be imported, for it describes the operator `nms` as it starts. Classification, segmentation
and video need none of them; a detector that does fails when it calls one.
"""

import glob
import importlib.util
import os

_kept = []  # operators are gone with the library that declares them


def provide(torch):
    """Declare `nms` where torchvision's compiled part cannot be loaded; to be called before torchvision is imported."""
    if _kept:
        return
    found = importlib.util.find_spec("torchvision")  # looks, and imports nothing
    folder = os.path.dirname(found.origin) if found is not None and found.origin else None
    if folder is None or any(_loads(torch, path) for path in sorted(glob.glob(os.path.join(folder, "_C*.so")))):
        _kept.append(None)
        return
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define("%s(Tensor dets, Tensor scores, float iou_threshold) -> Tensor" % name)
    _kept.append(library)


def _loads(torch, path):
    try:
        torch.ops.load_library(path)
    except (ImportError, OSError):
        return False
    return True
