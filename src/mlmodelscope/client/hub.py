"""Records to and from other servers, files and folders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.client.client import Client
from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.hub.keys import Keyring
from mlmodelscope.hub.pack import pack
from mlmodelscope.hub.receive import Acceptance, Received, receive
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store


@dataclass(frozen=True)
class Sent:
    record: str
    is_new: bool
    place: str


def push(store: Store, record: Record, place: str, client: Client | None) -> Sent:
    """Hand a record on: to a server, into a folder, or as a file."""
    signer = Keyring(store.home).own()
    if client is None:
        path = Path(place) / f"{record.id}.zip" if Path(place).is_dir() else Path(place)
        is_new = not path.exists()
        if not is_new and path.suffix != ".zip":
            raise UsageError(f"{path} is there already, and it is no bundle")
        pack(record, store, path, signer)
        return Sent(record.id, is_new, str(path))
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-push-") as folder:
        bundle = Path(folder) / "bundle.zip"
        pack(record, store, bundle, signer)
        answer = client.send_file("/bundles", bundle)
    return Sent(str(answer["record"]), bool(answer["is_new"]), place)


def pull(store: Store, name: str, client: Client, whose: Acceptance) -> Received:
    """Fetch a record from a server and keep it."""
    identity = client.record(name).id
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-pull-") as folder:
        bundle = Path(folder) / "bundle.zip"
        client.download(f"/records/{identity}/bundle", bundle)
        return receive(store, bundle, whose, _source(client.url))


def _source(url: str) -> str:
    return without_secrets(url.removesuffix("/api/v1"))


def pull_files(store: Store, names: list[str], place: Path, whose: Acceptance) -> Iterator[Received]:
    """Keep the records of a file, or some or all of a folder's."""
    if place.is_dir():
        paths = [path for path in sorted(place.glob("*.zip")) if not names or path.stem.startswith(tuple(names))]
        for name in names:
            if not any(path.stem.startswith(name) for path in paths):
                raise UsageError(f"there is no bundle of `{name}` in {place}")
    else:
        paths = [place]
    for path in paths:
        try:
            yield receive(store, path, whose, str(path.absolute()))
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from None
