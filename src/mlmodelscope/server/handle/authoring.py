"""Manifests as they are written: checked, mended, converted, and begun from a model file. Nothing of them is run."""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlmodelscope.author.make import make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.errors import ManifestError, MLModelScopeError, Problem, UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.fix import mend
from mlmodelscope.lint.plain import plain_result
from mlmodelscope.lint.rule import all_rules
from mlmodelscope.lint.subject import NOWHERE
from mlmodelscope.manifest.convert import convert_document, unclear
from mlmodelscope.manifest.json_schema import manifest_schema
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.server.catalogue import FOLDERS
from mlmodelscope.server.desk import Desk, demand

TEXT = "<text>"
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_CONFIGS = (".json", ".yml", ".yaml", ".txt", ".cfg")
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def check(desk: Desk, person: Person, text: str, *, fix: bool = False, verbose: bool = False) -> dict[str, Any]:
    """As `mlmodelscope check --json`; files of this machine are not looked at for it."""
    demand(person, "read")
    codes = {rule.code for rule in all_rules() if verbose or not rule.quiet}
    subject, findings = check_text(text, TEXT, NOWHERE, None if fix else codes)
    about = {"kind": subject.kind or None, "dialect": subject.dialect}
    if not fix:
        return {**plain_result(TEXT, findings), **about, "text": None}
    mended = mend(subject, findings, codes)
    left = [found for found in mended.left if found.code in codes]
    return {**plain_result(TEXT, left, mended.applied), **about, "text": mended.text}


def convert(desk: Desk, person: Person, text: str, *, explain: bool = False) -> dict[str, Any]:
    """As `mlmodelscope convert --json`."""
    demand(person, "read")
    document = parse_document(text, TEXT, NOWHERE)
    converted = convert_document(document, explain=explain)
    meant = document.manifest()
    if parse_document(converted, TEXT, NOWHERE).manifest().digest != meant.digest:
        raise ManifestError(Problem("its conversion would not mean the same", file=TEXT))
    notes = [f"{note.message} (line {note.place[0]})" for note in unclear(document)]
    dialect = document.dialect.name if document.dialect else "today"
    return {"kind": document.kind, "dialect": dialect, "notes": notes, "text": converted}


def schema(desk: Desk, person: Person, kind: str) -> dict[str, Any]:
    """JSON Schema of a kind of manifest, for editors."""
    demand(person, "read")
    if kind not in FOLDERS:
        raise UsageError(f"there is no kind of manifest `{kind}`\nknown: {', '.join(FOLDERS)}")
    return manifest_schema(kind)


def versions(desk: Desk, person: Person, kind: str, name: str) -> list[dict[str, Any]]:
    """All versions of a name, the newest first."""
    demand(person, "read")
    if kind not in FOLDERS:
        raise UsageError(f"there is no kind of manifest `{kind}`\nknown: {', '.join(FOLDERS)}")
    found = [each for each in desk.catalogue.entries(kind) if each.manifest.name == name]
    if not found:
        raise UsageError(f"there is no {kind} `{name}`")
    found.sort(key=lambda each: each.order, reverse=True)
    return [
        {
            "version": each.manifest.version,
            "digest": each.manifest.digest,
            "owner": each.owner,
            "shipped": each.owner is None,
            "created_at": spoken(each.created_at),
        }
        for each in found
    ]


def begin(desk: Desk, person: Person, file: str, content: Path | str, said: Request) -> dict[str, Any]:
    """A manifest from a model file: `content` is where it was received, or the digest of one that is here.

    `said` are the answers to `init`'s questions.
    """
    demand(person, "run")
    if not _FILE.fullmatch(file):
        raise UsageError(f"`{file[:60]}` is no name of a file: letters, digits and . _ + - only")
    if file.lower().endswith(_CONFIGS):
        raise UsageError(f"{file} is a configuration, a model file is asked for", hint="mlmodelscope init reads it")
    if said.labels is not None and "://" not in said.labels:
        raise UsageError("`labels` must be an address, such as https://…/classes.txt")
    source = (
        content if isinstance(content, Path) else _held(desk, content, not (person.is_local or person.may("admin")))
    )
    with tempfile.TemporaryDirectory(dir=desk.store.home) as place:
        model = Path(place) / file
        model.symlink_to(source.resolve())
        try:
            written = make_manifest(replace(said, model=model, configs=(), output=Path(place) / "manifest.yml"))
        except MLModelScopeError as error:
            raise UsageError(error.message.replace(f"{place}/", ""), hint=error.hint) from None
    draft = written.draft
    return {
        "manifest": written.text,
        "found": [
            {"where": key, "value": _plain(fact.value), "because": fact.because}
            for key, fact in draft.facts.items()
            if not fact.guess
        ],
        "guessed": [{key: str(value) for key, value in vars(guess).items()} for guess in draft.guesses],
        "questions": [{"flag": question.flag, "text": question.text} for question in draft.questions],
        "not_expressed": [str(each) for each in draft.unknown],
        "notes": [str(note) for note in draft.notes],
        "labels": written.labels_text or None,
    }


def _plain(value: Any) -> Any:
    """As JSON can say it: a model file may hold numbers that are none."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    is_said = (
        value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value))
    )
    return value if is_said else str(value)


def _held(desk: Desk, digest: str, is_limited: bool) -> Path:
    match = _DIGEST.fullmatch(digest)
    found = ArtifactStore(replace(desk.settings, public_only=is_limited)).held(match[1]) if match else None
    if found is None:
        raise UsageError(f"there is no artifact `{digest[:80]}` here", hint="send the file itself")
    return found
