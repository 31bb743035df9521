"""Connecting a folder: what must be there is looked for, every file is read once, and what was seen is remembered."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mlmodelscope.connection.imagenet_labels import flat_labels
from mlmodelscope.connection.kept import (
    ConnectedFile,
    ConnectedSource,
    Connection,
    connect_command,
    forget_connection,
    keep_connection,
    labels_file,
    now,
    write_whole,
)
from mlmodelscope.connection.resolve import connected_manifest
from mlmodelscope.connection.survey import Progress, Survey, check_contents, refuse_incomplete, survey
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import DatasetError, UsageError
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import list_files
from mlmodelscope.settings import Settings

_TOGETHER = 256


def connect(
    manifest: DatasetManifest, folder: Path, settings: Settings, progress: Progress = lambda what, done, total: None
) -> Connection:
    """Verify a folder and remember it. Killed, the same call reads only what it had not read yet."""
    if manifest.connect is None:
        raise UsageError(
            f"{manifest.name} needs no folder: its manifest says where its files are",
            hint=f"mlmodelscope datasets {manifest.name}",
        )
    if manifest.connect.part_of is not None:
        raise UsageError(
            f"{manifest.name} is a part of {manifest.connect.part_of}, and needs no folder of its own",
            hint=connect_command(manifest.connect.part_of, str(folder)),
        )
    place = _existing(folder)
    artifacts = ArtifactStore(settings)
    found = survey(place, manifest.connect)
    if found.found and found.is_complete:
        check_contents(found, artifacts, progress)
    refuse_incomplete(found, place, manifest)
    own_labels = _write_labels(found, place, manifest.name, settings)
    sources, files, size = _read_all(found, own_labels, artifacts, progress)
    connection = Connection(
        name=manifest.name,
        version=manifest.version,
        manifest=manifest.digest,
        folder=str(place),
        layout=found.layout.name,
        sources=sources,
        include=found.layout.include,
        labels=found.layout.labels,
        samples=manifest.size or 1,
        files=files,
        bytes=size,
        digest=_digest_of(sources),
        connected_at=now(),
    )
    progress("reading labels", 0, 1)
    planned = plan_dataset(connected_manifest(manifest, connection), Options(), _class_pins(manifest, artifacts))
    opened = open_dataset(planned, artifacts)
    progress("reading labels", 1, 1)
    connection = connection.model_copy(update={"samples": len(opened.samples)})
    keep_connection(settings, connection)
    return connection


def disconnect(name: str, settings: Settings) -> None:
    """Forget the folder; it is left as it is."""
    if not forget_connection(settings, name):
        raise UsageError(f"{name} is not connected", hint="mlmodelscope datasets shows which are")


def _existing(folder: Path) -> Path:
    place = Path(os.path.abspath(folder.expanduser()))
    if not place.is_dir():
        what = "is a file; unpack it first" if place.is_file() else "does not exist"
        raise UsageError(f"{place} is not a folder: it {what}")
    return place


def _write_labels(found: Survey, place: Path, name: str, settings: Settings) -> Path | None:
    """A flat folder's labels, from whatever list there is, as a file of ours."""
    if not found.layout.label_list:
        return None
    pictures = [each.rpartition("/")[2] for each in found.seen[0].found]
    places = list(dict.fromkeys((found.root, found.root.parent, place)))  # people keep the list beside the pictures
    labels = flat_labels(places, found.layout.label_list, pictures)
    path = labels_file(settings, name)
    write_whole(path, "".join(f"{picture} {labels[picture]}\n" for picture in sorted(labels)))
    return path


def _read_all(
    found: Survey, own_labels: Path | None, artifacts: ArtifactStore, progress: Progress
) -> tuple[tuple[ConnectedSource, ...], int, int]:
    """(the sources with digests, how many files, how many bytes)."""
    sources = found.layout.sources
    urls = [url for each in sources for url in (each.url, each.labels_url, each.names_url) if url is not None]
    places = [_place(found.root, url) for url in dict.fromkeys(urls)]
    files = [path for place in places for path in _files_of(place)]
    if own_labels is not None:
        files.append(own_labels)
    size = _hash(files, artifacts, progress)

    def seen(url: str | None) -> ConnectedFile | None:
        if url is None:
            return None
        path = _place(found.root, url)
        return ConnectedFile(path=str(path), sha256=artifacts.fetch(str(path)).sha256)

    made = []
    for each in sources:
        labels = seen(each.labels_url) if own_labels is None else seen(str(own_labels))
        folder = seen(each.url)
        assert folder is not None
        made.append(ConnectedSource(name=each.name, files=folder, labels=labels, names=seen(each.names_url)))
    return tuple(made), len(files), size


def _place(root: Path, url: str) -> Path:
    return Path(os.path.normpath(root / url))


def _files_of(place: Path) -> list[Path]:
    if not place.exists():
        raise DatasetError(f"{place} does not exist")
    return [place / name for name in list_files(place)] if place.is_dir() else [place]


def _hash(files: list[Path], artifacts: ArtifactStore, progress: Progress) -> int:
    """Every file is read once; its digest is remembered by size and times, a few hundred at a time."""
    total = sum(path.stat().st_size for path in files)
    done = 0
    for start in range(0, len(files), _TOGETHER):
        part = files[start : start + _TOGETHER]
        artifacts.digests(part)
        done += sum(path.stat().st_size for path in part)
        progress("reading every file", done, max(total, done))
    return total


def _digest_of(sources: tuple[ConnectedSource, ...]) -> str:
    listed = [(each.name, each.files, each.labels, each.names) for each in sources]
    lines = [f"{name} {[file.sha256 if file else '' for file in files]}" for name, *files in listed]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _class_pins(manifest: DatasetManifest, artifacts: ArtifactStore) -> dict[str, str]:
    url = manifest.classes_url
    if url is None or (manifest.classes_checksum or "").startswith("sha256:"):
        return {}
    return {url: artifacts.fetch(url, manifest.classes_checksum).sha256}
