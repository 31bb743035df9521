"""Where the weights of a graph lie, when its format keeps them in a file of their own: beside it, by custom."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

_MOST_NAMES = 10_000
_Finder = Callable[[Path], Path | None]


def same_stem(*suffixes: str) -> _Finder:
    """`model.param` and `model.bin`."""

    def find(path: Path) -> Path | None:
        return next((each for suffix in suffixes if (each := path.with_suffix(suffix)).is_file()), None)

    return find


def caffemodel(path: Path) -> Path | None:
    """Of the same name, or the only one in the folder: `deploy.prototxt` seldom has its weights' name."""
    found = path.with_suffix(".caffemodel")
    if found.is_file():
        return found
    others = _beside(path, r".*\.caffemodel")
    return others[0] if len(others) == 1 else None


def mxnet_params(path: Path) -> Path | None:
    """`NAME-symbol.json` and `NAME-0012.params`: of several epochs the last."""
    stem = re.escape(path.stem.removesuffix("-symbol"))
    found = _beside(path, rf"{stem}(-\d{{4,}})?\.params")
    return found[-1] if found else None


def init_net(path: Path) -> Path | None:
    """`predict_net.pb` and `init_net.pb`, whatever stands around the words."""
    if "predict" not in path.name:
        return None
    found = path.with_name(path.name.replace("predict", "init"))
    return found if found.is_file() else None


def nothing(path: Path) -> Path | None:
    return None


def _beside(path: Path, pattern: str) -> list[Path]:
    found = []
    for count, each in enumerate(path.absolute().parent.iterdir()):
        if count > _MOST_NAMES:
            break
        if re.fullmatch(pattern, each.name) and each.is_file():
            found.append(each)
    return sorted(found)
