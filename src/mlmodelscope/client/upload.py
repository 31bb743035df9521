"""Files of this machine, to a server: only what it lacks, and from where an earlier attempt stopped."""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from mlmodelscope.client.http import ServerError
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.dialect import recognise_kind
from mlmodelscope.manifest.load import open_document
from mlmodelscope.manifest.reference import REFERENCE_KEYS, artifact_reference, parse_reference
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.provision.hashing import hash_file, list_files
from mlmodelscope.provision.progress import Progress, silent
from mlmodelscope.provision.upload import NotBegun, OtherPlace

_BLOCK = 1 << 20
_PIECE = 64 << 20
"""Bytes sent at once: behind each the server has said that they are there."""
_TRIES = 5
_MOST_FILES = 200_000


class Receiver(Protocol):
    """Where files are sent."""

    def announce(self, digest: str, size: int, name: str) -> dict[str, Any]:
        """How far the upload of a file is."""

    def send_piece(self, digest: str, offset: int, piece: Iterator[bytes]) -> dict[str, Any]:
        """How far it is behind this piece."""


def upload(server: Receiver, path: Path, progress: Progress = silent, name: str | None = None) -> str:
    """Send a file or folder; the reference by which manifests name it. A folder goes as one tar, without its owners."""
    path = Path(path).expanduser()
    if path.is_dir():
        with tempfile.TemporaryDirectory(prefix="mlmodelscope-") as place:
            packed = Path(place) / f"{path.absolute().name or 'folder'}.tar"
            pack(path, packed)
            digest = _send(server, packed, packed.name, progress)
            return artifact_reference(digest, packed.name, "/")
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    name = name or path.name
    return artifact_reference(_send(server, path, name, progress), name)


def pack(folder: Path, destination: Path) -> None:
    """The same files give the same bytes, whoever packs them and whenever: nothing but names and contents goes in."""
    names = list_files(folder)
    if not names:
        raise UsageError(f"the folder {folder} is empty")
    if len(names) > _MOST_FILES:
        raise UsageError(
            f"{folder} has {len(names)} files, {_MOST_FILES} are the most that are sent", hint="pack it yourself"
        )
    with tarfile.open(destination, "w", format=tarfile.PAX_FORMAT) as packed:
        for name in names:
            with (folder / name).open("rb") as file:
                entry = tarfile.TarInfo(name)
                entry.size = os.fstat(file.fileno()).st_size
                packed.addfile(entry, file)


def _send(server: Receiver, path: Path, name: str, progress: Progress) -> str:
    digest, size = hash_file(path), path.stat().st_size
    furthest, tries = -1, 0
    while True:
        try:
            state = server.announce(digest, size, name)
            while not state["complete"]:
                if state["offset"] > furthest:  # as long as each try brings something, there is no limit to them
                    furthest, tries = state["offset"], 0
                progress(f"sending {name}", state["offset"], size)
                state = server.send_piece(digest, state["offset"], _piece(path, state["offset"]))
            progress(f"sending {name}", size, size)
            return digest
        except (ServerError, NotBegun, OtherPlace):  # another one who sends the same may have been faster
            tries += 1
            if tries > _TRIES:
                raise
        time.sleep(0.1 * 2**tries)


def _piece(path: Path, offset: int) -> Iterator[bytes]:
    left = _PIECE
    with path.open("rb") as file:
        file.seek(offset)
        while left and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            yield block


def manifest_text(server: Receiver, path: Path, progress: Progress = silent) -> str:
    """A manifest as it is sent: the files of this machine that it names go along, and are named by their digests."""
    document = open_document(path)
    found: dict[str, str] = {}
    local = list(_local_references(document.data))
    if not local:
        return document.text
    for holder, key, text in local:
        reference = parse_reference(text)
        place = document.folder / Path(os.path.expanduser(reference.location))
        if _is_for_the_server(holder, key, place, document.folder):
            continue
        if not place.exists():
            raise UsageError(f"{path} names {place}, which is not there")
        _refuse_outside(place, document.folder)
        if str(place) not in found:
            found[str(place)] = upload(server, place, progress)
        sent = found[str(place)]
        holder[key] = f"{sent}#{reference.member}" if reference.member else sent
    if not found:
        return document.text
    text = write_manifest(document.data, document.kind)
    return text if recognise_kind(document.data) == document.kind else f"kind: {document.kind}\n{text}"


def _is_for_the_server(holder: Any, key: str, place: Path, folder: Path) -> bool:
    """Whether a file outside the manifest's folder is named with its sha256: the server may have it.

    So the examples that come with the package can be sent, whose graphs lie in the catalog.
    """
    if place.resolve().is_relative_to(folder.resolve()):
        return False
    checksum = holder.get("checksum" if key in ("url", "root") else f"{key.rsplit('_', 1)[0]}_checksum")
    return isinstance(checksum, str) and checksum.strip().lower().startswith("sha256:")


def _refuse_outside(place: Path, folder: Path) -> None:
    """What others wrote must not make us send a private file to a server: only what lies beside the manifest goes."""
    bounds = folder.resolve()
    links = [place]
    for below, folders, files in os.walk(place):
        links += [path for name in (*folders, *files) if (path := Path(below, name)).is_symlink()]
    for path in links:
        if not path.resolve().is_relative_to(bounds):
            raise UsageError(
                f"{path} lies outside {folder}, the manifest's folder, and is not sent along",
                hint="put it beside the manifest, or send it yourself and name it by what this says: "
                "mlmodelscope.connect(url).upload(path)",
            )


def _local_references(data: Any) -> Iterator[tuple[Any, str, str]]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key in REFERENCE_KEYS and isinstance(value, str) and value:
                try:
                    if not value.startswith("debian:") and parse_reference(value).is_local:
                        yield data, key, value
                except ValueError:
                    continue  # the server says what is wrong with it
            elif key not in ("attributes", "description", "references"):
                yield from _local_references(value)
    elif isinstance(data, list):
        for item in data:
            yield from _local_references(item)
