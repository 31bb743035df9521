"""Where files come from, and under which terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.rules.checksums import named_files
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.shown_address import without_secrets

_KINDS = ("model", "dataset")
_BRANCH = r"(?:master|main|develop|development|dev|trunk|head|latest)"
_MOVING = re.compile(
    rf"github\.com/[^/]+/[^/]+/(?:raw|blob|tree|archive)/(?:refs/heads/|{_BRANCH}(?:[/.#]|$))"
    rf"|github\.com/[^/]+/[^/]+/(?:releases/latest/)"
    rf"|raw\.githubusercontent\.com/[^/]+/[^/]+/(?:refs/heads/|{_BRANCH}/)"
    rf"|huggingface\.co/.+/(?:resolve|raw|blob)/{_BRANCH}/"
    rf"|gitlab\.[^/]+/.+/-/raw/{_BRANCH}/"
    rf"|/latest/",
    re.IGNORECASE,
)
_PROOF = ("sha256", "sha384")


@rule("M080", "moving-address", "warning", _KINDS)
def moving_address(subject: Subject) -> Iterator[Finding]:
    """An address points to a branch, so that what it delivers can change.

    `master`, `main` and `latest` are other files tomorrow. With a checksum a changed file is noticed, and the manifest
    is broken; without one it is not even noticed. An information only where there is a sha256.

    Wrong:

        source:
          graph_path: https://huggingface.co/org/model/resolve/main/model.onnx

    Right:

        source:
          graph_path: https://huggingface.co/org/model/resolve/8f2a1c7d3b0e4f5a6c7d8e9f0a1b2c3d4e5f6a7b/model.onnx
    """
    for file in named_files(subject):
        if _MOVING.search(file.reference) and file.reference.lower().startswith(("http:", "https:")):
            proven = (file.checksum or "").startswith(_PROOF)
            yield subject.finding(
                file.path,
                f"the address of {file.what} can change: {without_secrets(file.reference)[:200]}",
                "name a commit or a tag",
                severity="info" if proven else None,
            )


@rule("M081", "plain-http", "warning", _KINDS)
def plain_http(subject: Subject) -> Iterator[Finding]:
    """A file is fetched without encryption.

    Whoever is between the server and the evaluator can put another file in its place, and md5 does not notice. An
    information only where there is a sha256.

    Wrong:

        source:
          graph_path: http://example.org/resnet50.onnx

    Right:

        source:
          graph_path: https://example.org/resnet50.onnx
    """
    for file in named_files(subject):
        if file.reference.lower().startswith("http:"):
            proven = (file.checksum or "").startswith(_PROOF)
            yield subject.finding(
                file.path,
                f"{file.what} is fetched by plain http",
                "write https: where the server has it",
                severity="info" if proven else None,
            )


@rule("M090", "no-license", "warning", _KINDS)
def no_license(subject: Subject) -> Iterator[Finding]:
    """There is no license.

    Without one nobody may use the files, whatever the author meant; an evaluator in a company will not touch them.

    Wrong:

        name: resnet50
        version: 1.0.0

    Right:

        name: resnet50
        version: 1.0.0
        license: Apache-2.0
    """
    assert subject.manifest is not None
    if not (subject.manifest.license or "").strip():
        yield subject.finding(("license",), "there is no license")


@rule("M091", "no-references", "info", _KINDS)
def no_references(subject: Subject) -> Iterator[Finding]:
    """There are no references.

    A paper or page tells an evaluator how the model was made and where its numbers come from.

    Wrong:

        name: resnet50
        version: 1.0.0

    Right:

        name: resnet50
        version: 1.0.0
        references:
          - https://arxiv.org/abs/1512.03385
    """
    assert subject.manifest is not None
    if not subject.manifest.references:
        yield subject.finding((), "there are no references: where does it come from?")
