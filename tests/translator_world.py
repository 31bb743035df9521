"""The graphs of docs/generation.md: a mood of films, and a translator that knows a few words."""

import re
from pathlib import Path

import numpy as np
from onnx import TensorProto

from worker_package.predictor.onnx_models import helper, save, tensor

INT = TensorProto.INT64
PAGE = Path(__file__).parents[1] / "docs" / "generation.md"
MEANS = {0: 1, 1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 7}
"""The German token of each English one."""
GERMAN = 8


def write_page(folder: Path) -> None:
    """Every file of the page, and its graphs."""
    text = PAGE.read_text()
    for name, body in re.findall(r"`([\w.]+)`[^`]*?:\n\n```text\n(.*?)```", text, re.DOTALL):
        (folder / name).write_text(body)
    for name, body in re.findall(r"```yaml\n# (\S+\.yml)\n(.*?)```", text, re.DOTALL):
        (folder / name).write_text(body)
    write_mood(folder)
    write_encoder(folder)
    write_decoder(folder)


def write_mood(folder: Path) -> None:
    """The sum of what the real words say: `good` is worth 1, `bad` -1."""
    table = np.array([[0, 9], [0, 0], [0, 1], [1, 0], [0, 0], [0, 0]], np.float32)
    nodes = [
        helper.make_node("Add", ["input_ids", "token_type_ids"], ["ids"]),
        helper.make_node("Gather", ["table", "ids"], ["found"]),
        helper.make_node("Cast", ["attention_mask"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["real", "last"], ["column"]),
        helper.make_node("Mul", ["found", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "tokens"], ["scores"], keepdims=0),
    ]
    inputs = [tensor(each, ["n", "t"], INT) for each in ("input_ids", "token_type_ids", "attention_mask")]
    made = {"table": table, "last": np.array([2]), "tokens": np.array([1])}
    save(folder, nodes, inputs, [tensor("scores", ["n", 2])], made, "film-mood.onnx")


def write_encoder(folder: Path) -> None:
    """For each English token the scores of German ones."""
    table = np.zeros((len(MEANS), GERMAN), np.float32)
    table[list(MEANS), list(MEANS.values())] = 5
    nodes = [helper.make_node("Gather", ["table", "ids"], ["states"])]
    states = tensor("states", ["n", "t", GERMAN])
    save(folder, nodes, [tensor("ids", ["n", "t"], INT)], [states], {"table": table}, "encoder.onnx")


def write_decoder(folder: Path) -> None:
    """The scores of the English token that stands where the next German one is due; behind the end it is the last."""
    nodes = [
        helper.make_node("Shape", ["said"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["count"]),
        helper.make_node("Shape", ["states"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "one"], ["known"]),
        helper.make_node("Min", ["count", "known"], ["upto"]),
        helper.make_node("Sub", ["upto", "one"], ["place"]),
        helper.make_node("Gather", ["states", "place"], ["scores"], axis=1),
    ]
    inputs = [tensor("said", ["n", "s"], INT), tensor("states", ["n", "t", GERMAN])]
    save(folder, nodes, inputs, [tensor("scores", ["n", GERMAN])], {"one": np.array(1)}, "decoder.onnx")
