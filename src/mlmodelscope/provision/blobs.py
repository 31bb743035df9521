"""A store of blobs: a folder, or whatever fsspec knows (s3:, gs:, az:, memory:), named by an address.

A blob is there as a whole or not at all. Passwords are fsspec's own affair (AWS_ACCESS_KEY_ID and the like).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.manifest.shown_address import without_secrets


class Blobs:
    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._system, self._root = _open(self.url)

    @property
    def place(self) -> str:
        return without_secrets(self.url)

    def put(self, source: Path, name: str) -> None:
        """Keep a copy of a file; one that is there by this name is replaced."""
        with self._errors(name):
            where = self._where(name)
            # An object store shows a blob when it is whole; a folder shows what is written so far.
            written = f"{where}.draft-{os.getpid()}" if self._is_folder else where
            try:
                self._make_folder(where)
                with source.open("rb") as file, self._system.open(written, "wb") as blob:
                    shutil.copyfileobj(file, blob, 1 << 20)
            except FileNotFoundError as error:  # there is no bucket, or no folder
                raise OSError(f"{name} cannot be written: {error}") from None
            if self._is_folder:
                os.replace(written, where)

    def get(self, name: str, destination: Path) -> None:
        """Write a blob to a file, which is there when it is whole."""
        draft = destination.with_name(f"{destination.name}.draft-{os.getpid()}")
        destination.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._errors(name), self._system.open(self._where(name), "rb") as blob, draft.open("wb") as file:
                shutil.copyfileobj(blob, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, destination)
        finally:
            draft.unlink(missing_ok=True)

    def size(self, name: str) -> int | None:
        """How long a blob is; None where there is none."""
        with self._errors(name):
            self._system.invalidate_cache()
            try:
                return int(self._system.info(self._where(name))["size"])
            except FileNotFoundError:
                return None

    def folders(self, below: str) -> list[str]:
        """Names of the folders below a name."""
        with self._errors(below):
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._where(below), detail=True)
            except FileNotFoundError:
                return []
            return sorted(each["name"].rstrip("/").rpartition("/")[2] for each in found if each["type"] == "directory")

    def remove(self, name: str) -> None:
        """Take a blob, or all that is below a name, away; nothing where there is nothing."""
        with self._errors(name), contextlib.suppress(FileNotFoundError):
            self._system.rm(self._where(name), recursive=True)

    def changed_at(self, name: str) -> datetime | None:
        """When anything below a name was written last; None where that cannot be known."""
        with self._errors(name):
            try:
                moments = [self._system.modified(path) for path in self._system.find(self._where(name))]
            except NotImplementedError:
                return None
            spelled = [each if each.tzinfo else each.replace(tzinfo=UTC) for each in moments]
            return max(spelled, default=None)

    def move(self, name: str, to: str) -> None:
        """All that is below a name, below another one."""
        with self._errors(name):
            for path in self._system.find(self._where(name)):
                target = self._where(to) + path.removeprefix(self._where(name))
                self._make_folder(target)
                self._system.copy(path, target)
            self._system.rm(self._where(name), recursive=True)

    @property
    def _is_folder(self) -> bool:
        return "file" in (
            self._system.protocol if isinstance(self._system.protocol, tuple) else (self._system.protocol,)
        )

    def _make_folder(self, where: str) -> None:
        if self._is_folder:  # others need none, and some would make a whole bucket
            self._system.makedirs(where.rpartition("/")[0], exist_ok=True)

    def _where(self, name: str) -> str:
        return f"{self._root}/{name}" if self._root else name

    @contextlib.contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise StoreError(f"there is no {name} in {self.place}") from None
        except Exception as error:  # every protocol brings its own exceptions
            reason = str(error).replace(self.url, self.place) or type(error).__name__
            raise StoreError(f"the blob store {self.place} cannot be used: {reason}") from None


def open_blobs(url: str | None) -> Blobs | None:
    return Blobs(url) if url else None


def _open(url: str) -> tuple[Any, str]:
    if "://" not in url:
        raise UsageError(f"`{without_secrets(url)}` is not the address of a blob store, such as s3://bucket/prefix")
    try:
        import fsspec

        system, root = fsspec.core.url_to_fs(url)
    except ImportError as error:
        package = error.name or "fsspec"
        raise UsageError(
            f"the blob store {without_secrets(url)} needs a package that is missing: {package}",
            hint=install_extra("s3" if url.startswith("s3:") else "fsspec"),
        ) from None
    except ValueError as error:
        raise UsageError(f"`{without_secrets(url)}` is not the address of a blob store: {error}") from None
    return system, str(root).rstrip("/")
