"""Sources that the user has added: where each is from, its facts in a file, and what an update changes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.catalog.entry import Entry, as_data
from mlmodelscope.catalog.facts import SHIPPED, SUFFIX, Facts, Source, open_facts, write_facts
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.index import facts_folder
from mlmodelscope.catalog.origin import opened_origin
from mlmodelscope.catalog.source.form import Reading, find_form, read_entries
from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.settings import Settings

_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_RESERVED = ("pypi", "npm", "artifact", "file", "http", "https", "s3", "git", "sha256", "debian")


@dataclass(frozen=True)
class Changes:
    """What is different between two readings of a source, by the names of models."""

    came: tuple[str, ...]
    went: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.came or self.went or self.changed)


@dataclass(frozen=True)
class Read:
    """A source as it was just read."""

    source: Source
    entries: tuple[Entry, ...]
    examples: Mapping[str, str]
    """A place for each reason that something was left out."""


def read_source(settings: Settings, label: str, origin: str, form: str | None = None) -> Read:
    """Read everything of a source; nothing is written."""
    with opened_origin(settings, origin) as found:
        reading = Reading(Files(found.place))
        known = find_form(reading.files, form)
        entries = tuple(read_entries(known, reading))
        if not entries:
            said = "; ".join(f"{count} times {why}" for why, count in reading.left_out.items())
            raise UsageError(f"{origin} has no model that can be read as {known.name}" + (f": {said}" if said else ""))
        source = Source(
            label,
            known.name,
            found.origin,
            found.version or reading.files.digest[:16],
            models=len(entries),
            claims=sum(len(entry.claims) for entry in entries),
            left_out=dict(sorted(reading.left_out.items())),
            digest=reading.files.digest,
        )
    return Read(source, entries, reading.examples)


def add_source(settings: Settings, label: str, origin: str, form: str | None = None) -> Read:
    """Read a source and keep its facts under a label of its own."""
    _refuse_label(label)
    path = _path(settings, label)
    if path.exists():
        raise UsageError(f"there is a source {label} already", hint=f"mlmodelscope catalog update {label}")
    read = read_source(settings, label, origin, form)
    with _writing(settings):
        if path.exists():
            raise UsageError(f"there is a source {label} already", hint=f"mlmodelscope catalog update {label}")
        _write(path, read)
    return read


def update_source(settings: Settings, label: str, is_trial: bool = False) -> tuple[Read, Changes]:
    """Read a source again from where it is; what came, went and changed."""
    path = _existing(settings, label)
    before = open_facts(path)
    known = before.sources[0]
    read = read_source(settings, label, known.origin, known.form)
    changes = changes_between({entry.name: entry for _, entry in before.entries()}, read.entries)
    if not is_trial and not (changes.is_empty and known == read.source):
        with _writing(settings):
            _write(path, read)
    return read, changes


def remove_source(settings: Settings, label: str) -> None:
    """Forget a source; manifests that were written to files stay."""
    _existing(settings, label).unlink(missing_ok=True)


def changes_between(before: Mapping[str, Entry], now: tuple[Entry, ...]) -> Changes:
    after = {entry.name: entry for entry in now}
    both = before.keys() & after.keys()
    return Changes(
        tuple(sorted(after.keys() - both)),
        tuple(sorted(before.keys() - both)),
        tuple(sorted(name for name in both if as_data(before[name]) != as_data(after[name]))),
    )


def shipped_labels() -> tuple[str, ...]:
    return tuple(source.label for source in open_facts(SHIPPED).sources)


def own_facts(settings: Settings) -> Iterator[Facts]:
    """Files of facts of the user's own; one that is damaged names its own repair."""
    folder = facts_folder(settings)
    for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
        yield open_facts(path)


def _refuse_label(label: str) -> None:
    if not _LABEL.fullmatch(label) or label in _RESERVED:
        raise UsageError(
            f"`{label[:64]}` is not a label for a source",
            hint="small letters, digits and . _ - only, a letter or digit first, such as my-models",
        )
    if label in shipped_labels():
        raise UsageError(f"{label} ships with the package", hint=f"another label is free, such as {label}-new")


def _path(settings: Settings, label: str) -> Path:
    return facts_folder(settings) / f"{label}{SUFFIX}"


def _existing(settings: Settings, label: str) -> Path:
    own = facts_folder(settings)
    known = sorted(path.stem for path in own.glob(f"*{SUFFIX}")) if own.is_dir() else []
    if label not in known:
        if label in shipped_labels():
            raise UsageError(f"{label} ships with the package", hint="a new version of the package brings new facts")
        listed = f"\nknown: {', '.join(known)}" if known else ""
        raise UsageError(f"no source `{label[:64]}` was added{listed}", hint="mlmodelscope catalog list")
    return own / f"{label}{SUFFIX}"


@contextlib.contextmanager
def _writing(settings: Settings) -> Iterator[None]:
    """One writer at a time."""
    folder = facts_folder(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "sources.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror or error}", hint="MLMODELSCOPE_HOME names another folder"
        ) from None


def _write(path: Path, read: Read) -> None:
    """Whole or not at all."""
    draft = path.with_name(f".{path.stem}.{os.getpid()}.draft")
    try:
        draft.write_bytes(write_facts([(read.source, read.entries)]))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
