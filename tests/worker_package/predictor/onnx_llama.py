"""A Llama as a decoder's graph with past keys and values, as Optimum names them. For Python 3.6."""

from pathlib import Path
from typing import Any, List, Optional, Sequence

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from .llamas import EPSILON, THETA, Llama, halves, write_config

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


class Draft:
    """Nodes and constants of a graph that is being written; each call gives the name of what it makes."""

    def __init__(self) -> None:
        self.nodes = []  # type: List[Any]
        self.constants = []  # type: List[Any]

    def __call__(self, kind: str, *inputs: str, **attributes: Any) -> str:
        made = attributes.pop("made", "n%d" % len(self.nodes))
        self.nodes.append(helper.make_node(kind, list(inputs), [made], name=made, **attributes))
        return str(made)

    def constant(self, value: Any, name: Optional[str] = None) -> str:
        name = name or "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def sizes(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))


def write_onnx(llama: Llama, folder: Path, with_past: bool = True, fills: bool = True) -> Path:
    """A folder with model.onnx, config.json and tokenizer.json. Without `fills` there are no positions to feed, which
    then follow from how much there was before."""
    folder.mkdir(parents=True, exist_ok=True)
    write_config(llama, folder)
    head = llama.dim // llama.heads
    pasts = ["past_key_values.%d.%s" % (layer, kind) for layer in range(llama.layers) for kind in ("key", "value")]
    pasts = pasts if with_past else []
    shape = ["batch", llama.kv_heads, "past", head]
    inputs = [helper.make_tensor_value_info("input_ids", INT, ["batch", "tokens"])]
    inputs += [helper.make_tensor_value_info("attention_mask", INT, ["batch", "total"])]
    if fills:
        inputs.append(helper.make_tensor_value_info("position_ids", INT, ["batch", "tokens"]))
    inputs += [helper.make_tensor_value_info(name, FLOAT, shape) for name in pasts]
    presents = [name.replace("past_key_values", "present") for name in pasts]
    outputs = [helper.make_tensor_value_info("logits", FLOAT, ["batch", "tokens", llama.vocabulary])]
    outputs += [
        helper.make_tensor_value_info(name, FLOAT, ["batch", llama.kv_heads, "total", head]) for name in presents
    ]
    draft = Draft()
    _decoder(draft, llama, pasts, fills)
    graph = helper.make_graph(draft.nodes, "llama", inputs, outputs, draft.constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    save(made, str(folder / "model.onnx"))
    return folder


def _decoder(draft: Draft, llama: Llama, pasts: Sequence[str], fills: bool) -> None:
    w = llama.weights
    table = draft.constant(w["embedding"], "embedding")
    x = draft("Gather", table, "input_ids")
    zero, one = draft.constant(np.array(0, np.int64)), draft.constant(np.array(1, np.int64))
    new = draft("Gather", draft("Shape", "input_ids"), one)
    total = draft("Gather", draft("Shape", "attention_mask"), one)
    before = draft("Sub", total, new)
    places = draft("Range", before, total, one)
    mask = _mask(draft, places, draft("Range", zero, total, one))
    positions = "position_ids" if fills else draft("Unsqueeze", places, draft.sizes(0))
    turns = _turns(draft, llama, positions)
    for layer in range(llama.layers):
        past = pasts[2 * layer : 2 * layer + 2]
        normal = _normalized(draft, x, w["attention_norm"][layer])
        x = draft("Add", x, _attention(draft, llama, layer, normal, mask, turns, past))
        normal = _normalized(draft, x, w["ffn_norm"][layer])
        gate = _times(draft, normal, w["w1"][layer])
        gate = draft("Mul", gate, draft("Sigmoid", gate))
        x = draft("Add", x, _times(draft, draft("Mul", gate, _times(draft, normal, w["w3"][layer])), w["w2"][layer]))
    _times(draft, _normalized(draft, x, w["norm"]), w["embedding"], made="logits")


def _mask(draft: Draft, rows: str, columns: str) -> str:
    """What is added to the scores of attention: rows x 1 x tokens x total."""
    later = draft("Greater", draft("Unsqueeze", columns, draft.sizes(0)), draft("Unsqueeze", rows, draft.sizes(1)))
    absent = draft("Equal", draft("Unsqueeze", "attention_mask", draft.sizes(1, 2)), draft.sizes(0))
    hidden = draft("Or", later, absent)
    return draft("Where", hidden, draft.constant(np.float32(-1e9)), draft.constant(np.float32(0)))


def _turns(draft: Draft, llama: Llama, positions: str) -> List[str]:
    """Cosines and sines of the positions: rows x 1 x tokens x size of a head."""
    head = llama.dim // llama.heads
    angles = np.outer(np.arange(llama.length), THETA ** (-np.arange(0, head, 2, dtype=np.float64) / head))
    angles = np.concatenate([angles, angles], axis=1)
    found = []
    for function in (np.cos, np.sin):
        chosen = draft("Gather", draft.constant(function(angles).astype(np.float32)), positions)
        found.append(draft("Unsqueeze", chosen, draft.sizes(1)))
    return found


def _normalized(draft: Draft, x: str, weight: np.ndarray) -> str:
    mean = draft("ReduceMean", draft("Mul", x, x), axes=[-1])
    scale = draft("Sqrt", draft("Add", mean, draft.constant(np.float32(EPSILON))))
    return draft("Mul", draft("Div", x, scale), draft.constant(weight))


def _times(draft: Draft, x: str, weight: np.ndarray, **made: str) -> str:
    return draft("MatMul", x, draft.constant(weight.T), **made)


def _attention(
    draft: Draft, llama: Llama, layer: int, x: str, mask: str, turns: Sequence[str], past: Sequence[str]
) -> str:
    w, head = llama.weights, llama.dim // llama.heads

    def heads_of(weight: np.ndarray, count: int) -> str:
        cut = draft("Reshape", _times(draft, x, weight), draft.sizes(0, 0, count, head))
        return draft("Transpose", cut, perm=[0, 2, 1, 3])

    query = _turned(draft, heads_of(halves(w["wq"][layer], llama.heads), llama.heads), turns, head)
    key = _turned(draft, heads_of(halves(w["wk"][layer], llama.kv_heads), llama.kv_heads), turns, head)
    value = heads_of(w["wv"][layer], llama.kv_heads)
    if past:
        key = draft("Concat", past[0], key, axis=2, made="present.%d.key" % layer)
        value = draft("Concat", past[1], value, axis=2, made="present.%d.value" % layer)
    key, value = (_repeated(draft, each, llama) for each in (key, value))
    scores = draft("MatMul", query, draft("Transpose", key, perm=[0, 1, 3, 2]))
    scores = draft("Add", draft("Mul", scores, draft.constant(np.float32(head**-0.5))), mask)
    mixed = draft("Transpose", draft("MatMul", draft("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
    return _times(draft, draft("Reshape", mixed, draft.sizes(0, 0, llama.dim)), w["wo"][layer])


def _turned(draft: Draft, x: str, turns: Sequence[str], head: int) -> str:
    half, axis = head // 2, draft.sizes(3)
    first = draft("Slice", x, draft.sizes(0), draft.sizes(half), axis)
    second = draft("Slice", x, draft.sizes(half), draft.sizes(head), axis)
    other = draft("Concat", draft("Neg", second), first, axis=-1)
    return draft("Add", draft("Mul", x, turns[0]), draft("Mul", other, turns[1]))


def _repeated(draft: Draft, x: str, llama: Llama) -> str:
    """Each head of keys or values for all heads of queries that share it."""
    times = llama.heads // llama.kv_heads
    if times == 1:
        return x
    places = np.repeat(np.arange(llama.kv_heads), times)
    return draft("Gather", x, draft.constant(places.astype(np.int64)), axis=1)
