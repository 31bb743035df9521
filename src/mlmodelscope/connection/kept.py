"""Which folders are connected: a small file for each dataset in the user's home, written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mlmodelscope.errors import StoreError
from mlmodelscope.manifest.schema import Labels
from mlmodelscope.settings import Settings

_MOST_BYTES = 1 << 20


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ConnectedFile(_Part):
    """A file or folder, as it was when it was verified."""

    path: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ConnectedSource(_Part):
    name: str
    files: ConnectedFile
    labels: ConnectedFile | None = None
    names: ConnectedFile | None = None


class Connection(_Part):
    """A folder that was verified to hold a dataset."""

    name: str
    version: str
    manifest: str
    """Digest of the manifest that it was verified by."""
    folder: str
    """As the user named it."""
    layout: str
    sources: tuple[ConnectedSource, ...]
    include: str | None = None
    labels: Labels | None = None
    samples: int
    files: int
    bytes: int
    digest: str
    """Of everything that was seen."""
    connected_at: str

    @property
    def paths(self) -> list[str]:
        found = [each for source in self.sources for each in (source.files, source.labels, source.names)]
        return [each.path for each in found if each is not None]

    @property
    def is_there(self) -> bool:
        """Whether its folders and files still exist; what is in them is looked at when they are used."""
        return all(os.path.exists(path) for path in self.paths)


def folder_of(settings: Settings) -> Path:
    return settings.home / "datasets"


def find_connection(settings: Settings, name: str) -> Connection | None:
    """What is remembered of a dataset; None where it is not connected."""
    path = _path(settings, name)
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        return Connection.model_validate_json(path.read_bytes())
    except (OSError, ValueError, ValidationError, RecursionError):
        raise StoreError(
            f"what is remembered of the connected dataset {name} is damaged: {path}",
            hint=f"mlmodelscope datasets disconnect {name}",
        ) from None


def keep_connection(settings: Settings, connection: Connection) -> None:
    path = _path(settings, connection.name)
    write_whole(path, json.dumps(connection.model_dump(mode="json", exclude_none=True), indent=2) + "\n")


def forget_connection(settings: Settings, name: str) -> bool:
    """Whether there was one; the folder itself is left alone."""
    found = False
    for path in (_path(settings, name), labels_file(settings, name)):
        try:
            path.unlink()
            found = True
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"cannot remove {path}: {error.strerror or error}") from None
    return found


def connected_names(settings: Settings) -> list[str]:
    place = folder_of(settings)
    return sorted(path.stem for path in place.glob("*.json")) if place.is_dir() else []


def labels_file(settings: Settings, name: str) -> Path:
    """Labels that were read from a list of the publisher's, as we write them."""
    return folder_of(settings) / f"{name}.labels.txt"


def write_whole(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def connect_command(name: str, folder: str = "FOLDER") -> str:
    return f"mlmodelscope datasets connect {name} {shlex.quote(folder)}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _path(settings: Settings, name: str) -> Path:
    return folder_of(settings) / f"{name}.json"
