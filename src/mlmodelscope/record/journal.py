"""The journal of a running evaluation: every finished batch, appended at once, readable after `kill -9`.

A frame is its length, the checksum of its body, and the body: a JSON header and buffers. Whatever a crash left
unfinished at the end is cut off when the journal is opened again. An operating system crash may take the last
second; killing the process takes nothing that was appended.
"""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlmodelscope.errors import StoreError
from mlmodelscope.worker.answers import Answers

_HEAD = struct.Struct("<III")  # length of the body, its crc32, length of the header inside it
_SYNC_EVERY_S = 1.0


class Journal:
    def __init__(self, path: Path, identity: str) -> None:
        self._path = path
        self._identity = identity
        kept, self.batches = self._scan()
        try:
            self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from None
        self._file.truncate(kept)
        self._file.seek(kept)
        self._synced = time.monotonic()
        if kept == 0:
            self._write({"identity": identity}, b"")

    def _scan(self) -> tuple[int, int]:
        """(length of the part that is whole, batches in it)."""
        if not self._path.exists():
            return 0, 0
        kept = batches = 0
        for end, header, _ in _frames(self._path):
            if kept == 0:
                if header.get("identity") != self._identity:
                    return 0, 0
            elif header.get("batch") != batches:
                break
            else:
                batches += 1
            kept = end
        return kept, batches

    def append(self, answers: Answers) -> None:
        header: dict[str, object] = {
            "batch": answers.batch,
            "errors": answers.errors,
            "run_ns": answers.run_ns,
            "content": answers.content,
            "sizes": [len(each) for each in answers.buffers],
        }
        self._write(header, b"".join(answers.buffers))
        self.batches += 1
        if time.monotonic() - self._synced > _SYNC_EVERY_S:
            self.sync()

    def _write(self, header: dict[str, object], buffers: bytes) -> None:
        text = json.dumps(header, separators=(",", ":")).encode()
        body = text + buffers
        frame = memoryview(_HEAD.pack(len(body), zlib.crc32(body), len(text)) + body)
        while frame:  # a nearly full disk may take only a part
            frame = frame[self._file.write(frame) :]

    def sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def entries(self) -> Iterator[Answers]:
        return self.read(self._path)

    @staticmethod
    def read(path: Path) -> Iterator[Answers]:
        """What is whole in a journal that nobody writes to."""
        for _, header, buffers in _frames(path):
            if "batch" in header:
                yield Answers(
                    header["batch"],
                    {int(slot): reason for slot, reason in header["errors"].items()},
                    header["run_ns"],
                    header["content"],
                    tuple(_cut(buffers, header["sizes"])),
                )

    def close(self) -> None:
        self._file.close()


def _cut(buffers: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield buffers[start : start + size]
        start += size


def has_answers(path: Path) -> bool:
    """Whether any batch was answered before."""
    return path.exists() and any("batch" in header for _, header, _ in _frames(path))


def _frames(path: Path) -> Iterator[tuple[int, dict[str, Any], bytes]]:
    """(end of the frame, header, buffers) of every whole frame."""
    with path.open("rb") as file:
        end = 0
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            length, checksum, cut = _HEAD.unpack(head)
            body = file.read(length)
            if len(body) != length or zlib.crc32(body) != checksum:
                return
            end += _HEAD.size + length
            yield end, json.loads(body[:cut]), body[cut:]
