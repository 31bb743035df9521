"""A release near to the one that a manifest pins, for pins that nobody can satisfy any more.

Many old manifests name a release that was never published as a wheel (ONNX Runtime 1.7.1), is gone (CNTK 2.3) or is
older than what the predictor runs. Only a user who asks for it (`--relax-framework`) gets another one, and the record
says so.
"""

from __future__ import annotations

from mlmodelscope.errors import StackError
from mlmodelscope.manifest.schema import Framework
from mlmodelscope.manifest.version import Version
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.supported import is_supported, supported_versions
from mlmodelscope.provision.stack.known import known_stacks
from mlmodelscope.provision.stack.releases import Release, exactly, list_releases, nearest_version
from mlmodelscope.settings import Settings


def relaxed_framework(framework: Framework, settings: Settings) -> Framework | None:
    """The same framework, pinned to the nearest release that the predictor runs and that can be had."""
    releases = [] if settings.offline else list_releases(framework)
    nearest = nearest_version(framework.version, _possible(framework, releases))
    return Framework(name=framework.name, version=exactly(nearest)) if nearest is not None else None


def refusal(framework: Framework, releases: list[Release], fitting: list[Release]) -> StackError:
    """Why there is no stack, and what comes nearest; `fitting` are releases that the predictor does not run."""
    asked = f"{framework.name} {framework.version}"
    if fitting:
        first, word = fitting[0], framework_word(framework)
        declared = supported_versions(word, first.package)
        message = f"{asked} means {first.package} {first.version}, and the predictor `{word}` runs {declared}"
    else:
        message = f"no index has a release of {framework.name} that satisfies {framework.version}"
    nearest = nearest_version(framework.version, _possible(framework, releases))
    if nearest is None:
        return StackError(message)
    return StackError(
        f"{message}; the nearest release that runs is {nearest}",
        hint=f"--relax-framework takes {nearest}, and the record says so",
    )


def _possible(framework: Framework, releases: list[Release]) -> list[Version]:
    word = framework_word(framework)
    known = [each.version for each in known_stacks(framework) if is_supported(word, each.package, each.version)]
    return [*known, *(each.number for each in releases if each.is_supported)]
