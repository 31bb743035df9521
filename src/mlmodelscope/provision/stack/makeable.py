"""Releases of frameworks that a stack can be made of here: what an agent tells its server before anybody asks.

Nothing is downloaded but the lists of files of package indexes, and those once a day.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import time
from collections.abc import Mapping
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework
from mlmodelscope.plan.supported import supported_versions
from mlmodelscope.provision.pip_settings import read_index_settings
from mlmodelscope.provision.stack.interpreter import installed_minors
from mlmodelscope.provision.stack.known import Known, known_by_framework
from mlmodelscope.provision.stack.made import likely_minor
from mlmodelscope.provision.stack.releases import Release, list_releases
from mlmodelscope.settings import Settings

MOST_RELEASES = 500
"""Of one framework that are told."""
LASTS_S = 24 * 3600.0

Makeable = Mapping[str, tuple[str, ...]]
"""Releases by the predictor's name, the newest first."""


def list_makeable(settings: Settings) -> Makeable:
    """What `make_software` would make a stack of: the predictor runs it, and its wheel and its Python are there.

    StackError where no index answers at all; a framework whose index does not answer is left out.
    """
    places = read_index_settings()
    if settings.offline or not (places.indexes or places.find_links):
        return {}
    known = {word: _bases(stacks) for word, stacks in known_by_framework().items()}
    minors = installed_minors()
    kept = settings.cache / "made-stacks" / "makeable.json"
    key = _digest([places.indexes, places.find_links, platform.machine(), sorted(minors), _described(known)])
    found = _read(kept, key)
    if found is None:
        found = _ask(known, minors)
        _write(kept, key, found)
    return found


def _ask(known: Mapping[str, list[Known]], minors: frozenset[int]) -> Makeable:
    found: dict[str, tuple[str, ...]] = {}
    for word, stacks in sorted(known.items()):
        try:
            releases = list_releases(Framework(name=word)) if stacks else []
        except StackError:
            if not found:  # nobody answers: each further package would be waited for, too
                raise
            continue
        versions = {
            each.version: each.number
            for each in releases
            # Nightly builds are there for weeks: by the time that one is asked for it may be gone.
            if "dev" not in each.version and _is_run(word, each, stacks) and likely_minor(each, stacks) in minors
        }
        if versions:
            found[word] = tuple(sorted(versions, key=versions.__getitem__, reverse=True))[:MOST_RELEASES]
    return found


def _is_run(word: str, release: Release, stacks: list[Known]) -> bool:
    """Whether the predictor runs a release, as it declares; where it declares nothing, as far back as we have tried."""
    if supported_versions(word, release.package) is not None:
        return release.is_supported
    tried = [each.version for each in stacks if each.package == release.package]
    return bool(tried) and release.number >= min(tried)


def _bases(stacks: list[Known]) -> list[Known]:
    """Stacks that another release can be put in the place of."""
    return [each for each in stacks if each.software.stack is not None and each.software.stack.root is None]


def _described(known: Mapping[str, list[Known]]) -> list[object]:
    """All of what is known that an answer depends on."""
    return [
        [word, each.software.reference, each.package, str(each.version), str(supported_versions(word, each.package))]
        for word, stacks in sorted(known.items())
        for each in stacks
    ]


def _read(kept: Path, key: str) -> Makeable | None:
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        told = json.loads(kept.read_text(encoding="utf-8"))
        if told["key"] == key and 0 <= time.time() - told["at"] < LASTS_S:
            return {str(word): tuple(map(str, versions)) for word, versions in told["found"].items()}
    return None


def _write(kept: Path, key: str, found: Makeable) -> None:
    """For tomorrow; a cache that cannot be written to only costs time."""
    draft = kept.with_suffix(f".{hashlib.sha256(str(time.monotonic_ns()).encode()).hexdigest()[:12]}.draft")
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"key": key, "at": time.time(), "found": found}), encoding="utf-8")
        draft.replace(kept)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
