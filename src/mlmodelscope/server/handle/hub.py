"""Records from and for other servers; whose are taken in is the server's own affair."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlmodelscope.hub.keys import Keyring, can_sign
from mlmodelscope.hub.origin import origin_of
from mlmodelscope.hub.pack import pack
from mlmodelscope.hub.receive import Acceptance, receive
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record import owners, pins
from mlmodelscope.record.record import Record
from mlmodelscope.server.desk import Desk, Refused, demand


def keys(desk: Desk, person: Person) -> Mapping[str, Any]:
    """The server's own key, and those that it knows."""
    demand(person, "read")
    own = Keyring(desk.store.home).own().key if can_sign() else None
    known = [{"name": name, "key": key} for key, name in _known(desk).items()]
    return {"own": own, "accept": desk.config.accept, "known": known}


def bundle(desk: Desk, person: Person, name: str, destination: Path) -> Record:
    """The record with its files and manifests, signed by this server and by who signed it before."""
    demand(person, "read")
    record = desk.store.get(name)
    pack(record, desk.store, destination, Keyring(desk.store.home).own() if can_sign() else None)
    return record


def take(desk: Desk, person: Person, bundle: Path) -> Mapping[str, Any]:
    """Keep somebody's record, if it is of somebody who is known here."""
    demand(person, "run")
    whose = Acceptance(_known(desk), anybody=desk.config.accept == "any")
    largest, source = desk.config.largest_upload, f"pushed by {person.owner}"
    found = receive(desk.store, bundle, whose, source, largest, desk.confined)
    if found.is_new:
        with desk.store.database.writing() as connection:
            owners.give(connection, found.record.id, person.owner)
        desk.audit.note(person.owner, "push", found.record.id)
    return {"record": found.record.id, "is_new": found.is_new, "signers": _spell(desk, found.signers)}


def pin(desk: Desk, person: Person, name: str, is_pinned: bool) -> Mapping[str, Any]:
    """Have a record stay, whatever the policy of retention says; or no longer, by whoever pinned it or an admin."""
    demand(person, "run")
    record = desk.store.get(name).id
    if is_pinned:
        pins.pin(desk.store.database, record, person.owner)
    else:
        if pins.pinned(desk.store.database).get(record, person.owner) != person.owner and not person.may("admin"):
            raise Refused("admin")
        pins.unpin(desk.store.database, record)
    desk.audit.note(person.owner, "pin" if is_pinned else "unpin", record)
    return {"record": record, "pinned": is_pinned}


def origin(desk: Desk, person: Person, name: str) -> Mapping[str, Any]:
    """Where a record came from and who signed it."""
    demand(person, "read")
    record = desk.store.get(name).id
    found = origin_of(desk.store.database, record)
    if found is None:
        return {"record": record, "is_own": True, "signers": []}
    signers = _spell(desk, found.signatures)
    return {
        "record": record,
        "is_own": False,
        "source": found.source,
        "received_at": found.received_at,
        "digest": found.digest,
        "signers": signers,
    }


def _known(desk: Desk) -> dict[str, str]:
    own = {Keyring(desk.store.home).own().key: "this server"} if can_sign() else {}
    by_config = {key: name for name, key in desk.config.known_keys.items()}
    return {**own, **by_config, **Keyring(desk.store.home).known()}


def _spell(desk: Desk, keys: Any) -> list[dict[str, Any]]:
    known = _known(desk)
    return [{"key": key, "name": known.get(key)} for key in keys]
