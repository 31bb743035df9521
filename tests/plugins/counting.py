"""Toy squares and the manifests of a model that counts them: what the tests of a stranger's task share."""

import json
from pathlib import Path

SIDE, CELL, SAMPLES = 12, 4, 64
BRIGHT, FADED, HALF = 255, 204, 153
"""A square, a spot with four fifths of its light, and one with three fifths."""

MODEL = """
name: {name}
version: 1.0.0
task: toy_counting
license: MIT
framework: {{name: toylinear}}
inputs: [{{type: image, processing: {{rescale: 255, layout: NCHW}}}}]
outputs: [{{type: count}}]
answer: [{{toy_whole: {how}}}]
source: {{graph_path: linear.json}}
claims: [{claims}]
"""
DATASET = """
name: squares
version: 1.0.0
task: toy_counting
license: MIT
format: toysquares
size: 64
sources: [{url: squares.toy}]
"""
CLAIMS = (
    "{metric: toy-mae, value: 0.1250, unit: number, better: lower, dataset: squares}, "
    "{metric: toy-count-exact, value: 87.5, unit: percent, dataset: squares}"
)


def picture_of(sample: int) -> tuple[int, list[int]]:
    """(how many squares there are, the light of nine cells).

    Of eight pictures four have a faded spot that does not count, one has a faded spot that does, and one has a square
    in two parts. To take the nearest whole number is wrong in four of eight, the one below in one of eight.
    """
    bright, spots = sample % 4, {1: (1, [HALF, HALF]), 3: (1, [FADED])}
    more, cells = (0, [FADED]) if sample % 2 == 0 else spots.get(sample % 8, (0, []))
    cells = [BRIGHT] * bright + cells
    return bright + more, cells + [0] * (9 - len(cells))


def squares() -> bytes:
    content = bytearray(b"TOYSQUARES" + bytes([SIDE, SIDE]))
    for sample in range(SAMPLES):
        count, cells = picture_of(sample)
        content += bytes([count, *(cells[3 * (y // CELL) + x // CELL] for y in range(SIDE) for x in range(SIDE))])
    return bytes(content)


def lay_out(folder: Path) -> Path:
    """A model that adds light up, with a manifest that rounds as its claims do and one that does not, and squares."""
    weights = [[1 / CELL**2]] * SIDE**2
    (folder / "linear.json").write_text(json.dumps({"shape": [1, SIDE, SIDE], "weights": weights}))
    (folder / "squares.toy").write_bytes(squares())
    (folder / "squares.yml").write_text(DATASET)
    for name, how in (("right", "down"), ("wrong", "nearest")):
        (folder / f"{name}.yml").write_text(MODEL.format(name=name, how=how, claims=CLAIMS))
    return folder
