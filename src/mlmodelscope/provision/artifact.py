"""A reference and a checksum become a file or folder on this machine, or an error; never a wrong file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mlmodelscope.errors import ArtifactError, ChecksumError, OfflineError
from mlmodelscope.manifest.reference import FileReference, parse_reference, shown_reference
from mlmodelscope.manifest.shown_address import is_concealed
from mlmodelscope.provision.allowance import Allowance
from mlmodelscope.provision.archive import MAX_BYTES, MissingMember, extract_member
from mlmodelscope.provision.cache import Cache, public_mark, storage_errors, uploads_of
from mlmodelscope.provision.hashing import Hasher, hash_file
from mlmodelscope.provision.mirror import Mirrors
from mlmodelscope.provision.progress import Progress, Transfers, silent
from mlmodelscope.settings import Settings
from mlmodelscope.types import Checksum

if TYPE_CHECKING:
    from mlmodelscope.provision.origin import Copy, Origin


@dataclass(frozen=True)
class Artifact:
    """A file or folder that is here and is the right one."""

    path: Path
    sha256: str
    """Digest of the file; for a folder, of the list of its files' digests."""


class ArtifactStore:
    """Fetches, verifies and keeps artifacts."""

    def __init__(self, settings: Settings, progress: Progress = silent) -> None:
        self.settings = settings
        self._root = settings.cache
        self._cache = Cache(settings.cache)
        self._uploads = uploads_of(settings)
        self._hasher = Hasher(settings.cache / "digests.sqlite")
        self._mirrors = Mirrors(settings.mirrors, self._hasher)
        self._progress = self.transfers = Transfers(progress)
        self._addresses: dict[tuple[str, str], str] = {}
        self._own: set[str] = set()

    def learn(self, reference: str, sha256: str) -> None:
        """The whole address of a file, of which plans only have what may be shown; as long as this store lives."""
        self._addresses[shown_reference(reference), sha256] = reference

    def allow(self, references: Iterable[str]) -> None:
        """Manifests of this machine name these: what is cached of them is for strangers, too."""
        self._own |= {parse_reference(each).shown for each in references}

    @cached_property
    def _origin(self) -> Origin:
        """Made, and what speaks to the network imported, when a file is not here."""
        from mlmodelscope.provision.origin import Origin

        settings = self.settings
        return Origin(self._cache, self._hasher, settings, self._progress, Allowance(settings))

    def fetch(self, reference: str, checksum: str | None = None) -> Artifact:
        """The artifact that a manifest names, from disk, cache, mirror or network, in this order."""
        try:
            wanted = Checksum.parse(checksum) if checksum else None
            parsed = parse_reference(self._addresses.get((reference, wanted.hex), reference) if wanted else reference)
        except ValueError as error:
            raise ArtifactError(str(error)) from None
        with storage_errors(self._root):
            if parsed.is_local and not parsed.member:
                return self._local(parsed, wanted)
            if parsed.digest and not parsed.member:
                return self._uploaded(parsed, wanted)
            key = self._key(parsed, wanted)
            found = self._cached(parsed, wanted, key) or self._mirrored(parsed, wanted)
            if found:
                return found
            with self._cache.lock(key):
                # Another process may have fetched it while we waited.
                return self._cached(parsed, wanted, key) or self._fetch(parsed, wanted, key)

    def named(self, artifact: Artifact, name: str) -> Path:
        """The artifact under the name that its author gave it: some frameworks go by a file's ending."""
        if artifact.path.name == name:
            return artifact.path
        link = self._root / "named" / artifact.sha256 / name
        with storage_errors(self._root):
            if not link.exists() or link.resolve() != artifact.path.resolve():
                link.parent.mkdir(parents=True, exist_ok=True)
                draft = link.with_name(f"{name}.{os.getpid()}.draft")
                draft.unlink(missing_ok=True)
                draft.symlink_to(artifact.path.absolute())
                os.replace(draft, link)
        return link

    def digests(self, paths: Sequence[Path | str], algorithm: str = "sha256") -> list[str]:
        return self._hasher.files(paths, algorithm)

    def held(self, sha256: str) -> Path | None:
        """The file of a digest, where it is here already."""
        if self.settings.public_only and not self._is_public(sha256):
            return None
        found = self._at(sha256, is_folder=False)
        return found.path if found is not None else None

    def is_at_hand(self, reference: str, checksum: str | None = None) -> bool:
        """Whether it lies on this machine, as far as that can be seen without reading it."""
        try:
            parsed, wanted = parse_reference(reference), Checksum.parse(checksum) if checksum else None
        except ValueError:
            return False
        if parsed.is_local and not parsed.member:
            return _local_path(parsed).exists()
        if wanted is not None and wanted.algorithm == "sha256":
            digest: str | None = wanted.hex
        elif parsed.is_local:
            return _local_path(parsed).exists()
        else:
            digest = parsed.digest or (self._cache.recall(parsed.text) or {}).get("sha256")
        if digest is None:
            return False
        return (self._cache.folder(digest) if parsed.is_folder else self._cache.file(digest)).exists()

    def derive(self, key: str, make: Callable[[Path], None]) -> Path:
        """A file made from artifacts: made once, kept under `key`, complete or not there."""
        with storage_errors(self._root):
            found = self._derived(key)
            if found:
                return found
            with self._cache.lock(key):
                return self._derived(key) or self._derive(key, make)

    def _derived(self, key: str) -> Path | None:
        known = self._cache.recall(key)
        found = self._at(known["sha256"], is_folder=False) if known else None
        return found.path if found else None

    def _derive(self, key: str, make: Callable[[Path], None]) -> Path:
        with self._cache.workplace() as place:
            draft = place / "derived"
            make(draft)
            digest = hash_file(draft)
            path = self._cache.put_file(draft, digest)
        self._cache.remember(key, sha256=digest)
        return path

    def _local(self, reference: FileReference, wanted: Checksum | None) -> Artifact:
        path = _local_path(reference)
        if not path.exists():
            mirrored = self._mirrored(reference, wanted)
            if mirrored:
                return mirrored
            raise ArtifactError(f"there is no file {path}", hint=_glob_hint(path))
        if path.is_dir():
            digest = self._hasher.tree(path)
            _verify(digest, wanted, reference)
        else:
            digest = self._hasher.file(path)
            if wanted is not None:
                seen = digest if wanted.algorithm == "sha256" else self._hasher.file(path, wanted.algorithm)
                _verify(seen, wanted, reference)
        return Artifact(path, digest)

    def _uploaded(self, reference: FileReference, wanted: Checksum | None) -> Artifact:
        """An agent has fetched it into its cache before it began; on the server it lies where it was uploaded to."""
        digest = reference.digest or ""
        is_for_all = not self.settings.public_only or self._is_public(digest)
        for place in (self._cache, self._uploads) if is_for_all else (self._uploads,):
            path = place.file(digest)
            if path.is_file() and self._hasher.file(path) == digest:
                if wanted is not None:
                    _verify(self._hasher.file(path, wanted.algorithm), wanted, reference)
                return Artifact(path, digest)
        raise ArtifactError(
            f"{reference.shown} is not on this machine",
            hint="uploaded files are used by a server's own evaluations: mlmodelscope evaluate --server URL",
        )

    def _key(self, reference: FileReference, wanted: Checksum | None) -> str:
        """What the cache remembers a reference by. An archive on this machine may change: its digest belongs to it.

        What was fetched for the machine's own people is not remembered for strangers, who might not have got it.
        """
        if self._is_strangers(reference):
            return f"public {reference.text}"
        if not reference.is_local or (wanted is not None and wanted.algorithm == "sha256"):
            return reference.text
        return f"{reference.text} of {self._hasher.file(_existing(reference))}"

    def _cached(self, reference: FileReference, wanted: Checksum | None, key: str) -> Artifact | None:
        if wanted is not None and wanted.algorithm == "sha256":
            # Records tell everybody digests: to know one is no right to the file.
            if self._is_strangers(reference) and not self._is_public(wanted.hex):
                return None
            return self._for_strangers(self._at(wanted.hex, reference.is_folder))
        known = self._cache.recall(key)
        if known is None or (wanted is not None and known.get(wanted.algorithm) != wanted.hex):
            return None
        return self._for_strangers(self._at(known["sha256"], reference.is_folder))

    def _is_strangers(self, reference: FileReference) -> bool:
        """Whether somebody on another machine names it, and nobody else did."""
        return self.settings.public_only and reference.shown not in self._own

    def _is_public(self, digest: str) -> bool:
        return self._cache.recall(public_mark(digest)) is not None

    def _for_strangers(self, artifact: Artifact | None) -> Artifact | None:
        """Remember that strangers may have it, where it was found or fetched for them."""
        if artifact is not None and self.settings.public_only and not self._is_public(artifact.sha256):
            self._cache.remember(public_mark(artifact.sha256), sha256=artifact.sha256)
        return artifact

    def _at(self, digest: str, is_folder: bool) -> Artifact | None:
        """What the cache has under a digest, if it still is what it was: disks err, and people tidy up."""
        path = self._cache.folder(digest) if is_folder else self._cache.file(digest)
        if not path.exists():
            return None
        seen = self._hasher.tree(path) if is_folder else self._hasher.file(path)
        if seen == digest:
            self._cache.note_use(digest)
            return Artifact(path, digest)
        self._cache.drop(path)
        return None

    def _mirrored(self, reference: FileReference, wanted: Checksum | None) -> Artifact | None:
        if wanted is None or reference.is_folder:
            return None
        path = self._mirrors.find(wanted, reference.name)
        return Artifact(path, self._hasher.file(path)) if path else None

    def _fetch(self, reference: FileReference, wanted: Checksum | None, key: str) -> Artifact:
        refusal: ArtifactError | None = None
        with self._cache.workplace() as place:
            for number, find in enumerate(self._copies(reference, wanted, place)):
                try:
                    artifact = self._keep(find(), reference, wanted, place / f"content-{number}")
                except ArtifactError as error:
                    # A mirror's copy was another one: the network may have the right one.
                    refusal = error if refusal is None or not isinstance(error, OfflineError) else refusal
                    if not isinstance(error, MissingMember):
                        self._origin.forget(reference)
                    continue
                checksums = {wanted.algorithm: wanted.hex} if wanted else {}
                self._cache.remember(key, **{**checksums, "sha256": artifact.sha256})
                self._for_strangers(artifact)
                return artifact
        assert refusal is not None
        raise refusal

    def _copies(self, reference: FileReference, wanted: Checksum | None, place: Path) -> Iterator[Callable[[], Copy]]:
        """Ways to the file or archive that holds what is meant, the nearest first."""
        from mlmodelscope.provision.origin import Copy

        if reference.is_local:
            yield lambda: Copy(_existing(reference), _local_path(reference).name)
            return
        if reference.digest:
            whole = replace(reference, member="")
            yield lambda: Copy(self._uploaded(whole, None).path, whole.name)
            return
        for path in self._mirrors.archives(reference, is_checked=wanted is not None):
            yield lambda path=path: Copy(path, path.name)  # type: ignore[misc]
        if is_concealed(reference.text):
            raise ArtifactError(
                f"{reference.shown} is not cached, and its address held a secret, which is not stored",
                hint="give the same command with the manifest again, or name the credentials in netrc",
            )
        yield lambda: self._origin.fetch(reference, place)

    def _keep(self, copy: Copy, reference: FileReference, wanted: Checksum | None, draft: Path) -> Artifact:
        if reference.member:
            strip = reference.scheme == "npm"  # every npm package lies in a folder `package/`
            most = self.settings.download_limits[1] if self.settings.public_only else MAX_BYTES
            extract_member(copy.path, reference.member, draft, strip_first=strip, called=copy.name, most_bytes=most)
        else:
            shutil.move(copy.path, draft)
        if reference.is_folder:
            digest = Hasher().tree(draft)
            _verify(digest, wanted, reference)
            return Artifact(self._cache.put_folder(draft, digest), digest)
        digest = hash_file(draft)
        _verify(
            digest if wanted is None or wanted.algorithm == "sha256" else hash_file(draft, wanted.algorithm),
            wanted,
            reference,
        )
        return Artifact(self._cache.put_file(draft, digest), digest)


def _local_path(reference: FileReference) -> Path:
    return Path(os.path.expanduser(reference.location)).absolute()


def _glob_hint(path: Path) -> str | None:
    """A `*` picks files inside packages and archives; here `include` does."""
    if not any(sign in path.name for sign in "*?"):
        return None
    return f"name the folder {path.parent} itself, and its files by `include: '{path.name}'` in the dataset's manifest"


def _existing(reference: FileReference) -> Path:
    path = _local_path(reference)
    if not path.is_file():
        raise ArtifactError(f"there is no file {path}")
    return path


def _verify(seen: str, wanted: Checksum | None, reference: FileReference) -> None:
    if wanted is not None and seen != wanted.hex:
        raise ChecksumError(
            f"wrong {wanted.algorithm} checksum of {reference.shown}\nexpected {wanted.hex}\nsaw      {seen}",
            hint="the file is not the one that the manifest's author used; nothing of it was kept",
        )
