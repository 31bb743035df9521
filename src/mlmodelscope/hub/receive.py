"""A bundle from somebody else: nothing is kept before every byte of it is what a known key has signed."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mlmodelscope.confine.confined import Confined
from mlmodelscope.errors import TrustError, UsageError
from mlmodelscope.hub.keys import is_signed
from mlmodelscope.hub.origin import add_signatures, origin_of, write_origin
from mlmodelscope.hub.pack import check_seal
from mlmodelscope.hub.statement import Statement, digest_of, read_signatures, read_statement
from mlmodelscope.record.bundle import RECORD, SIGNATURES, STATEMENT, Clash, find_known, read_record, take_in
from mlmodelscope.record.packed import opened
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store

_WHAT = "bundle of a record"
_LARGEST_STATEMENT = 16 << 20
_LARGEST_SIGNATURES = 1 << 16
_LARGEST = 8 << 30
_BLOCK = 1 << 20


class UnknownSigner(TrustError):
    """Nobody who is known has signed it."""


@dataclass(frozen=True)
class Acceptance:
    """Whose records are taken in."""

    known: Mapping[str, str]
    """Name by key."""
    anybody: bool = False
    """Also of those who are not known, and without a signature. A wrong signature is refused all the same."""


@dataclass(frozen=True)
class Received:
    record: Record
    is_new: bool
    signers: tuple[str, ...]
    """Keys that have signed it."""


def receive(
    store: Store,
    bundle: Path,
    whose: Acceptance,
    source: str,
    largest: int = _LARGEST,
    confined: Confined | None = None,
) -> Received:
    """Check a bundle and keep its record; one that is there already stays as it is."""
    with opened(bundle, largest, _WHAT) as packed:
        signed: Mapping[str, str] = {}
        statement = None
        if STATEMENT in packed.namelist():
            check_seal(bundle)
            statement = read_statement(_read(packed, STATEMENT, _LARGEST_STATEMENT))
            signed = read_signatures(_read(packed, SIGNATURES, _LARGEST_SIGNATURES))
            _check_signatures(statement, signed)
        _require_known(signed, whose)
        record = read_record(packed)
        if statement is not None:
            _check_content(packed, statement, record)
        known = find_known(store, record)
        if known is not None:
            _require_same(store, known, record, statement)
    if known is not None:
        origin = origin_of(store.database, known.id)
        if statement is not None and origin is not None and origin.digest == digest_of(statement):
            add_signatures(store.database, known.id, signed)
        return Received(known, False, tuple(signed))
    # One that says nothing of itself came from elsewhere as well: what it names is a stranger's word.
    said = statement or Statement(record=record.id, files={})
    also = partial(write_origin, statement=said, signed=signed, source=source)
    taken = take_in(store, bundle, largest, also, confined)
    if taken != record:  # somebody else's, who was faster
        raise Clash(f"another record is called {record.id}, and it is not the same")
    return Received(taken, True, tuple(signed))


def _read(packed: zipfile.ZipFile, name: str, largest: int) -> bytes:
    try:
        if packed.getinfo(name).file_size > largest:
            raise UsageError(f"the bundle's {name} is too large")
        return packed.read(name)
    except KeyError:
        raise UsageError(f"the bundle has no {name}") from None


def _check_signatures(statement: Statement, signed: Mapping[str, str]) -> None:
    message = statement.text().encode()
    for key, signature in signed.items():
        if not is_signed(message, signature, key):
            raise UsageError(f"the signature of {key} is wrong: the bundle is not what was signed")


def _require_known(signed: Mapping[str, str], whose: Acceptance) -> None:
    if whose.anybody or any(key in whose.known for key in signed):
        return
    if not signed:
        raise UnknownSigner("nobody has signed this bundle", hint="--unsigned, or `accept: any` on a server, takes it")
    raise UnknownSigner(
        f"nobody who is known here has signed this bundle; signed by {', '.join(sorted(signed))}",
        hint="mlmodelscope keys add NAME KEY, once you know whose key it is; --unsigned takes it as it is",
    )


def _check_content(packed: zipfile.ZipFile, statement: Statement, record: Record) -> None:
    """Exactly the files that the statement lists, each with its digest."""
    names = [entry.filename for entry in packed.infolist()]
    if sorted(names) != sorted([*statement.files, STATEMENT, SIGNATURES]):
        raise UsageError("the bundle holds other files than its statement lists")
    if statement.record != record.id or RECORD not in statement.files:
        raise UsageError("the bundle's statement is about another record")
    for name, listed in statement.files.items():
        digest, size = hashlib.sha256(), 0
        with packed.open(name) as file:
            while size <= listed.size_bytes and (block := file.read(_BLOCK)):
                digest.update(block)
                size += len(block)
        if size != listed.size_bytes or digest.hexdigest() != listed.sha256:
            raise UsageError(f"{name} in the bundle is not what was signed")


def _require_same(store: Store, known: Record, record: Record, statement: Statement | None) -> None:
    """One id, one content: what is here is neither replaced nor taken for something else."""
    ours = {each.name: each.sha256 for each in store.files.known(known.id)}
    theirs = {name: each.sha256 for name, each in statement.files.items()} if statement is not None else {}
    shared = {name for name in ours if name in theirs and not name.startswith("manifests/")}
    if known != record or any(ours[name] != theirs[name] for name in shared):
        raise Clash(f"another record is called {record.id}, and it is not the same")
