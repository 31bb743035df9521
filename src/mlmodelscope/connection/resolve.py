"""A manifest that only says what a folder must hold becomes one that names the folder which the user has connected."""

from __future__ import annotations

import os

from mlmodelscope.connection.kept import ConnectedFile, Connection, connect_command, find_connection
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.catalog import find_dataset
from mlmodelscope.manifest.schema import DatasetManifest, DatasetSource
from mlmodelscope.manifest.schema.connection import Connect
from mlmodelscope.settings import Settings

_STEPS = 6


class NotConnected(DatasetError):
    """The dataset is known, and nobody has told where its files are."""


def with_folder(manifest: DatasetManifest, settings: Settings) -> DatasetManifest:
    """The manifest as it can be planned. A dataset that can be fetched needs no connection."""
    if manifest.connect is None:
        return manifest
    if manifest.connect.part_of is not None:
        return _part(manifest, manifest.connect.part_of, settings)
    found = find_connection(settings, manifest.name)
    if found is None:
        if manifest.sources:
            return manifest
        raise NotConnected(how_to_obtain(manifest, manifest.connect), hint=connect_command(manifest.name))
    again = connect_command(manifest.name, found.folder)
    if found.manifest != manifest.digest:
        raise NotConnected(
            f"{manifest.name} was connected by another manifest of that name ({found.name}@{found.version})", hint=again
        )
    if not found.is_there:
        gone = next(path for path in found.paths if not os.path.exists(path))
        raise NotConnected(
            f"{manifest.name} was connected from {found.folder}, and {gone} is not there now",
            hint=f"bring the folder back, or name the new one: mlmodelscope datasets connect {manifest.name} FOLDER",
        )
    return connected_manifest(manifest, found)


def whole_of(manifest: DatasetManifest) -> str:
    """The dataset whose folder it is: its own name, or that of the one that it is a part of."""
    return (manifest.connect.part_of if manifest.connect is not None else None) or manifest.name


def _part(manifest: DatasetManifest, name: str, settings: Settings) -> DatasetManifest:
    """The manifest with the files of another dataset, and with that one's labels as far as it has none of its own."""
    whole = find_dataset(name)
    if whole.connect is not None and whole.connect.part_of is not None:
        raise DatasetError(f"{manifest.name} is a part of {name}, which is itself a part of {whole.connect.part_of}")
    try:
        files = with_folder(whole, settings)
    except NotConnected as error:
        raise NotConnected(f"{manifest.name} is a part of {name}\n{error.message}", hint=error.hint) from None
    own = {each: getattr(manifest.labels, each) for each in manifest.labels.model_fields_set}
    changes = {"sources": files.sources, "include": files.include, "labels": files.labels.model_copy(update=own)}
    made = manifest.model_copy(update=changes)
    made._digest = manifest.digest
    return made


def connected_manifest(manifest: DatasetManifest, found: Connection) -> DatasetManifest:
    """The same manifest, of the same identity, whose sources are the folder's, pinned by what was seen of them."""
    sources = tuple(
        DatasetSource(
            name=source.name,
            **_named("url", "checksum", source.files),
            **_named("labels_url", "labels_checksum", source.labels),
            **_named("names_url", "names_checksum", source.names),
        )
        for source in found.sources
    )
    changes: dict[str, object] = {"sources": sources}
    if found.include is not None:
        changes["include"] = found.include
    if found.labels is not None:
        changes["labels"] = found.labels
    made = manifest.model_copy(update=changes)
    made._digest = manifest.digest
    return made


def how_to_obtain(manifest: DatasetManifest, connect: Connect) -> str:
    """What a user must know to have it: license, page, files and steps."""
    lines = [
        f"{manifest.name} is known, and not connected: its files must come from its publisher",
        f"license: {manifest.license or 'not stated by its authors'}",
        f"publisher: {connect.page}",
    ]
    for each in connect.archives:
        size = f" ({shown_bytes(each.size_bytes)})" if each.size_bytes is not None else ""
        checksum = f" {each.checksum}" if each.checksum is not None else ""
        lines.append(f"file: {each.url}{size}{checksum}")
    lines += [f"{number}. {step}" for number, step in enumerate(connect.steps[:_STEPS], 1)]
    return "\n".join(lines)


def shown_bytes(count: int) -> str:
    """In decimal units, as publishers give sizes."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} bytes"


def _named(url: str, checksum: str, file: ConnectedFile | None) -> dict[str, str]:
    return {} if file is None else {url: file.path, checksum: f"sha256:{file.sha256}"}
