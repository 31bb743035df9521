"""What code a manifest would run, and the digest by which a user trusts exactly that code and no other."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, Manifest, ModelManifest, SoftwareManifest

# Environment variables by which a loader, Python or a framework is told to load a stranger's code.
_LOADS_CODE = re.compile(r"(LD|DYLD)_.*|PYTHON.*|.*(PATH|LIBRAR|PRELOAD|INJECTION|PLUGIN).*|.*_(CONF|ENV)|ENV")
_HARMLESS = ("PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER")


@dataclass(frozen=True)
class Carried:
    """Code in a manifest."""

    stage: str
    code: str
    language: str
    line: int


def code_of(manifest: Manifest) -> list[Carried]:
    """Every piece of code that using this manifest would execute, or would have loaded from somewhere else."""
    if isinstance(manifest, ModelManifest):
        return [*_functions(manifest), *_variables("envvars", manifest.envvars)]
    if isinstance(manifest, DatasetManifest):
        return _functions(manifest)
    if isinstance(manifest, SoftwareManifest):
        return [*_variables("env", manifest.env), *_foreign_packages(manifest)]
    if isinstance(manifest, HardwareManifest):
        setup = [Carried("setup", manifest.setup, "shell", 0)] if manifest.setup else []
        return [*setup, *_settings(manifest)]
    return []


def _settings(manifest: HardwareManifest) -> list[Carried]:
    """Settings that everybody on the machine would feel; those of our own process are nobody else's business."""
    chosen = manifest.settings.reaches_beyond_us if manifest.settings else {}
    lines = [f"{name}: {json.dumps(each.model_dump(mode='json'), sort_keys=True)}" for name, each in chosen.items()]
    return [Carried("settings", "\n".join(lines), "machine-setting", 0)] if lines else []


def _functions(manifest: ModelManifest | DatasetManifest) -> list[Carried]:
    return [Carried(stage, each.code, "Python", each.line) for stage, each in manifest.functions.items()]


def _variables(key: str, variables: dict[str, str]) -> list[Carried]:
    found = [
        f"{name}={value}"
        for name, value in sorted(variables.items())
        if _LOADS_CODE.fullmatch(name.upper()) and name.upper() not in _HARMLESS
    ]
    return [Carried(key, "\n".join(found), "environment", 0)] if found else []


def _foreign_packages(manifest: SoftwareManifest) -> list[Carried]:
    """Where a stack's packages come from, unless that is the user's own index or a Debian release."""
    stack = manifest.stack
    if stack is None:
        return []
    places = [f"index_url: {stack.index_url}"] if stack.index_url else []
    places += [f"find_links: {place}" for place in stack.find_links]
    places += [line for line in stack.requirements if "://" in line or " @ " in line or line.lstrip().startswith("-")]
    if stack.root is not None and not stack.root.startswith("debian:"):
        places.append(f"root: {stack.root} {stack.root_checksum or ''}".rstrip())
    return [Carried("stack", "\n".join(places), "packaged", 0)] if places else []


def code_digest(manifest: Manifest) -> str | None:
    """Digest of the code alone: whatever else changes in the manifest, trusted code stays trusted."""
    carried = [[each.stage, each.language, each.code] for each in code_of(manifest)]
    return hashlib.sha256(json.dumps(carried).encode()).hexdigest() if carried else None
