"""A record as a bundle for others: its files, the manifests it was made from, what is in it, and who says so.

A zip file with `record.json`, the tables, `artifacts/`, `manifests/`, `bundle.json` (the statement: a digest for each
of them) and `signatures.json`. Its comment is the digest of all bytes before it, so that not even a byte that means
nothing can change unseen.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.hub.keys import Signer
from mlmodelscope.hub.manifests import manifests_of
from mlmodelscope.hub.origin import Origin, origin_of
from mlmodelscope.hub.statement import MOST_FILES, Listed, Signature, Signatures, Statement, digest_of
from mlmodelscope.record.bundle import RECORD, SIGNATURES, STATEMENT
from mlmodelscope.record.files import describe
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store

_SEAL = b"sha256:"
_SEAL_LENGTH = len(_SEAL) + 64
_WHEN = (1980, 1, 1, 0, 0, 0)  # the same record is the same bytes, whenever it is packed
_BLOCK = 1 << 20


def pack(record: Record, store: Store, destination: Path, signer: Signer | None) -> Statement:
    """Write the bundle of a finished record; whoever signed it before is in it, too."""
    if record.status != "finished":
        raise UsageError(f"record {record.id} is {record.status}: only a finished one can be handed on")
    folder = store.folder(record.id)
    texts = {RECORD: record.model_dump_json(indent=2).encode()}
    texts |= {f"manifests/{aspect}.yml": text.encode() for aspect, text in manifests_of(record, store).items()}
    files = {each.name: Listed(sha256=each.sha256, size_bytes=each.size_bytes) for each in describe(folder)}
    paths = {name: folder / name for name in files if name not in texts}
    listed = {**files, **{name: _listed(text) for name, text in texts.items()}}
    if len(listed) > MOST_FILES:
        raise UsageError(f"record {record.id} has {len(listed)} files, {MOST_FILES} can be handed on")
    statement = Statement(record=record.id, files=dict(sorted(listed.items())))
    signed = _earlier(origin_of(store.database, record.id), statement)
    if signer is not None:
        signed[signer.key] = signer.sign(statement.text().encode())
    texts |= {STATEMENT: statement.text().encode(), SIGNATURES: _spell(signed)}
    draft = destination.with_name(f"{destination.name}.{os.getpid()}.draft")
    try:
        with zipfile.ZipFile(draft, "w") as packed:
            for name, text in texts.items():
                packed.writestr(_entry(name, zipfile.ZIP_DEFLATED), text)
            for name, path in paths.items():  # tables are packed already
                with path.open("rb") as source, packed.open(_entry(name, zipfile.ZIP_STORED), "w") as target:
                    shutil.copyfileobj(source, target, _BLOCK)
            packed.comment = _SEAL + b"0" * 64
        _seal(draft)
        draft.replace(destination)
    except OSError as error:
        raise StoreError(f"cannot write {destination}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    return statement


def _listed(text: bytes) -> Listed:
    return Listed(sha256=hashlib.sha256(text).hexdigest(), size_bytes=len(text))


def _earlier(origin: Origin | None, statement: Statement) -> dict[str, str]:
    """Signatures of others hold for what they signed: not where a file is gone meanwhile."""
    return dict(origin.signatures) if origin is not None and origin.digest == digest_of(statement) else {}


def _spell(signed: Mapping[str, str]) -> bytes:
    found = Signatures(signatures=tuple(Signature(key=key, signature=text) for key, text in sorted(signed.items())))
    return json.dumps(found.model_dump(), separators=(",", ":")).encode()


def _entry(name: str, method: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.compress_type = method
    entry.external_attr = 0o644 << 16
    return entry


def _seal(path: Path) -> None:
    with path.open("r+b") as file:
        digest = _digest_before_comment(file.fileno(), path.stat().st_size)
        file.seek(-64, os.SEEK_END)
        file.write(digest.encode())
        file.flush()
        os.fsync(file.fileno())


def check_seal(path: Path) -> None:
    """UsageError where any byte is another one than when it was packed."""
    with path.open("rb") as file:
        size = path.stat().st_size
        if size > _SEAL_LENGTH:
            file.seek(-_SEAL_LENGTH, os.SEEK_END)
            if file.read() == _SEAL + _digest_before_comment(file.fileno(), size).encode():
                return
    raise UsageError("the bundle is damaged, or is none: its bytes are not those that were packed")


def _digest_before_comment(number: int, size: int) -> str:
    digest = hashlib.sha256()
    for block in _blocks(number, size - _SEAL_LENGTH):
        digest.update(block)
    return digest.hexdigest()


def _blocks(number: int, end: int) -> Iterator[bytes]:
    place = 0
    while place < end and (block := os.pread(number, min(_BLOCK, end - place), place)):
        place += len(block)
        yield block
