"""From where a source is read: a folder, a file, an archive, a package, or a Git repository at a commit.

models/                                     a folder or a file of this machine
models.tar.gz                               an archive; also https://…/models.zip#folder/
pypi:timm==1.0.31/timm/                     a folder inside a package
git+https://host/repository@COMMIT#folder   a Git repository; without @COMMIT its newest commit, which is kept
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.manifest.reference import FileReference, parse_reference
from mlmodelscope.manifest.shown_address import ARCHIVE, holds_secret
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.git_tree import fetch_tree, parse_git
from mlmodelscope.settings import Settings


@dataclass(frozen=True)
class Opened:
    """A folder or file that can be read now."""

    place: Path
    origin: str
    """How the same is reached again."""
    version: str = ""
    """Commit or version of a package; empty where only the content tells."""


@contextlib.contextmanager
def opened_origin(settings: Settings, origin: str) -> Iterator[Opened]:
    """Bring a source here; nothing of it is executed."""
    if holds_secret(origin):
        raise UsageError(
            "the address has a password or a token, which would be kept", hint="netrc or git's own settings have those"
        )
    if origin.startswith("git+"):
        git = parse_git(origin)
        with tempfile.TemporaryDirectory(prefix="mlmodelscope-catalog-") as folder:
            commit = fetch_tree(git, Path(folder), settings.offline)
            place = Path(folder) / git.folder if git.folder else Path(folder)
            if not place.resolve().is_relative_to(Path(folder).resolve()) or not place.exists():
                raise ArtifactError(f"the repository has no folder {git.folder}")
            yield Opened(place, origin, commit)
        return
    try:
        reference = parse_reference(origin)
    except ValueError as error:
        raise UsageError(str(error)) from None
    yield _opened(settings, reference, origin)


def _opened(settings: Settings, reference: FileReference, origin: str) -> Opened:
    if reference.is_local and not reference.member:
        place = Path(reference.location).expanduser().absolute()
        if not place.exists():
            raise ArtifactError(f"there is neither a folder nor a file {place}")
        if place.is_dir() or not ARCHIVE.search(place.name):
            return Opened(place, str(place))
        origin = f"{place}#/"
    elif not reference.member and ARCHIVE.search(reference.location.partition("?")[0]):
        origin = f"{origin}#/"
    artifact = ArtifactStore(settings).fetch(origin)
    return Opened(artifact.path, origin, reference.version or artifact.sha256[:16])
