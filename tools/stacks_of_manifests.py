"""How many manifests of some folders load, and how many of those get a stack; nothing is downloaded or built.

    python tools/stacks_of_manifests.py FOLDER...
    python tools/stacks_of_manifests.py --json counts.json FOLDER...

Each pair of a framework's constraint and the packages that steps and code need is resolved once, by the code that
`evaluate` uses, against the package indexes of this machine's pip; a thousand manifests need a few dozen resolutions. A
stack that is in the catalog is locked already. `relaxed` counts those that get one with --relax-framework alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from mlmodelscope.errors import ManifestError, MLModelScopeError
from mlmodelscope.lint.files import find_files, is_manifest_text
from mlmodelscope.manifest.load import open_document
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.manifest.source import read_bytes
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.stack.choose import find_software
from mlmodelscope.provision.stack.interpreter import find_interpreter
from mlmodelscope.provision.stack.step_libraries import lacking, with_libraries
from mlmodelscope.settings import Settings


@dataclass(frozen=True)
class Row:
    """Manifests that get the same stack, or none for the same reason."""

    framework: str
    version: str
    libraries: tuple[str, ...]
    """Packages that are added to the framework's stack."""
    outcome: str
    """`catalog`, `made`, `relaxed`, or `none`."""
    detail: str
    """The stack, or why there is none."""
    python: str
    """The Python that it needs, with a remark where this machine has none."""


class Resolver:
    """Resolves each question once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._bases: dict[tuple[str, str], tuple[str, SoftwareManifest | str]] = {}
        self._rows: dict[tuple[str, str, tuple[str, ...]], Row] = {}

    def row(self, model: ModelManifest) -> Row:
        assert model.framework is not None
        question = (framework_word(model.framework), model.framework.version)
        if question not in self._bases:
            self._bases[question] = self._base(model)
        outcome, base = self._bases[question]
        missing = lacking(model, base) if isinstance(base, SoftwareManifest) else ()
        key = (*question, tuple(sorted(missing)))
        if key not in self._rows:
            self._rows[key] = self._row(model, key, outcome, base)
        return self._rows[key]

    def _base(self, model: ModelManifest) -> tuple[str, SoftwareManifest | str]:
        outcome, reason = "made", "no stack of this framework is known"
        for relax in (False, True):
            try:
                found = find_software(model, self._settings, _say, relax=relax)
            except MLModelScopeError as error:
                reason = error.message
                continue
            if found is not None:
                return ("relaxed" if relax else outcome if _is_made(found) else "catalog"), found
        return "none", reason

    def _row(
        self, model: ModelManifest, key: tuple[str, str, tuple[str, ...]], outcome: str, base: SoftwareManifest | str
    ) -> Row:
        if isinstance(base, str):
            return Row(*key, "none", base, "")
        try:
            software = with_libraries(model, base, self._settings, _say)
        except MLModelScopeError as error:
            return Row(*key, "none", f"{base.reference}: {error.message}", "")
        stack = software.stack
        return Row(*key, outcome, software.name, _python(stack.python, stack.root) if stack is not None else "")


def _python(constraint: str, root: str | None) -> str:
    if root is not None:
        return root
    try:
        find_interpreter(constraint)
    except MLModelScopeError:
        return f"{constraint}, not on this machine"
    return constraint


def _is_made(software: SoftwareManifest) -> bool:
    return software.description is not None and software.description.startswith("Made for ")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def read_all(folders: Iterable[str]) -> Iterator[tuple[str, ModelManifest | str]]:
    """Every manifest of a model, or why it cannot be read; files of other kinds are left out."""
    for each in find_files(folders):
        if not each.explicit and not is_manifest_text(read_bytes(Path(each.name)), each.name):
            continue
        try:
            manifest = open_document(each.name).manifest()
        except ManifestError as error:
            yield each.name, str(error)
            continue
        if isinstance(manifest, ModelManifest):
            yield each.name, manifest


def count(folders: Iterable[str], settings: Settings) -> tuple[Counter[Row], dict[str, str], Counter[str]]:
    """(manifests by row, files that cannot be read, manifests whose framework nobody runs)."""
    resolver = Resolver(settings)
    rows: Counter[Row] = Counter()
    broken: dict[str, str] = {}
    others: Counter[str] = Counter()
    for name, found in read_all(folders):
        if isinstance(found, str):
            broken[name] = found
        elif found.framework is None or framework_word(found.framework) not in PREDICTORS:
            others[found.framework.name if found.framework is not None else "none"] += 1
        else:
            rows[resolver.row(found)] += 1
    return rows, broken, others


def report(rows: Counter[Row], broken: dict[str, str], others: Counter[str]) -> str:
    """The counts for people, largest first within a framework."""
    lines = []
    for row, number in sorted(rows.items(), key=lambda item: (item[0].framework, item[0].version, -item[1])):
        beside = f" + {', '.join(row.libraries)}" if row.libraries else ""
        python = f" (Python {row.python})" if row.python else ""
        lines.append(f"{number:5} {row.framework} {row.version}{beside}: {row.outcome}, {row.detail}{python}")
    supported, total = sum(rows.values()), sum(rows.values()) + len(broken) + sum(others.values())
    outcomes: Counter[str] = Counter()
    for row, number in rows.items():
        outcomes[row.outcome] += number
    got = outcomes["catalog"] + outcomes["made"]
    lines.append(f"{total - len(broken)} of {total} manifests load")
    lines += [f"  {name}: {reason}" for name, reason in broken.items()]
    lines.append(f"{supported} name a framework that a predictor runs")
    lines += [f"  {number} name {name}" for name, number in others.items()]
    if supported:
        parts = f"{outcomes['catalog']} from the catalog, {outcomes['made']} made"
        lines.append(f"{got} get a stack ({got / supported:.1%}; {parts})")
        relaxed = got + outcomes["relaxed"]
        lines.append(f"{relaxed} get one with --relax-framework ({relaxed / supported:.1%})")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    asked = parser.parse_args()
    try:
        rows, broken, others = count(asked.folders, Settings.from_environment())
    except MLModelScopeError as error:
        sys.exit(f"error: {error}")
    print(report(rows, broken, others))
    if asked.json is not None:
        written = [{**asdict(row), "manifests": number} for row, number in rows.items()]
        asked.json.write_text(json.dumps({"rows": written, "broken": broken, "others": others}, indent=2) + "\n")


if __name__ == "__main__":
    main()
