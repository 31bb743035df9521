"""Decoders small enough to make on the spot, and what they say in plain numpy."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from worker_package.predictor.onnx_models import save, tensor

SIZE, WIDTH = 5, 3
START, STOP = 0, 1
INT = TensorProto.INT64
PLAIN: dict[str, Any] = {
    "graph": None,
    "feeds": {"said": "tokens", "states": "outputs.states"},
    "past": {},
    "kept": (),
    "scores": None,
    "start": (START,),
    "stop": (STOP,),
    "never": (),
    "longest": 6,
    "per_second": None,
    "plus": 0,
    "beams": 1,
    "length_penalty": 1.0,
}


def weights(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "table": random.normal(size=(SIZE, WIDTH)).astype(np.float32),
        "head": random.normal(size=(WIDTH, SIZE)).astype(np.float32),
    }


def encoder(folder: Path, seed: int = 0, rows: Any = "rows", name: str = "encoder.onnx") -> Path:
    """The sum of its tokens' vectors: rows x 1 x width. That of token 0 is zero, so that filling up says nothing."""
    table = np.random.default_rng(100 + seed).normal(size=(SIZE + 4, WIDTH)).astype(np.float32)
    table[0] = 0
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["found"]),
        helper.make_node("ReduceSum", ["found", "axis"], ["states"], keepdims=1),
    ]
    states = tensor("states", [rows, 1, WIDTH])
    made = {"table": table, "axis": np.array([1])}
    return Path(save(folder, nodes, [tensor("ids", [rows, "tokens"], INT)], [states], made, name)["graph"])


def decoder(folder: Path, seed: int = 0, sign: float = 1.0, name: str = "decoder.onnx") -> Path:
    """Scores of the next token of everything said so far and of the encoder's states; it is told all tokens."""
    nodes = [
        helper.make_node("Gather", ["table", "said"], ["found"]),
        helper.make_node("CumSum", ["found", "first"], ["sums"]),
        helper.make_node("Add", ["sums", "states"], ["joined"]),
        helper.make_node("Sin", ["joined"], ["bent"]),
        helper.make_node("MatMul", ["bent", "head"], ["raw"]),
        helper.make_node("Mul", ["raw", "sign"], ["scores"]),
    ]
    inputs = [tensor("said", ["rows", "tokens"], INT), tensor("states", ["rows", 1, WIDTH])]
    made = {**weights(seed), "first": np.array(1), "sign": np.float32(sign)}
    return Path(save(folder, nodes, inputs, [tensor("scores", ["rows", "tokens", SIZE])], made, name)["graph"])


def cached_decoder(folder: Path, seed: int = 0, name: str = "cached.onnx") -> Path:
    """The same, told the newest token alone: what came before it is its past. It also asks whether there is one, which
    place the tokens have, how many there are, and takes the encoder's states as a past that it makes only once."""
    nodes = [
        helper.make_node("Gather", ["table", "newest"], ["found"]),
        helper.make_node("Concat", ["past.own", "found"], ["present.own"], axis=1),
        helper.make_node("ReduceSum", ["present.own", "axis"], ["sums"], keepdims=1),
        # What is made of the states is of use at the first call alone: later on it is full of zeros.
        helper.make_node("Cast", ["is_cached"], ["later"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "later"], ["now"]),
        helper.make_node("Mul", ["states", "now"], ["present.encoder"]),
        helper.make_node("ReduceSum", ["past.encoder", "axis"], ["remembered"], keepdims=1),
        helper.make_node("Add", ["present.encoder", "remembered"], ["context"]),
        helper.make_node("Add", ["sums", "context"], ["joined"]),
        helper.make_node("Sin", ["joined"], ["bent"]),
        helper.make_node("MatMul", ["bent", "head"], ["wide"]),
        helper.make_node("Squeeze", ["wide", "axis"], ["raw"]),
        # Zero times the sum of mask and places: they must only have the sizes that they should.
        helper.make_node("Cast", ["mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["place"], ["where"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["seen", "axis"], ["count"], keepdims=1),
        helper.make_node("ReduceMax", ["where"], ["last"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["count", "last"], ["apart"]),
        helper.make_node("Sub", ["apart", "one"], ["wrong"]),
        helper.make_node("Add", ["raw", "wrong"], ["scores"]),
    ]
    inputs = [
        tensor("newest", ["rows", "new"], INT),
        tensor("mask", ["rows", "all"], INT),
        tensor("place", ["rows", "new"], INT),
        tensor("is_cached", [1], TensorProto.BOOL),
        tensor("states", ["rows", 1, WIDTH]),
        tensor("past.own", ["rows", "before", WIDTH]),
        tensor("past.encoder", ["rows", "known", WIDTH]),
    ]
    outputs = [
        tensor("scores", ["rows", SIZE]),
        tensor("present.own", ["rows", "all", WIDTH]),
        tensor("present.encoder", ["rows", 1, WIDTH]),
    ]
    made = {**weights(seed), "axis": np.array([1]), "one": np.float32(1)}
    return Path(save(folder, nodes, inputs, outputs, made, name)["graph"])


CACHED: dict[str, Any] = {
    **PLAIN,
    "feeds": {
        "newest": "last",
        "mask": "mask",
        "place": "positions",
        "is_cached": "is_cached",
        "states": "outputs.states",
    },
    "past": {"past.": "present."},
    "kept": ("encoder",),
    "scores": "scores",
}


def next_scores(seed: int, said: list[int], states: np.ndarray, sign: float = 1.0) -> np.ndarray:
    made = weights(seed)
    joined = made["table"][said].sum(axis=0) + states.reshape(-1)
    return (np.sin(joined) @ made["head"]).astype(np.float64) * sign


def greedy(seed: int, states: np.ndarray, longest: int, never: tuple[int, ...] = (), sign: float = 1.0) -> list[int]:
    """The plain loop."""
    said = [START]
    while len(said) <= longest:
        scores = next_scores(seed, said, states, sign)
        scores[list(never)] = -np.inf
        said.append(int(np.argmax(scores)))
        if said[-1] == STOP:
            return said[1:-1]
    return said[1:]


def exhaustive(seed: int, states: np.ndarray, longest: int, penalty: float) -> list[int]:
    """The best of all texts: those that stop, and those that are cut where no more tokens are allowed."""
    best: tuple[float, list[int]] = (-math.inf, [])
    for count in range(longest + 1):
        for words in itertools.product([each for each in range(SIZE) if each != STOP], repeat=count):
            said, total = [START], 0.0
            for token in [*words, STOP][:longest]:
                scores = next_scores(seed, said, states)
                total += float(scores[token] - np.log(np.exp(scores).sum()))
                said.append(token)
            score = total / (len(said) - 1) ** penalty
            if score > best[0]:
                best = (score, list(words))
    return best[1]
