"""The manifests of the catalog's folders as rows of a list: a file that has not changed is not parsed again."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.settings import Settings
from mlmodelscope_worker import __version__

_FORMAT = 3
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class ManifestClaim:
    """A published number as its manifest has it."""

    key: str
    metric: str
    value: str
    unit: str
    dataset: str
    """With its split, where it names one."""
    conditions: str
    source: str
    number: float | None
    """As our measures count it; None where they do not know the metric, or the unit."""
    shown: str
    """That number as published, with its unit."""

    @property
    def is_measurable(self) -> bool:
        return self.number is not None


@dataclass(frozen=True)
class ManifestRow:
    """One manifest, or why its file is left out."""

    name: str = ""
    version: str = ""
    task: str = ""
    framework: str = ""
    license: str = ""
    claims: tuple[str, ...] = ()
    digest: str = ""
    problem: str = ""
    published: tuple[ManifestClaim, ...] = ()

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.version}"


def manifest_rows(settings: Settings, files: list[Path]) -> list[ManifestRow]:
    """Rows of the model manifests among these files, in their order."""
    place = settings.cache / "catalog" / "manifests.json"
    known = _read(place)
    found: dict[str, Any] = {}
    rows = []
    for path in files:
        try:
            status = path.stat()
        except OSError:
            continue
        mark = [status.st_mtime_ns, status.st_ctime_ns, status.st_size]
        kept = known.get(str(path))
        if not isinstance(kept, list) or len(kept) != 2 or kept[0] != mark:
            kept = [mark, [asdict(row) for row in _rows_of(path)]]
        found[str(path)] = kept
        rows += list(_as_rows(kept[1]))
    if found != known:
        _write(place, found)
    return rows


def _rows_of(path: Path) -> list[ManifestRow]:
    """None for a manifest of another kind: a folder may hold several."""
    manifest: list[ManifestRow] = importlib.import_module("mlmodelscope.catalog.manifest_row").rows_of(path)
    return manifest


def _as_rows(kept: Any) -> Iterator[ManifestRow]:
    for each in kept if isinstance(kept, list) else ():
        with contextlib.suppress(TypeError, KeyError):
            published = tuple(ManifestClaim(**claim) for claim in each["published"])
            yield ManifestRow(**{**each, "claims": tuple(each["claims"]), "published": published})


def _read(place: Path) -> dict[str, Any]:
    try:
        if place.stat().st_size > _MOST_BYTES:
            return {}
        data = json.loads(place.read_bytes())
        files = data["files"] if data["format"] == _FORMAT and data["version"] == __version__ else {}
        return files if isinstance(files, dict) else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _write(place: Path, files: dict[str, Any]) -> None:
    """Whole or not at all; without a cache everything is read again next time."""
    draft = place.with_name(f".manifests.{os.getpid()}.draft")
    with contextlib.suppress(OSError):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps({"format": _FORMAT, "version": __version__, "files": files}), encoding="utf-8")
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
