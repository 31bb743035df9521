"""Models without a framework that take texts and rows, and datasets for them: files as people write them."""

import json
from pathlib import Path

TEXT_MODEL = """\
name: reader
version: 1.0.0
task: {task}
framework: {{name: fake}}
files: {{words: {{url: {vocabulary}}}}}
inputs:
  - type: text
    element_type: int64
    processing:
      tokenize: {{file: words, library: wordpiece, pair: together}}
      truncate: 8
      pad_tokens: {{length: 8}}
      take: ids
outputs: [{{type: {output}}}]
source: {{graph_path: {graph}}}
"""
TEXT_DATASET = """\
name: pairs
version: 1.0.0
task: text_similarity
format: table
sources: [{{url: {table}}}]
columns: {{text: one, text_pair: two, target: alike}}
"""
ROW_MODEL = """\
name: rows
version: 1.0.0
task: regression
framework: {{name: fake}}
inputs: [{{type: columns, element_type: float32, processing: {{columns: [x]}}}}]
outputs: [{{type: number}}]
source: {{graph_path: {graph}}}
"""
ROW_DATASET = """\
name: table
version: 1.0.0
task: regression
format: table
sources: [{{url: {table}}}]
columns: {{features: [x], target: y}}
"""
WORDS = ["[PAD]", "[UNK]", "a", "cat", "dog", "sits", "runs"]


def write_text_model(folder: Path, task: str = "text_similarity") -> Path:
    """A model that has an answer to a text and its pair: a number, or one of three classes."""
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    graph, output = folder / "reader.json", "logits" if task == "classification" else "number"
    classes = 3 if task == "classification" else 1
    graph.write_text(json.dumps({"shape": [None, 8], "element_type": "int64", "classes": classes}))
    path = folder / "reader.yml"
    path.write_text(TEXT_MODEL.format(task=task, vocabulary=folder / "words.txt", graph=graph, output=output))
    return path


def write_row_model(folder: Path) -> Path:
    """A model that answers with the column `x`."""
    graph, path = folder / "rows.json", folder / "rows.yml"
    graph.write_text(json.dumps({"shape": [None, 1], "echo": True}))
    path.write_text(ROW_MODEL.format(graph=graph))
    return path


def write_pairs(folder: Path, pairs: list[tuple[str, str, float]]) -> Path:
    """A dataset of two texts and how alike they are."""
    table, path = folder / "pairs.jsonl", folder / "pairs.yml"
    rows = [{"one": one, "two": two, "alike": alike} for one, two, alike in pairs]
    table.write_text("\n".join(map(json.dumps, rows)))
    path.write_text(TEXT_DATASET.format(table=table))
    return path


def write_table(folder: Path, rows: list[tuple[float, float]]) -> Path:
    """A dataset of `x`, which the model answers with, and `y`, which is true."""
    table, path = folder / "table.csv", folder / "table.yml"
    table.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    path.write_text(ROW_DATASET.format(table=table))
    return path
