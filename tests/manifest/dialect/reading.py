"""What the tests of every dialect ask of a text."""

from typing import Any

from mlmodelscope.manifest.convert import convert_document
from mlmodelscope.manifest.load import Document, parse_document, parse_manifest
from mlmodelscope.manifest.schema import ModelManifest


def model(text: str) -> ModelManifest:
    manifest = parse_manifest(text, "model.yml")
    assert isinstance(manifest, ModelManifest)
    return manifest


def written_steps(document: Document, index: int = 0) -> list[tuple[str, Any]]:
    """The steps of an input as its conversion writes them."""
    return [(name, value) for step in document.data["inputs"][index]["processing"] for name, value in step.items()]


def notes(text: str, kind: str | None = None) -> list[str]:
    return [note.message for note in parse_document(text).notes if kind in (None, note.kind)]


def converted(text: str) -> str:
    """Its conversion, which is today's form, means the same and is converted to itself."""
    document = parse_document(text, "model.yml")
    result = convert_document(document)
    again = parse_document(result, "model.yml")
    assert again.dialect is None and again.kind == document.kind
    assert convert_document(again) == result
    assert again.manifest().digest == document.manifest().digest
    return result
