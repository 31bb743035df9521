"""Reproductions whose files are not where their manifest says."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.errors import ManifestError
from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import NOWHERE, Subject
from mlmodelscope.manifest.reproduction_code import beside, code_texts
from mlmodelscope.manifest.schema import ReproductionManifest


@rule("M140", "missing-code", "error", ("reproduction",))
def missing_code(subject: Subject) -> Iterator[Finding]:
    """A file that the reproduction names is not beside its manifest.

    `mlmodelscope reproduce check` reads code, logs, weights and samples from the folder of the manifest.

    Wrong:

        mine: {code: [gone.py]}

    Right:

        mine:
          code:
            - |
              def build(seed):
                  return {}
    """
    manifest = subject.manifest
    if not isinstance(manifest, ReproductionManifest) or subject.folder in (None, NOWHERE):
        return
    for side in ("mine", "original"):
        try:
            code_texts(manifest, side)
        except ManifestError as error:
            yield subject.finding((side, "code"), error.problems[0].message)
    named = {("mine", "log"): manifest.mine.log, ("original", "log"): manifest.original.log}
    named[("original", "weights")] = manifest.original.weights
    files = [*named.items(), *((("samples",), each) for each in manifest.samples)]
    for path, name in files:
        try:
            if name is not None and not beside(manifest, name).is_file():
                yield subject.finding(path, f"there is no file {name} beside the manifest")
        except ManifestError as error:
            yield subject.finding(path, error.problems[0].message)
