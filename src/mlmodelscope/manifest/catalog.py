"""Manifests by name, id or digest: the ones that come with the package, and the user's own folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from mlmodelscope.errors import ManifestError, Problem, UsageError
from mlmodelscope.manifest.dialect.words import name_from_id
from mlmodelscope.manifest.folders import Kind, catalog_files
from mlmodelscope.manifest.kept import Kept
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import (
    DatasetManifest,
    HardwareManifest,
    Manifest,
    ModelManifest,
    ReferenceLog,
    ReproductionManifest,
    SoftwareManifest,
)
from mlmodelscope.manifest.source import parse_source, read_bytes
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.version import Constraint, Version

Sought = TypeVar("Sought", bound=Manifest)

_WORDS: dict[type[Manifest], tuple[Kind, str]] = {
    ModelManifest: ("models", "model"),
    DatasetManifest: ("datasets", "dataset"),
    SoftwareManifest: ("software", "software"),
    HardwareManifest: ("hardware", "hardware"),
    ReferenceLog: ("logs", "reference log"),
    ReproductionManifest: ("reproductions", "reproduction"),
}
_DESCRIBED = "mlmodelscope.catalog.find"
"""The module that knows models by `SOURCE:NAME`, imported when one is asked for."""
_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}:[^/@:\s][^/@\s]{0,199}")
_NAME = re.compile(
    r"""^["']?(name|id)["']?[ \t]*:[ \t]+(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'#].*?))[ \t]*(?:[ \t]#.*)?$""", re.M
)
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{12,64})")


@dataclass(frozen=True)
class Catalogued:
    name: str
    path: Path
    id: str | None = None


def list_catalog(kind: Kind) -> Iterator[Catalogued]:
    """Every manifest of a kind, without reading more of it than its name and id."""
    for path in catalog_files(kind):
        found = _names(path)
        if found is not None:
            yield found


def name_in(text: str) -> str | None:
    """What a manifest calls what it is about."""
    found = _named(text, Path("manifest.yml"))
    return found.name if found is not None else None


def _names_in(path: Path) -> Catalogued | None:
    try:
        text = read_bytes(path).decode("utf-8", errors="replace") if path.is_file() else ""
    except ManifestError:
        return None
    return _named(text, path)


_names, _manifests = Kept(_names_in), Kept(load_manifest)


def _named(text: str, path: Path) -> Catalogued | None:
    """Name and id by the look of their lines: a catalogue of a thousand files is listed without parsing one."""
    if text.lstrip("\ufeff \n")[:1] == "{":  # JSON, and what looks like it
        try:
            data = parse_source(text, str(path))
        except ManifestError:
            return None
        found = {key: str(data[key]) for key in ("name", "id") if data.get(key) is not None}
    else:
        found = {match[1]: match[2] or match[3] or match[4] or "" for match in _NAME.finditer(text.replace("\r", ""))}
    name, known_as = found.get("name", "").strip(), found.get("id")
    spelled = "-".join(name.split()) if name else name_from_id(known_as) if known_as else ""
    return Catalogued(spelled, path, known_as) if spelled else None


def find_model(name: str | Path | ModelManifest) -> ModelManifest:
    """A model manifest by path, name, `name@constraint`, id or digest."""
    return find_manifest(ModelManifest, name)


def find_dataset(name: str | Path | DatasetManifest) -> DatasetManifest:
    """A dataset manifest by path, name, `name@constraint`, id or digest."""
    return find_manifest(DatasetManifest, name)


def find_manifest(sought: type[Sought], name: str | Path | Sought) -> Sought:
    """A manifest of some kind by path, name, `name@constraint`, id or digest."""
    if isinstance(name, sought):
        return name
    kind, word = _WORDS[sought]
    found = _find(str(name), sought)
    if not isinstance(found, sought):
        raise UsageError(f"{name} is a {_WORDS[type(found)][1]} manifest, not a {word} manifest")
    return found


def _find(name: str, sought: type[Manifest]) -> Manifest:
    is_path = name.endswith((".yml", ".yaml")) or os.sep in name
    if is_path and Path(name).exists():
        return load_manifest(name)
    kind, word = _WORDS[sought]
    entries = list(list_catalog(kind))
    by_id = [entry for entry in entries if entry.id == name]  # whatever letters it has
    if is_path and not by_id:
        raise ManifestError(Problem("there is no such file", file=name))
    described = described_model(name) if sought is ModelManifest and not by_id else None
    if described is not None:
        return load_manifest(described)
    digest = _DIGEST.fullmatch(name)
    if digest is not None and not any(name in (entry.name, entry.id) for entry in entries):
        return _by_digest(digest[1], name, sought, entries)
    wanted, _, constraint_text = (name, "", "") if by_id else name.partition("@")
    constraint = Constraint(constraint_text or "*")
    named = [_load(entry.path, sought) for entry in entries if wanted in (entry.name, entry.id)]
    candidates = [manifest for manifest in named if manifest is not None]
    matching = [
        manifest for manifest in candidates if constraint.matches(Version(manifest.version), allow_prerelease=True)
    ]
    if matching:
        return max(matching, key=lambda manifest: Version(manifest.version))
    if candidates:
        versions = ", ".join(str(version) for version in sorted({Version(each.version) for each in candidates}))
        raise UsageError(f"no version of {wanted} satisfies {constraint}; there is {versions}")
    known = sorted({entry.name for entry in entries if is_of_kind(entry, sought)})
    hint = nearest(wanted, known) or (_described_like(wanted) if sought is ModelManifest else None)
    raise UsageError(
        f"there is no {word} `{wanted}`\nknown: {', '.join(known)}",
        hint=hint or "a path to a manifest file will do as well",
    )


def is_reference(name: str) -> bool:
    """Whether it looks like `SOURCE:NAME`."""
    return _REFERENCE.fullmatch(name) is not None


def described_model(name: str) -> Path | None:
    """The manifest of a model that a source describes, by `SOURCE:NAME`; None where no source has that label."""
    if not is_reference(name):
        return None
    found: Path | None = import_module(_DESCRIBED).described_path(name)
    return found


def _described_like(name: str) -> str | None:
    """What sources describe under such a name."""
    found = import_module(_DESCRIBED).suggestions(name)
    return f"sources describe {', '.join(found)}; `mlmodelscope models --search WORDS` finds more" if found else None


def _load(path: Path, sought: type[Manifest]) -> Manifest | None:
    """Folders may hold several kinds of manifest; only those of the kind that is sought count."""
    manifest = _manifests(path)
    return manifest if isinstance(manifest, sought) else None


def is_of_kind(entry: Catalogued, sought: type[Manifest]) -> bool:
    """Whether its file is of that kind, where the folder that holds it may have several; one that is broken may be."""
    if entry.path.parent.name in {kind for kind, _ in _WORDS.values()}:
        return True
    try:
        return _load(entry.path, sought) is not None
    except ManifestError:
        return True


def _by_digest(start: str, name: str, sought: type[Manifest], entries: list[Catalogued]) -> Manifest:
    for entry in entries:
        try:
            manifest = _load(entry.path, sought)
        except ManifestError:
            continue  # someone else's broken file is not what was asked for
        if manifest is not None and manifest.digest.startswith(start):
            return manifest
    raise UsageError(f"there is no {_WORDS[sought][1]} with the digest {name}")
