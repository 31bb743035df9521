"""Which releases of a framework its predictor runs: told before a stack is built, not by a traceback in it."""

from __future__ import annotations

from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope_worker.environment import normalise


def supported_versions(predictor: str, package: str) -> Constraint | None:
    """What the predictor declares for a package of its framework; none where any release will do."""
    declaration = PREDICTORS.get(predictor)
    versions = getattr(declaration, "versions", None)
    if isinstance(versions, dict):
        versions = {normalise(name): text for name, text in versions.items()}.get(normalise(package))
    return Constraint(versions) if versions else None


def is_supported(predictor: str, package: str, version: Version) -> bool:
    declared = supported_versions(predictor, package)
    return declared is None or declared.matches(version, allow_prerelease=True)
