"""What the server has confined processes do: whatever reads files and texts that people sent.

Arguments and answers are as JSON carries them. A stranger's dataset, picture or model file that takes too much ends
such a process, and the server goes on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mlmodelscope.author.make import make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.confine.confined import Confined
from mlmodelscope.dataset.classes import read_classes
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import ManifestError, MLModelScopeError, Problem, UsageError
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.fix import mend
from mlmodelscope.lint.plain import plain_result
from mlmodelscope.lint.rule import all_rules
from mlmodelscope.lint.subject import NOWHERE
from mlmodelscope.manifest.convert import convert_document, unclear
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.artifact import Artifact, ArtifactStore
from mlmodelscope.report.sample_pictures import picture_size
from mlmodelscope.report.thumbnail import small_picture
from mlmodelscope.server.placeholders import refuse_placeholders
from mlmodelscope.server.sent_text import Named, named_files, refuse_secrets, refused_files
from mlmodelscope.settings import Settings
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.library import MissingLibrary
from mlmodelscope_worker.sample import Loader

TEXT = "<text>"
_LOAD = Loader()
"""Large files that many samples share are opened once by each process."""


class ConfinedStore(ArtifactStore):
    """Artifacts that are here already; whatever must be unpacked or hashed for it is, elsewhere."""

    def __init__(self, settings: Settings, confined: Confined) -> None:
        super().__init__(settings)
        self._confined = confined

    def fetch(self, reference: str, checksum: str | None = None) -> Artifact:
        found = self._confined.call(
            fetched, reference=reference, checksum=checksum, settings=spelled_settings(self.settings)
        )
        return Artifact(Path(found["path"]), found["sha256"])


def spelled_settings(settings: Settings) -> dict[str, Any]:
    """Without the database, which no confined process needs to know."""
    known = asdict(replace(settings, database=None, blobs=None))
    places = {
        "home": str(settings.home),
        "cache": str(settings.cache),
        "mirrors": [str(each) for each in settings.mirrors],
    }
    return {**known, **places}


def read_settings(spelled: dict[str, Any]) -> Settings:
    places = {name: Path(spelled[name]) for name in ("home", "cache")}
    return Settings(**{**spelled, **places, "mirrors": tuple(Path(each) for each in spelled["mirrors"])})


def fetched(reference: str, checksum: str | None, settings: dict[str, Any]) -> dict[str, str]:
    found = ArtifactStore(read_settings(settings)).fetch(reference, checksum)
    return {"path": str(found.path), "sha256": found.sha256}


def listed_samples(dataset: str, settings: dict[str, Any]) -> dict[str, Any]:
    """All samples of a planned dataset."""
    try:
        found = open_dataset(PlannedDataset.model_validate_json(dataset), ArtifactStore(read_settings(settings)))
    except OSError as error:
        raise UsageError(str(error)) from None
    # What is true of a sample stays text: lists of a million numbers would take many times as much.
    return {
        "samples": [[each.id, dict(each.content), each.digest, _brief(each.target)] for each in found.samples],
        "classes": list(found.classes),
    }


def listed_classes(reference: str, checksum: str | None, settings: dict[str, Any]) -> list[str]:
    """Names of classes, from the file that a manifest names."""
    found = ArtifactStore(read_settings(settings)).fetch(reference, checksum)
    return read_classes(found.path, parse_reference(reference).name)


def _brief(target: Any) -> int | str | None:
    return target if target is None or isinstance(target, int) else json.dumps(target, separators=(",", ":"))


def drawn(content: dict[str, Any], digest: str, side: int) -> dict[str, str]:
    """A small picture of a sample, in base64."""
    try:
        refuse_another(content, digest)
        found = small_picture(_LOAD, content, side)
    except (ImageError, MissingLibrary, OSError, KeyError) as error:
        raise UsageError(str(error)) from None
    return {"data": base64.b64encode(found.data).decode(), "media_type": found.media_type}


def sized(content: dict[str, Any], digest: str) -> dict[str, Any]:
    """How large a sample's picture is."""
    try:
        refuse_another(content, digest)
        found = picture_size(content)
    except (ImageError, OSError, KeyError) as error:
        raise UsageError(str(error)) from None
    return {"size": list(found) if found else None}


def refuse_another(content: dict[str, Any], digest: str) -> None:
    """The folder was looked through when the dataset was opened; its files may be others by now."""
    if "file" in content:
        with open(content["file"], "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise ImageError("its file has changed")


def checked(text: str, fix: bool, verbose: bool, settings: dict[str, Any]) -> dict[str, Any]:
    codes = {rule.code for rule in all_rules() if verbose or not rule.quiet}
    subject, findings = check_text(text, TEXT, NOWHERE, None if fix else codes)
    about = {"kind": subject.kind or None, "dialect": subject.dialect, **_about_saving(text, read_settings(settings))}
    if not fix:
        return {**plain_result(TEXT, findings), **about, "text": None}
    mended = mend(subject, findings, codes)
    left = [found for found in mended.left if found.code in codes]
    return {**plain_result(TEXT, left, mended.applied), **about, "text": mended.text}


def _about_saving(text: str, settings: Settings) -> dict[str, Any]:
    """What a server would refuse of it, and the files of its author's machine; nothing where it is no manifest."""
    refused: list[Problem] = []
    files: list[Named] = []
    try:
        refuse_secrets(text)
        refused += refused_files(text, settings)
        files += [named for named in named_files(text) if named.is_local]
        refuse_placeholders(parse_document(text, TEXT, NOWHERE).manifest().model_dump(mode="json", exclude_none=True))
    except ManifestError as error:
        refused += error.problems
    return {"files": [asdict(each) for each in files], "refused": [asdict(each) for each in refused]}


def converted(text: str, explain: bool) -> dict[str, Any]:
    document = parse_document(text, TEXT, NOWHERE)
    written = convert_document(document, explain=explain)
    meant = document.manifest()
    if parse_document(written, TEXT, NOWHERE).manifest().digest != meant.digest:
        raise ManifestError(Problem("its conversion would not mean the same", file=TEXT))
    notes = [f"{note.message} (line {note.place[0]})" for note in unclear(document)]
    dialect = document.dialect.name if document.dialect else "today"
    return {"kind": document.kind, "dialect": dialect, "notes": notes, "text": written}


def begun(file: str, source: str, home: str, said: dict[str, Any]) -> dict[str, Any]:
    """A manifest from a model file."""
    with tempfile.TemporaryDirectory(dir=home) as place:
        model = Path(place) / file
        model.symlink_to(Path(source).resolve())
        request = Request(**{**said, "claims": tuple(said["claims"])})
        try:
            written = make_manifest(replace(request, model=model, configs=(), output=Path(place) / "manifest.yml"))
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
