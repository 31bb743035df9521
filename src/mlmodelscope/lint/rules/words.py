"""Words of an old dialect that were read as something else, kept, or left unclear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mlmodelscope.lint.finding import Edit, Finding
from mlmodelscope.lint.near import only_near
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.dialect import Note
from mlmodelscope.manifest.framework_names import predictor_name
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.manifest.write import spell_text
from mlmodelscope.plugins.predictors import PREDICTORS


@rule("M010", "misspelt-word", "warning")
def misspelt_word(subject: Subject) -> Iterator[Finding]:
    """A misspelt word is read as the right one.

    The original agents ignored a key that they did not know, so a typing error silently changed what was run. Here the
    word is read as the one that was plainly meant, but other programs will not. `--fix` spells it right.

    Wrong:

        output:
          type: classification
          parameters:
            probailities_layer: prob

    Right:

        output:
          type: classification
          parameters:
            probabilities_layer: prob
    """
    for note in _notes(subject, "typo"):
        yield subject.finding_at(note.place, note.message, fix=_spell_right(subject, note))


def _spell_right(subject: Subject, note: Note) -> tuple[Edit, ...]:
    if note.message.startswith("the key"):
        return subject.edit_key(note.place, note.seen, note.read_as)
    for holder, key, _ in subject.entries:
        if holder.places[key] == note.place and holder[key] == note.seen and key in holder.spans:
            return (Edit(*holder.spans[key], spell_text(note.read_as)),)
    return ()


@rule("M011", "unused-key", "info")
def unused_key(subject: Subject) -> Iterator[Finding]:
    """A key of an old dialect means nothing to an evaluation.

    It is kept under `attributes`, so nothing is lost, but whatever its author hoped for does not happen.

    Wrong:

        hidden: true

    Right:

        attributes:
          hidden: true
    """
    for note in _notes(subject, "kept"):
        yield subject.finding_at(note.place, note.message)


@rule("M012", "unclear", "warning")
def unclear(subject: Subject) -> Iterator[Finding]:
    """An old dialect does not say what is meant.

    The reader had to choose, and the choice changes answers. Look whether it is the right one, and write it down:
    `mlmodelscope convert` upgrades the manifest to the current format, which states everything.

    Wrong:

        inputs:
          - type: image
            parameters:
              dimensions: [640, 360, 4]

    Right:

        inputs:
          - type: image
            parameters:
              dimensions: [4, 640, 360]
    """
    for note in _notes(subject, "unclear"):
        if not note.message.endswith("is claimed twice"):  # M102 says it for every dialect
            yield subject.finding_at(note.place, note.message)


@rule("M013", "implied", "info", quiet=True)
def implied(subject: Subject) -> Iterator[Finding]:
    """An old dialect leaves something out that the current format states.

    What the original program did when it was not written is made explicit. Shown with `--verbose` only.

    Wrong:

        inputs:
          - type: image
            parameters: {dimensions: [3, 224, 224]}

    Right:

        inputs:
          - type: image
            parameters: {dimensions: [3, 224, 224], layout: CHW, color_mode: RGB}
    """
    for note in _notes(subject, "implied"):
        yield subject.finding_at(note.place, note.message)


@rule("M014", "unknown-framework", "warning", ("model", "software"))
def unknown_framework(subject: Subject) -> Iterator[Finding]:
    """No predictor runs the framework.

    The manifest can be read, and an evaluation will refuse it. A name that misses a known one by a letter or two is
    fixed by `--fix`. A model whose `run` function does everything by itself may name any framework.

    Wrong:

        framework: {name: onnxruntim, version: ">=1.10"}

    Right:

        framework: {name: onnxruntime, version: ">=1.10"}
    """
    manifest = subject.manifest
    framework = getattr(manifest, "framework", None)
    if framework is None or getattr(manifest, "run", None) is not None:
        return
    if predictor_name(framework.name) in PREDICTORS:
        return
    place, span = subject.locate(("framework", "name"))
    known = tuple(sorted(PREDICTORS))
    meant = only_near(framework.name, known, is_value=True)
    fix = (Edit(*span, spell_text(meant)),) if meant and span else ()
    message = f"there is no predictor for the framework `{framework.name}`"
    found = subject.finding_at(place, message, "framework.name", nearest(framework.name, known), fix)
    yield replace(found, known=known)


def _notes(subject: Subject, kind: str) -> list[Note]:
    return [note for note in subject.document.notes if note.kind == kind] if subject.document else []
