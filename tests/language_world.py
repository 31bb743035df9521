"""Small language models that only count, and what they are asked: no framework, and the same answer everywhere."""

import collections
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mlmodelscope.manifest.load import load_manifest

_DISCOUNT = 0.5
SPECIAL = ("<s>", "</s>", "<unk>")


def pieces_of(text: str, longer: Sequence[str] = ()) -> list[str]:
    """A text in characters, and in longer pieces where they fit: as `unit: pieces` cuts it."""
    found, place = [], 0
    while place < len(text):
        piece = next((each for each in sorted(longer, key=len, reverse=True) if text.startswith(each, place)), None)
        found.append(piece or text[place])
        place += len(found[-1])
    return found


def _escaped(piece: str) -> str:
    return piece.replace("\n", "\\n").replace("\t", "\\t").replace(" ", "▁")


def write_arpa(path: Path, lines: Iterable[Sequence[str]], order: int = 3, more: Iterable[str] = (" ",)) -> Path:
    """N-grams of lines of tokens, discounted and interpolated; `more` are tokens that there are, too."""
    counts: dict[tuple[str, ...], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for line in lines:
        tokens = ["<s>", *map(_escaped, line), "</s>"]
        for at in range(1, len(tokens)):
            for size in range(min(order, at + 1)):
                counts[tuple(tokens[at - size : at])][tokens[at]] += 1
    words = [*SPECIAL, *sorted({*counts[()], *map(_escaped, more)} - {*SPECIAL})]
    weights = {history: _DISCOUNT * len(some) / sum(some.values()) for history, some in counts.items()}

    def share(history: tuple[str, ...], word: str) -> float:
        if not history:
            least = weights[()] / (len(words) - 1)
            return max(0.0, counts[()][word] - _DISCOUNT) / sum(counts[()].values()) + least
        shorter = share(history[1:], word)
        if history not in counts:
            return shorter
        some = counts[history]
        return max(0.0, some[word] - _DISCOUNT) / sum(some.values()) + weights[history] * shorter

    grams: list[list[tuple[str, ...]]] = [[(word,) for word in words]]
    grams += [
        [(*history, word) for history in sorted(counts) if len(history) == size for word in sorted(counts[history])]
        for size in range(1, order)
    ]
    out = ["\\data\\", *(f"ngram {size}={len(some)}" for size, some in enumerate(grams, 1)), ""]
    for size, some in enumerate(grams, 1):
        out.append(f"\\{size}-grams:")
        for gram in some:
            log = -99.0 if gram == ("<s>",) else math.log10(share(gram[:-1], gram[-1]))
            weight = f"\t{math.log10(weights[gram]):.12f}" if gram in weights and size < order else ""
            out.append(f"{log:.12f}\t{' '.join(gram)}{weight}")
        out.append("")
    path.write_text("\n".join([*out, "\\end\\", ""]), encoding="utf-8")
    return path


def write_documents(path: Path, documents: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    return path


def model_of(graph: Path, encode: dict[str, Any] | None = None, **changes: Any) -> Any:
    """The manifest of a model that counts pieces."""
    data = {
        "name": graph.stem,
        "version": "1.0.0",
        "task": "language_model",
        "framework": {"name": "ngram"},
        "inputs": [{"type": "prompt", "processing": {"encode_prompt": encode or {}}}],
        "source": {"graph_path": str(graph)},
        **changes,
    }
    return load_manifest(data)


def dataset_of(
    documents: Path, task: str, prompt: dict[str, Any], ask: dict[str, Any] | None = None, **more: Any
) -> Any:
    """The manifest of documents and what is asked about each."""
    data = {
        "name": documents.stem,
        "version": "1.0.0",
        "task": task,
        "format": "documents",
        "sources": [{"url": str(documents)}],
        "prompt": prompt,
        **({"ask": ask} if ask else {}),
        **more,
    }
    return load_manifest(data)
