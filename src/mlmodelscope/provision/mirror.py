"""Folders of files that are looked at before the network is asked, so that sites without one can work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.reference import FileReference
from mlmodelscope.provision.hashing import Hasher
from mlmodelscope.types import Checksum

_AT_ONCE = 64


class Mirrors:
    def __init__(self, folders: tuple[Path, ...], hasher: Hasher) -> None:
        self._folders = folders
        self._hasher = hasher

    def find(self, checksum: Checksum, name: str) -> Path | None:
        """The file with this digest, whatever it is called; likely names are tried first."""
        files = sorted(self._files())
        likely = [path for path in files if checksum.hex in path.name or path.name == name]
        rest = [path for path in files if path not in set(likely)]
        groups = [[path] for path in likely] + [rest[at : at + _AT_ONCE] for at in range(0, len(rest), _AT_ONCE)]
        for group in groups:
            for path, digest in zip(group, self._digests(group, checksum.algorithm), strict=True):
                if digest == checksum.hex:
                    return path
        return None

    def _digests(self, files: list[Path], algorithm: str) -> list[str]:
        """An empty digest for a file that cannot be read: it must not hide the others."""
        try:
            return self._hasher.files(files, algorithm)
        except ArtifactError:
            return [digest for path in files for digest in self._digests([path], algorithm)] if files[1:] else [""]

    def archives(self, reference: FileReference, is_checked: bool) -> Iterator[Path]:
        """Copies of the package or archive, by file name.

        A package's name and version say enough; another archive's name does not, unless what is taken out of it is
        checked.
        """
        if not reference.member or reference.is_local or not (is_checked or reference.version):
            return
        yield from (path for path in sorted(self._files()) if _is_archive_of(path.name, reference))

    def _files(self) -> Iterator[Path]:
        for folder in self._folders:
            for root, _, names in os.walk(folder):
                yield from (Path(root, name) for name in names if os.path.isfile(os.path.join(root, name)))


def _is_archive_of(file: str, reference: FileReference) -> bool:
    if reference.scheme == "pypi":
        from mlmodelscope.provision.python_index import is_file_of

        return is_file_of(file, reference.location, reference.version, reference.member)
    if reference.scheme == "npm":
        return file == npm_file_name(reference.location, reference.version)
    return file == reference.location.partition("?")[0].rpartition("/")[2]


def npm_file_name(name: str, version: str) -> str:
    """As `npm pack` calls it."""
    return f"{name.replace('@', '').replace('/', '-')}-{version}.tgz"
