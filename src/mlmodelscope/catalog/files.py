"""The files of a source, read within bounds. No link is followed out of the folder."""

from __future__ import annotations

import fnmatch
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.errors import ArtifactError, ManifestError, Problem

MAX_FILES = 50_000
MAX_FILE_BYTES = 16 << 20
MAX_TOTAL_BYTES = 512 << 20


class Files:
    """A folder, or one file as if it stood alone in one; names have `/` between their parts."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._digests: dict[str, str] = {}
        self._total = 0
        if place.is_dir():
            self._folder = place.resolve()
            self.names = tuple(sorted(_walk(self._folder)))
        elif place.is_file():
            self._folder = place.parent.resolve()
            self.names = (place.name,)
        else:
            raise ArtifactError(f"there is neither a folder nor a file {place}")

    def matching(self, *patterns: str) -> list[str]:
        """Names that match; `*` stands for anything, `/` included."""
        return [name for name in self.names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]

    def read(self, name: str) -> bytes:
        """All of a file; ManifestError where it is too large, leads elsewhere or cannot be read."""
        path = self._folder / name
        try:
            if not path.resolve().is_relative_to(self._folder) or not path.is_file():
                raise ManifestError(Problem("leads out of the folder, or is not a file", file=name))
            with path.open("rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
        except (OSError, ValueError, RuntimeError) as error:
            raise ManifestError(Problem(f"cannot read it: {error}", file=name)) from None
        self._total += len(raw) if name not in self._digests else 0
        if len(raw) > MAX_FILE_BYTES or self._total > MAX_TOTAL_BYTES:
            limit = f"{MAX_FILE_BYTES >> 20} MiB for a file, {MAX_TOTAL_BYTES >> 20} MiB for a source"
            raise ManifestError(Problem(f"more than a source of facts may have ({limit})", file=name))
        self._digests[name] = hashlib.sha256(raw).hexdigest()
        return raw

    @property
    def digest(self) -> str:
        """Of everything that was read so far: names and contents."""
        lines = "".join(f"{digest} {name}\n" for name, digest in sorted(self._digests.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


def _walk(folder: Path) -> Iterator[str]:
    count = 0
    for here, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(each for each in folders if each not in (".git", "node_modules", "__pycache__"))
        for each in files:
            count += 1
            if count > MAX_FILES:
                raise ArtifactError(
                    f"{folder} has more than {MAX_FILES} files", hint="name the folder inside it that has the facts"
                )
            yield (Path(here) / each).relative_to(folder).as_posix()
