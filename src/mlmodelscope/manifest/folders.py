"""Where manifests lie: the user's own folders, then those that come with the package. Nothing of them is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

Kind = Literal["models", "datasets", "software", "hardware", "logs", "reproductions"]


def catalog_folders() -> list[Path]:
    """Where manifests are looked for; the user's own folders come first."""
    own = [Path(part).expanduser() for part in os.environ.get("MLMODELSCOPE_MANIFESTS", "").split(os.pathsep) if part]
    shipped = shipped_folder()
    return own + ([shipped] if shipped is not None else [])


def shipped_folder() -> Path | None:
    """The manifests that come with the package."""
    package = Path(__file__).parent.parent
    # Installed, they lie inside the package; in a checkout, at its top.
    places = (package / "_manifests", package.parent.parent / "manifests")
    return next((folder for folder in places if folder.is_dir()), None)


def catalog_files(kind: Kind) -> Iterator[Path]:
    """Files that may be manifests of a kind, unread."""
    for folder in catalog_folders():
        for place in (folder / kind, folder) if not (folder / kind).is_dir() else (folder / kind,):
            yield from sorted(place.glob("*.y*ml"))
