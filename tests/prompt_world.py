"""Language models and questions as people write them, for tests of what is seen of them: manifests in a folder.

A model that counts letters needs no framework. Documents hold what strangers write: markup, control characters, text
that turns around what stands behind it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

import language_world

EVIL = "<img src=x onerror=alert(1)>"
ODD = "a\u202eb \x07"
LINES = ["the cat sat on the mat\n", "the dog sat on the rug\n", "a cat ran to the dog\n", f"{EVIL} {ODD}\n"]
QUESTIONS = [
    {"q": "the cat sat on", "a": ["the mat", "mat the"], "label": 0},
    {"q": f"{EVIL} {ODD}", "a": [EVIL, f"the {ODD}"], "label": 1},
]
SUMS = [{"q": "the cat", "sum": "sat"}, {"q": EVIL, "sum": ODD}]
TEXTS = [{"text": "the cat sat"}, {"text": f"{EVIL} {ODD}"}]
CALLS: dict[str, dict[str, Any]] = {
    "multiple_choice": {"prompt": {"question": "{{q}}", "choices": ["a"], "answer": "label"}},
    "language_modeling": {"prompt": {"answer": "text"}},
    "text_generation": {
        "prompt": {"question": "{{q}}", "answer": "sum", "delimiter": ""},
        "ask": {"longest": 12},
        "measure": {"extract": [{"regex": "[a-z]+"}]},
    },
}
_DOCUMENTS: dict[str, list[dict[str, Any]]] = {
    "multiple_choice": QUESTIONS,
    "language_modeling": TEXTS,
    "text_generation": SUMS,
}


def write_model(folder: Path, name: str = "letters", write: Any = None, **encode: Any) -> Path:
    """With `write` the manifest says itself how texts are written; a text that no token ends is long."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [language_world.pieces_of(each) for each in LINES]
    graph = language_world.write_arpa(folder / f"{name}.arpa", lines)
    processing = {"encode_prompt": {"start": 0, **encode}, **({"write": write} if write else {})}
    model = {
        "name": name,
        "version": "1.0.0",
        "task": "language_model",
        "framework": {"name": "ngram"},
        "inputs": [{"type": "prompt", "processing": processing}],
        "source": {"graph_path": graph.name},
    }
    return _written(folder / f"{name}.yml", model)


def write_dataset(folder: Path, task: str, name: str = "", **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    name = name or task.replace("_", "-")
    language_world.write_documents(folder / f"{name}.jsonl", _DOCUMENTS[task])
    about = {"name": name, "version": "1.0.0", "task": task, "format": "documents"}
    return _written(folder / f"{name}.yml", {**about, "sources": [{"url": f"{name}.jsonl"}], **CALLS[task], **changes})


def _written(path: Path, manifest: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(manifest, sort_keys=False))
    return path
